package databases

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/option"
)

// The histories of tables of all types make those tables again, as the source has them:
// through a snapshot, changed keys, new columns and a kill of the pipeline.
func TestPostgresHistories(t *testing.T) {
	h := postgresHistory(t, true)
	for _, table := range h.tables {
		table.rule += "    history: " + dataset + "." + table.name + "_history\n"
	}
	r := h.begin()
	w, s, capture := r.workload, r.services, r.capture

	w.run(60)
	w.commit()
	s.launch()
	capture.start()
	capture.catchUp(h.mark)
	h.source.exec(h.addColumns()...)
	w.altered = true
	w.run(180)
	s.kill()
	s.launch()
	w.run(300)
	h.end(r) // each table is the source's

	conn, err := h.source.pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), h.utc); err != nil {
		t.Fatal(err)
	}
	for _, table := range h.tables {
		s.rebuild(table.name)
		compare(t, table, h.dialect.sourceRows(t, conn, table), s.rows(rebuiltName(table.name)))
	}
}

func rebuiltName(name string) string { return name + "_rebuilt" }

// rebuild makes a table of a table's history, by the query that cdc rebuild prints.
func (s *services) rebuild(name string) {
	s.t.Helper()
	cdc, err := buildCDC()
	if err != nil {
		s.t.Fatal(err)
	}
	printed, err := exec.CommandContext(s.t.Context(), cdc, "rebuild", "-config", s.config,
		"-bigquery_rest_endpoint", s.bigquery.RESTAddr(), "-bigquery_grpc_endpoint", s.bigquery.GRPCAddr(), dataset+"."+name).Output()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		_, _ = os.Stderr.Write(exited.Stderr)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	client, err := bigquery.NewClient(s.t.Context(), "demo", option.WithEndpoint(s.bigquery.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	query := strings.TrimSuffix(strings.TrimSpace(string(printed)), ";")
	if _, err := client.Query("CREATE TABLE " + dataset + "." + rebuiltName(name) + " AS\n" + query).Read(s.t.Context()); err != nil {
		s.t.Fatalf("%v\n%s", err, query)
	}
}
