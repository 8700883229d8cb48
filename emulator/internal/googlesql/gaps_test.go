package googlesql

import (
	"os"
	"regexp"
	"testing"
)

// What isn't here is in the list of gaps, and what is in the list isn't here.
func TestGaps(t *testing.T) {
	text, err := os.ReadFile("../../GAPS.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := set(regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`).FindAllString(string(text), -1)...)
	for name := range unsupported {
		if !listed[name] && name != "APPENDS" && name != "CHANGES" {
			t.Errorf("GAPS.md lacks %s", name)
		}
		if signatures()[name] != nil || specialFunctions[name] != nil {
			t.Errorf("%s is there and refused", name)
		}
	}
}
