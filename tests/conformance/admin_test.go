package conformance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
)

// advance steps the emulator's clock, and lets it apply what is due by then.
func (r *run) advance(d time.Duration) {
	r.admin("clock", `{"advance":"`+d.String()+`"}`)
	r.admin("apply", "")
}

// hold keeps the emulator from applying pending changes in the background, or lets it again.
func (r *run) hold(held bool) {
	r.held = held
	r.admin("apply", fmt.Sprintf(`{"hold":%t}`, held))
}

// apply has pending changes applied, by letting ten minutes pass: what its
// background does after that time at the latest.
func (r *run) apply() {
	held := r.held
	if held {
		r.hold(false)
	}
	r.advance(tenMinutes)
	if held {
		r.hold(true)
	}
}

// admin posts to one of the emulator's own paths.
func (r *run) admin(path, body string) {
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.emulator.REST+"/emulator/v1/"+path, strings.NewReader(body))
	r.must(err, "making a request")
	response, err := http.DefaultClient.Do(request)
	r.must(err, "posting to the emulator's "+path)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body) // it explains the status
		r.fatalf("the emulator's %s answers %s: %s", path, response.Status, text)
	}
}

// addColumn changes a table's columns to these, of which the first are there already.
func (r *run) addColumn(table, columns string) {
	_, err := r.handle(table).Update(r.ctx, bigquery.TableMetadataToUpdate{Schema: schema(columns)}, "")
	r.must(err, "adding a column to "+table)
}

// eventually repeats what takes effect after a while where the backend is BigQuery itself.
func (r *run) eventually(try func() error) {
	for deadline := time.Now().Add(2 * r.patience()); ; {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.fatalf("%v", err)
		}
		r.sleep(10 * time.Second)
	}
}

func (r *run) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
		r.fatalf("%v", context.Cause(r.ctx))
	}
}
