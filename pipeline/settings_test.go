package pipeline

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	flags, keys := make(map[string]bool), make(map[string]bool)
	for _, s := range Settings() {
		if !name.MatchString(s.Flag) || flags[s.Flag] || keys[s.Key] || s.Help == "" || s.Kind == "" {
			t.Errorf("setting %+v", s)
		}
		flags[s.Flag], keys[s.Key] = true, true
		if strings.HasPrefix(s.Flag, "no_") {
			t.Errorf("flag %s is named after what it is not", s.Flag)
		}
		if s.Default == "" {
			continue
		}
		var o Options
		if err := o.Set(s.Flag, s.Default); err != nil {
			t.Errorf("the default of %s can't be set: %v", s.Flag, err)
		}
	}
}

// Every scalar of the file is a setting, so that a flag can override it.
func TestSettings_coverTheFile(t *testing.T) {
	for _, s := range Settings() {
		value := s.Default
		switch {
		case s.Kind == "text":
			value = `"` + value + `x"`
		case value == "": // it depends on others
			value = map[string]string{"duration": "1m", "number": "1", "true or false": "true"}[s.Kind]
		}
		text := s.Key + ": " + value
		if section, key, nested := strings.Cut(s.Key, "."); nested {
			text = section + ": {" + key + ": " + value + "}"
		}
		o := Parse("setting.yaml", []byte(text))
		if len(o.findings) > 0 || !o.isSet(s.Key) {
			t.Errorf("%s: %v", text, o.findings)
		}
	}
}

// README's table of the configuration has a rule's words, those that this version does.
func TestREADME_words(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range RuleWords() {
		_, line, found := strings.Cut(string(readme), "| `tables[]."+w.Key+"` |")
		line, _, _ = strings.Cut(line, "\n")
		if found != (len(w.Done) > 1) {
			t.Errorf("%s has a line: %v, and it does %v", w.Key, found, w.Done)
			continue
		}
		for _, word := range w.Words {
			if found && strings.Contains(line, "`"+word) != slices.Contains(w.Done, word) {
				t.Errorf("%s: the line has %q, or lacks it:%s", w.Key, word, line)
			}
		}
	}
}

func TestSet(t *testing.T) {
	o := Parse("test.yaml", []byte("source: {subscription: [1], epoch: 3}\nwindow: soon\n"))
	for name, value := range map[string]string{"subscription": "changes", "window": "3s", "source.epoch": "18446744073709551615"} {
		if err := o.Set(name, value); err != nil {
			t.Error(err)
		}
	}
	if o.Source.Subscription != "changes" || o.Window != 3*time.Second || o.Source.Epoch != 1<<64-1 {
		t.Errorf("options %+v", o)
	}
	text := o.Validate().Error()
	if !strings.Contains(text, `--subscription: subscription "changes": it must read`) || strings.Contains(text, "window") {
		t.Errorf("findings do not name the flag, or what it overrode:\n%s", text)
	}
	for name, value := range map[string]string{
		"no_such_flag": "x", "epoch": "-1", "window": "5", "create_tables": "yes", "max_outstanding_messages": "9223372036854775808", "retry_for": "",
	} {
		before := o.Window
		if err := o.Set(name, value); err == nil || o.Window != before {
			t.Errorf("--%s=%s is taken", name, value)
		}
	}
}
