package databases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// buildCDC builds cmd/cdc once, beside cmd/launch.
var buildCDC = sync.OnceValues(func() (string, error) {
	path := filepath.Join(launchBinary.directory, "cdc")
	out, err := exec.Command("go", "build", "-o", path, "beamcdc/cmd/cdc").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building cmd/cdc: %w\n%s", err, out)
	}
	return path, nil
})

// outcome is what cmd/cdc did.
type outcome struct {
	status      int
	said        string
	differences []difference
}

type difference struct {
	Kind    string         `json:"kind"`
	Key     map[string]any `json:"key"`
	Columns []string       `json:"columns"`
	Moving  bool           `json:"moving"`
}

// diff runs "cdc diff" for a table of the source at a URL.
func (s *services) diff(source, table string, args ...string) outcome {
	s.t.Helper()
	launchPath(s.t)
	path, err := buildCDC()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, append([]string{
		"diff", "-config", s.config, "-table", table, "-source", source, "-output", "json", "-recheck", "0s",
		"-bigquery_rest_endpoint", s.bigquery.RESTAddr(),
	}, args...)...)
	command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	if command.ProcessState == nil {
		s.t.Fatal(err)
	}
	o := outcome{status: command.ProcessState.ExitCode(), said: stderr.String()}
	for line := range strings.Lines(stdout.String()) {
		var d difference
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			s.t.Fatalf("cdc diff printed %q: %v", line, err)
		}
		o.differences = append(o.differences, d)
	}
	if o.status == 2 {
		s.t.Fatalf("cdc diff %s:\n%s", table, o.said)
	}
	return o
}

// repair repairs a table from the source.
func (s *services) repair(source, table string, args ...string) outcome {
	s.t.Helper()
	return s.diff(source, table, append(args, "-repair", "-topic", topic)...)
}

// settled waits until all that was published is in BigQuery.
func (s *services) settled() {
	s.t.Helper()
	waitFor(s.t, "messages to be acked", func() bool { return s.pubsub.Unacked(topic) == 0 }, s.launched)
}

// kinds counts differences.
func kinds(differences []difference) map[string]int {
	counts := map[string]int{}
	for _, d := range differences {
		counts[d.Kind]++
	}
	return counts
}

// formTable keeps the columns whose values have one text in all databases.
func formTable(t *sourceTable, without ...string) *sourceTable {
	kept := *t
	kept.name = "forms"
	kept.columns = slices.DeleteFunc(slices.Clone(t.columns), func(c column) bool {
		target, _, _ := strings.Cut(c.target, ",")
		return strings.Contains(c.target, "REPEATED") || slices.Contains(without, c.name) ||
			slices.Contains([]string{"FLOAT64", "JSON", "INTERVAL", "GEOGRAPHY"}, target)
	})
	return &kept
}

// A repair of an empty table in BigQuery fills it, so that each row of each type is
// read, published and written as the pipeline would have streamed it; the values are
// compared with what the database's own SQL makes of them. Then diff finds nothing,
// and each kind of difference that is made.
func TestDiffPostgres(t *testing.T) {
	h := postgresHistory(t, false)
	s := h.source.(*postgres) //nolint:forcetypeassert // it is
	h.tables = append(h.tables, formTable(pgTypes(), "c_bit1", "c_bits", "c_varbit", "c_timetz", "c_tsvector", "c_int4range", "c_numrange",
		"c_daterange", "c_tsrange", "c_tstzrange"))
	diffEachType(t, h, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", s.port))
}

func TestDiffMariaDB(t *testing.T) {
	h := mariadbHistory(t, false)
	s := h.source.(*mariadb) //nolint:forcetypeassert // it is
	h.tables = append(h.tables, formTable(myTypes(), "c_bits"))
	diffEachType(t, h, fmt.Sprintf("mysql://cdc:cdc@127.0.0.1:%d/shop", s.port))
}

func diffEachType(t *testing.T, h *history, source string) {
	t.Helper()
	for _, table := range h.tables {
		for i := range table.columns {
			table.columns[i].late = false
		}
		h.source.exec(h.dialect.create(table)...)
	}
	w := &workload{t: t, r: rand.New(rand.NewPCG(seedOf(t), 1)), d: h.dialect, db: h.source.pool(), tables: h.tables, setup: h.setup, expected: h.expected}
	w.connect()
	w.run(400)
	w.commit()
	s := startServices(t, h.dialect.config("auto", h.tables))
	s.launch()
	name := func(table *sourceTable) string { return h.dialect.schema + "." + table.name }
	waitFor(t, "the tables", func() bool {
		_, err := s.bigquery.Rows(context.Background(), dataset, h.tables[len(h.tables)-1].name)
		return err == nil
	}, s.launched)
	for _, table := range h.tables {
		o := s.repair(source, name(table), "-chunk", "100")
		if counts := kinds(o.differences); o.status != 1 || len(counts) != 1 || counts["missing"] == 0 {
			t.Errorf("%s, of which BigQuery has nothing: status %d, %v\n%s", name(table), o.status, counts, o.said)
		}
	}
	s.settled()
	for _, table := range h.tables {
		o := s.diff(source, name(table), "-chunk", "100", "-values")
		if o.status != 0 || len(o.differences) > 0 {
			t.Errorf("%s, repaired: status %d, %+v\n%s", name(table), o.status, o.differences[:min(5, len(o.differences))], o.said)
		}
		if table.name == "forms" && !strings.Contains(o.said, ", 0 rows read,") {
			t.Errorf("the rows of %s were not only hashed:\n%s", name(table), o.said)
		}
	}

	// A row each of those that are there, and a new one.
	items := h.tables[0]
	rows := s.rows(items.name)
	if len(rows) < 4 {
		t.Fatalf("only %d rows", len(rows))
	}
	quoted := h.dialect.quoted
	h.source.exec(
		fmt.Sprintf("UPDATE %s SET %s = 'other' WHERE %s = %v", quoted("items"), quoted("op"), quoted("id"), rows[0]["id"]),
		fmt.Sprintf("DELETE FROM %s WHERE %s = %v", quoted("items"), quoted("id"), rows[2]["id"]),
		fmt.Sprintf("INSERT INTO %s (%s) VALUES (9999, 1.5, '2026-03-09 09:28:27')", quoted("items"), quoted("id", "Price", "at")),
	)
	o := s.diff(source, name(items))
	want := map[string]string{fmt.Sprint(rows[0]["id"]): "different op", fmt.Sprint(rows[2]["id"]): "extra ", "9999": "missing "}
	got := map[string]string{}
	for _, d := range o.differences {
		got[fmt.Sprint(d.Key["id"])] = d.Kind + " " + strings.Join(d.Columns, ",")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || o.status != 1 {
		t.Errorf("status %d, found %v, want %v", o.status, got, want)
	}
	s.repair(source, name(items))
	s.settled()
	if o := s.diff(source, name(items)); o.status != 0 {
		t.Errorf("after the second repair: %+v", o.differences)
	}

	// A change that is under way when its row is repaired may be earlier in the log than
	// the repair: so the repair waits for it.
	change := func(op string) string {
		return fmt.Sprintf("UPDATE %s SET %s = '%s' WHERE %s = 9999", quoted("items"), quoted("op"), op, quoted("id"))
	}
	h.source.exec(change("changed"))
	tx, err := h.source.pool().Begin()
	if err == nil {
		_, err = tx.Exec(change("under way"))
	}
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.pubsub.Messages(topic))
	done := make(chan outcome, 1)
	go func() { done <- s.repair(source, name(items)) }()
	time.Sleep(3 * time.Second)
	if n := len(s.pubsub.Messages(topic)) - before; n > 0 {
		t.Errorf("%d rows were repaired while their change was under way", n)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	<-done
	s.settled()
	if o := s.diff(source, name(items)); o.status != 0 {
		t.Errorf("after the third repair: %+v", o.differences)
	}
	h.compareAll(s)
}
