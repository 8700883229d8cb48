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
		"truncates: recreate":                                   "",
		"truncates: recreate, deletes: soft":                    "test.yaml:2: tables[0].truncates: recreate removes the rows",
		"truncates: recreate, unavailable_values: fill":         "test.yaml:2: tables[0].truncates: recreate writes to one table after the other",
		"truncates: recreate, unknown_columns: add":             "test.yaml:2: tables[0].truncates: recreate has a view",
		"truncates: recreate, primary_key: [Beamcdc_Deleted]":   "test.yaml:2: tables[0].truncates: recreate has a column beamcdc_deleted of its own",
		"truncates: delete_keys, sequence: \"[data.ts, part]\"": "",
		"truncates: recreate, destination: \"c.{table}\"":       "test.yaml:2: tables[0].truncates: recreate takes a destination without",
	} {
		destination := "destination: c.d, "
		if strings.Contains(setting, "destination:") {
			destination = ""
		}
		o := Parse("test.yaml", []byte("source: {subscription: projects/p/subscriptions/s}\ntables: [{source: a.b, "+destination+setting+"}]\ndead_letters: {topic: projects/p/topics/t}\n"))
		got := ""
		if err := o.Validate(); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", setting, got, want)
		}
	}
}
