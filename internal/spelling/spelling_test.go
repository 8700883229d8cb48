package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"primary_key", "source", "columns", "cluster_by", "id"}
	for word, want := range map[string]string{
		"primarykey": "primary_key", "primaryKey": "primary_key", "primary-key": "primary_key", "primery_kei": "primary_key",
		"sorce": "source", "column": "columns", "sources": "source", "ide": "", "at": "", "": "", "partition_by": "", "xyz": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
