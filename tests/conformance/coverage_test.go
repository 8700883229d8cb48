package conformance

import (
	"os"
	"strings"
	"testing"
)

// sentence is one of testdata/sentences.txt.
type sentence struct {
	source, text string
	noCase       string // why no case cites it
}

func sentences(t *testing.T) []sentence {
	t.Helper()
	data, err := os.ReadFile("testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []sentence
	source := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		title, isTitle := strings.CutPrefix(line, "== ")
		reason, isReason := strings.CutPrefix(line, "\tno case: ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isTitle:
			source = title
		case isReason && len(all) > 0:
			all[len(all)-1].noCase = reason
		default:
			all = append(all, sentence{source: source, text: line})
		}
	}
	return all
}

// Each sentence has a case or a reason, and each case cites sentences that are there.
// -v lists them with their cases.
func TestCoverage(t *testing.T) {
	citing := map[string][]string{}
	for _, c := range cases {
		if len(c.cites) == 0 {
			t.Errorf("case %q cites nothing", c.name)
		}
		for _, text := range c.cites {
			citing[text] = append(citing[text], c.name)
		}
	}
	covered := 0
	all := sentences(t)
	for _, s := range all {
		names := citing[s.text]
		switch {
		case len(names) == 0 && s.noCase == "":
			t.Errorf("no case cites a sentence of %q: %s", s.source, s.text)
		case len(names) > 0 && s.noCase != "":
			t.Errorf("%q has a case and a reason to have none: %s", s.text, s.noCase)
		case len(names) > 0:
			covered++
			t.Logf("%s: %s\n  %s", s.source, s.text, strings.Join(names, "\n  "))
		default:
			t.Logf("%s: %s\n  no case: %s", s.source, s.text, s.noCase)
		}
		delete(citing, s.text)
	}
	for text, names := range citing {
		t.Errorf("cases %q cite what testdata/sentences.txt lacks: %s", names, text)
	}
	t.Logf("%d of %d sentences have a case", covered, len(all))
}
