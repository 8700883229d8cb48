// Package operations holds what watches a pipeline that runs: queries of BigQuery's
// INFORMATION_SCHEMA, a dashboard and alert policies for Cloud Monitoring. `cdc status`
// runs the queries that are here, and README.md tells how to run them by hand.
package operations

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// The queries. What stands for a value is a named parameter, such as @days; what
// stands for a part of a name, which GoogleSQL takes no parameter for, is written as a
// shell and envsubst write it: ${PROJECT}, ${REGION}, ${DATASET}.
//
//go:embed *.sql
var files embed.FS

// The queries' names.
const (
	Watermark     = "watermark"
	PendingRows   = "pending_rows"
	ApplyDuration = "apply_duration"
	ApplyErrors   = "apply_errors"
	ApplySlots    = "apply_slots"
	WriteErrors   = "write_errors"
	WriteTimeline = "write_timeline"
	WriteBaseline = "write_baseline"
)

// Place is what a query is about.
type Place struct {
	Project string
	Region  string // of the dataset, such as "EU" or "europe-west1"; "" is BigQuery's default, "US"
	Dataset string
}

// Query returns the text of a query about a place. It fails on a place that can't be
// one: nothing but a name's characters gets into the text.
func Query(name string, of Place) (string, error) {
	text, err := files.ReadFile(name + ".sql")
	if err != nil {
		return "", fmt.Errorf("there is no query %q", name)
	}
	if of.Region == "" {
		of.Region = "us"
	}
	for _, part := range []struct{ what, text string }{{"project", of.Project}, {"region", of.Region}, {"dataset", of.Dataset}} {
		if part.text == "" || strings.ContainsFunc(part.text, func(r rune) bool { return !inName(r) }) {
			return "", fmt.Errorf("%q can't be the name of a %s", part.text, part.what)
		}
	}
	return strings.NewReplacer("${PROJECT}", of.Project, "${REGION}", strings.ToLower(of.Region), "${DATASET}", of.Dataset).Replace(string(text)), nil
}

// inName tells what may be in the name of a project ("example.com:p" among them), of a
// region or of a dataset.
func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:", r)
}

// Names returns the names of all queries, sorted.
func Names() []string {
	paths, _ := fs.Glob(files, "*.sql") // the pattern is good
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], ".sql")
	}
	slices.Sort(paths)
	return paths
}
