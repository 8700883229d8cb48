package arguments

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"":                  "  ",
		"-f x a":            "x a ",
		"a -f x":            "x a ",
		"a -f x b -v c":     "x a b c true",
		"a -f=x -- -v b":    "x a -v b ",
		"-v a":              " a true",
		"a -":               " a - ",
		"a -g x":            "!there is no flag -g",
		"a -f":              "!flag needs an argument: -f",
		"a -h":              "!flag: help requested",
		"-f x -v -- a -f y": "x a -f y true",
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		f, v := flags.String("f", "", ""), flags.Bool("v", false, "")
		others, err := Parse(flags, strings.Fields(line))
		got := *f + " " + strings.Join(others, " ") + " "
		if *v {
			got += "true"
		}
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}
