package spelling

import (
	"errors"
	"flag"
	"io"
	"testing"
)

func TestFlag(t *testing.T) {
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.String("messages", "", "")
	flags.Int("wait", 0, "")
	for arg, want := range map[string]string{
		"-mesages":   "there is no flag -mesages; did you mean -messages?",
		"--mesages=": "there is no flag -mesages; did you mean -messages?",
		"-frobnify":  "there is no flag -frobnify",
		"-wait=x":    `invalid value "x" for flag -wait: parse error`,
	} {
		if err := Flag(flags, flags.Parse([]string{arg})); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
	if err := Flag(flags, flags.Parse([]string{"-h"})); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: %v", err)
	}
	if err := Flag(flags, flags.Parse(nil)); err != nil {
		t.Error(err)
	}
}
