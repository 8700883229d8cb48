package pipeline

import (
	"strings"
	"testing"
)

// How long a window may be depends on who acks: our own source extends ack deadlines
// for half an hour, and Dataflow acks what is in its state.
func TestValidate_window(t *testing.T) {
	for _, tt := range []struct {
		window string
		set    func(*Options)
		wrong  bool
	}{
		{"15m", func(*Options) {}, false},
		{"16m", func(*Options) {}, true},
		{"3h", func(o *Options) { o.RunnerOwnsSource = true }, false},
		{"3h", func(o *Options) { o.AnyRunner = true }, false},
		{"0s", func(o *Options) { o.AnyRunner = true }, true},
	} {
		o := Parse("window.yaml", []byte("source: {subscription: projects/demo/subscriptions/s}\nwindow: "+tt.window+
			"\ntables: [{source: a.b, destination: c.d}]\ndead_letters: {topic: projects/demo/topics/t}\n"))
		tt.set(&o)
		switch err := o.Validate(); {
		case tt.wrong && (err == nil || !strings.Contains(err.Error(), "window.yaml:2: window: ")):
			t.Errorf("%s: %v", tt.window, err)
		case !tt.wrong && err != nil:
			t.Errorf("%s: %v", tt.window, err)
		}
	}
}
