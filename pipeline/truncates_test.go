package pipeline

import (
	"strings"
	"testing"
)

func TestValidate_truncates(t *testing.T) {
	for setting, want := range map[string]string{
		"truncates: delete_keys":                                "",
		"truncates: delete_keys, missing_positions: arrival":    "",
		"truncates: delete_keys, unavailable_values: fill":      "",
		"truncates: delete_keys, deletes: soft":                 "test.yaml:2: tables[0].truncates: delete_keys removes the rows",
		"truncates: recreate":                                   "test.yaml:2: tables[0].truncates: recreate is not supported yet",
		"truncates: delete_keys, sequence: \"[data.ts, part]\"": "",
	} {
		o := Parse("test.yaml", []byte("source: {subscription: projects/p/subscriptions/s}\ntables: [{source: a.b, destination: c.d, "+setting+"}]\ndead_letters: {topic: projects/p/topics/t}\n"))
		got := ""
		if err := o.Validate(); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", setting, got, want)
		}
	}
}
