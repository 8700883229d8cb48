package databases

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beamcdc/emulator"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// ddl runs "cdc ddl -source … -apply" for all tables of a schema, whose rules have no
// columns, and returns the tables that it made, by their names.
func ddl(t *testing.T, source, schema string, tables ...string) (made map[string]*table.Table, said string) {
	t.Helper()
	launchPath(t)
	path, err := buildCDC()
	if err != nil {
		t.Fatal(err)
	}
	e, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // its tables are of no more use
	config := filepath.Join(t.TempDir(), "pipeline.yaml")
	err = os.WriteFile(config, []byte("source: {subscription: projects/demo/subscriptions/changes}\ndead_letters: {topic: projects/demo/topics/dead}\n"+
		"tables: [{source: "+schema+".*, destination: 'mirror.{table}', max_staleness: 10m}]\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	runs := func() string {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		command := exec.CommandContext(ctx, path, "ddl", "-config", config, "-source", source, "-bigquery_rest_endpoint", e.RESTAddr(), "-apply")
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		if err := command.Run(); err != nil {
			t.Fatalf("cdc ddl: %v\n%s\n%s", err, stderr.String(), stdout.String())
		}
		return stdout.String()
	}
	said = runs()
	if again := runs(); strings.Contains(again, "CREATE ") || strings.Contains(again, "ALTER ") {
		t.Errorf("the second time there is something to do:\n%s", again)
	}
	c, err := catalog.Open(t.Context(), catalog.Config{Project: "demo", RESTEndpoint: e.RESTAddr()})
	if err != nil {
		t.Fatal(err)
	}
	made = map[string]*table.Table{}
	for _, name := range tables {
		found, err := c.Look(t.Context(), table.Name{Project: "demo", Dataset: "mirror", Table: name})
		if err != nil || found == nil {
			t.Fatalf("table %s: %v, %v\n%s", name, found, err, said)
		}
		made[name] = found
	}
	return made, said
}

// checkDDL holds a table against those that the other tests write real changes to: its
// columns have their types. except are the columns that have another one, with it.
func checkDDL(t *testing.T, got *table.Table, want *sourceTable, except map[string]string) {
	t.Helper()
	if !slices.Equal(got.PrimaryKey, want.key) {
		t.Errorf("%s: the key is %v, want %v", want.name, got.PrimaryKey, want.key)
	}
	if len(got.Columns) != len(want.columns) {
		t.Errorf("%s: %d columns, want %d", want.name, len(got.Columns), len(want.columns))
	}
	for i := range want.columns {
		w := &want.columns[i]
		at := slices.IndexFunc(got.Columns, func(c table.Column) bool { return c.Name == w.name })
		if at < 0 {
			t.Errorf("%s: there is no column %s", want.name, w.name)
			continue
		}
		typ, _, _ := strings.Cut(w.target, ",")
		if strings.Contains(w.target, "REPEATED") {
			typ = "ARRAY<" + typ + ">"
		}
		if other := except[w.name]; other != "" {
			typ = other
		}
		c := &got.Columns[at]
		if w.target != "" && c.SQLType() != typ {
			t.Errorf("%s.%s (%s) is %s, want %s", want.name, w.name, w.source, c.SQLType(), typ)
		}
		isRequired := strings.Contains(w.source, "NOT NULL") || want.isKey(w.name)
		if (c.Mode == table.Required) != isRequired {
			t.Errorf("%s.%s (%s) is %s", want.name, w.name, w.source, c.Mode)
		}
	}
}

// described is what a database's comments make of a table.
func described(t *testing.T, got *table.Table) {
	t.Helper()
	i := slices.IndexFunc(got.Columns, func(c table.Column) bool { return c.Name == "note" })
	if i < 0 || got.Columns[i].Description != `What's "noted"` || got.Description != "A table; with\ncomments" {
		t.Errorf("the descriptions are not the source's comments: %+v", got)
	}
	if got.MaxStaleness.Minutes() != 10 || !slices.Equal(got.ClusterBy, []string{"b", "a"}) || !slices.Equal(got.PrimaryKey, []string{"b", "a"}) {
		t.Errorf("key, clustering or staleness are not those that were wanted: %+v", got)
	}
}

func TestDDLPostgres(t *testing.T) {
	h := postgresHistory(t, false)
	s := h.source.(*postgres) //nolint:forcetypeassert // it is
	var names []string
	for _, table := range h.tables {
		for i := range table.columns {
			table.columns[i].late = false
		}
		s.exec(h.dialect.create(table)...)
		names = append(names, table.name)
	}
	s.exec(
		`CREATE TABLE commented (a integer, b numeric(5,-2) NOT NULL, note varchar(9), made integer GENERATED ALWAYS AS (a + 1) STORED,
			pair tstzrange, weird "char", two text[][], PRIMARY KEY (b, a))`,
		`COMMENT ON TABLE commented IS E'A table; with\ncomments'`, `COMMENT ON COLUMN commented.note IS 'What''s "noted"'`,
		`CREATE TYPE composite AS (x int)`, `ALTER TABLE commented ADD COLUMN comp composite`,
		`CREATE TABLE parted (id bigint PRIMARY KEY, v text) PARTITION BY RANGE (id)`, `CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (9)`,
	)
	made, said := ddl(t, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", s.port), "public", append(names, "commented", "parted")...)
	for _, want := range h.tables {
		checkDDL(t, made[want.name], want, map[string]string{"c_point": "JSON"})
	}
	described(t, made["commented"])
	if i := slices.IndexFunc(made["commented"].Columns, func(c table.Column) bool { return c.Name == "made" || c.Name == "comp" }); i >= 0 {
		t.Errorf("what PostgreSQL or Debezium doesn't publish has a column: %+v", made["commented"].Columns[i])
	}
	for _, part := range []string{"column made is generated", "column comp is of type composite", "from: decimal, scale: -2}"} {
		if !strings.Contains(said, part) {
			t.Errorf("nothing says %q:\n%s", part, said)
		}
	}
	if strings.Contains(said, "parted_1") {
		t.Error("a partition has a table of its own")
	}
}

func TestDDLMariaDB(t *testing.T) {
	h := mariadbHistory(t, false)
	s := h.source.(*mariadb) //nolint:forcetypeassert // it is
	var names []string
	for _, table := range h.tables {
		for i := range table.columns {
			table.columns[i].late = false
		}
		s.exec(h.dialect.create(table)...)
		names = append(names, table.name)
	}
	s.exec("CREATE TABLE commented (a integer, b decimal(65,30) NOT NULL, note varchar(9) COMMENT 'What''s \"noted\"', PRIMARY KEY (b, a)) COMMENT 'A table; with\ncomments'")
	made, said := ddl(t, fmt.Sprintf("mysql://cdc:cdc@127.0.0.1:%d/shop", s.port), "shop", append(names, "commented")...)
	for _, want := range h.tables {
		checkDDL(t, made[want.name], want, map[string]string{"c_bool": "INT64", "c_json": "STRING", "c_point": "JSON"}) // MariaDB's JSON is a longtext
	}
	described(t, made["commented"])
	if !strings.Contains(said, "{name: c_uint8, from: unsigned}") {
		t.Errorf("nothing says that c_uint8 is unsigned:\n%s", said)
	}
}
