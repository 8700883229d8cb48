package enrichment_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/table"
)

// TestCompile_problems: what can't be meant is found before anything runs, each with
// the key that it is about, all at once.
func TestCompile_problems(t *testing.T) {
	bad := func(change func(*table.Lookup)) table.Step {
		s := lookup("")
		l := *s.Lookup
		change(&l)
		return table.Step{Lookup: &l}
	}
	withKey := func(key *table.SecretKey, by string) table.Step {
		return table.Step{Mask: &table.Mask{Columns: []string{"email"}, By: by, Key: key}}
	}
	for _, c := range []struct {
		steps []table.Step
		want  []string // "key: part of the problem"
	}{
		{[]table.Step{set("gross", "row.total *"), where("row.totl > 1")}, []string{"enrich[0].set.gross: compiling the expression: at 1:", "enrich[1].where: compiling the expression: at 1:4: undefined field 'totl'"}},
		{[]table.Step{set("gross", "row.total * 1.19")}, []string{"enrich[0].set.gross: compiling the expression: at 1:11: found no matching overload for '_*_' applied to '(decimal, double)'"}},
		{[]table.Step{set("level", "row.total")}, []string{"enrich[0].set.level: the expression gives a decimal, and column level is INT64"}},
		{[]table.Step{where("row.status")}, []string{"enrich[0].where: the expression gives a string; a condition"}},
		{[]table.Step{set("nothing", "1")}, []string{"enrich[0].set.nothing: p.shop.orders has no column nothing; add it to the table, or drop"}},
		{[]table.Step{set("nothing", "1"), drop("nothing")}, nil},
		{[]table.Step{set("temporary", "1"), rename("temporary", "level")}, nil},
		{[]table.Step{drop("status"), set("note", "row.status")}, []string{"enrich[1].set.note: compiling the expression: at 1:4: undefined field 'status'"}},
		{[]table.Step{set("note", "'a'", "NOTE", "'b'")}, []string{"enrich[0].set.NOTE: column NOTE is set twice"}},
		{[]table.Step{set("total", "decimal(1)")}, []string{"enrich[0].set.total: column total has `from: decimal`, which would read what this step writes"}},
		{[]table.Step{set("id", "1")}, []string{"enrich[0].set.id: column id becomes part of the primary key"}},
		{[]table.Step{set("a", "1"), rename("a", "id")}, []string{"enrich[0].set.a: column a becomes part of the primary key"}},
		{[]table.Step{drop("id")}, []string{"enrich[0].drop[0]: column id is part of the primary key"}},
		{[]table.Step{drop("must", "note", "note")}, []string{"enrich[0].drop[0]: column must of the table is REQUIRED", "enrich[0].drop[2]: column note is there twice"}},
		{[]table.Step{rename("id", "level")}, []string{"enrich[0].rename.id: column id is part of the primary key, and no other column gets its name"}},
		{[]table.Step{rename("key", "id", "id", "level")}, nil},
		{[]table.Step{rename("a", "nothing")}, []string{"enrich[0].rename.a: p.shop.orders has no column nothing"}},
		{[]table.Step{rename("a", "note", "b", "note")}, []string{"enrich[0].rename.b: b: note and a: note are of one name"}},
		{[]table.Step{metadata("note", "commit_time", "at", "operation", "level", "colour")}, []string{
			"enrich[0].metadata.note: commit_time is a TIMESTAMP, and column note is STRING", "enrich[0].metadata.at: operation is a STRING", `enrich[0].metadata.level: "colour" is none of commit_time, `,
		}},
		{[]table.Step{metadata("id", "message_id")}, []string{"enrich[0].metadata.id: column id becomes part"}},
		{[]table.Step{mask("", 0, "email")}, []string{"enrich[0].mask.by: it is missing; give one of sha256, aes_siv, null, last"}},
		{[]table.Step{mask("md5", 0, "email")}, []string{`enrich[0].mask.by: "md5" is none of sha256, `}},
		{[]table.Step{mask(table.MaskLast, 0, "email")}, []string{"enrich[0].mask.keep: give how many"}},
		{[]table.Step{mask(table.MaskNull, 4, "email")}, []string{"enrich[0].mask.keep: it has a meaning with last only"}},
		{[]table.Step{mask(table.MaskSHA256, 0, "level", "short", "total", "tags")}, []string{
			"enrich[0].mask.columns[0]: column level is INT64; the mask makes a text, or BYTES", "enrich[0].mask.columns[1]: column short is STRING(10); the mask has 64 characters",
			"enrich[0].mask.columns[2]: column total is NUMERIC(12, 2)", "enrich[0].mask.columns[3]: column tags is ARRAY<STRING>",
		}},
		{[]table.Step{mask(table.MaskLast, 4, "digest")}, []string{"enrich[0].mask.columns[0]: column digest is BYTES; the mask makes a text"}},
		{[]table.Step{mask(table.MaskNull, 0, "must", "id")}, []string{"enrich[0].mask.columns[0]: column must of the table is REQUIRED", "enrich[0].mask.columns[1]: column id becomes part"}},
		{[]table.Step{mask(table.MaskSHA256, 0, "id")}, []string{"enrich[0].mask.columns[0]: column id is INT64"}},
		{[]table.Step{withKey(nil, table.MaskSHA256)}, []string{"enrich[0].mask.key: it is missing"}},
		{[]table.Step{withKey(&table.SecretKey{}, table.MaskSHA256)}, []string{"enrich[0].mask.key: give just one of"}},
		{[]table.Step{withKey(&table.SecretKey{File: "f", Environment: "E"}, table.MaskAESSIV)}, []string{"enrich[0].mask.key: give just one of"}},
		{[]table.Step{withKey(&table.SecretKey{Secret: "mask"}, table.MaskAESSIV)}, []string{"enrich[0].mask.key.secret: it is no projects/"}},
		{[]table.Step{withKey(&table.SecretKey{Secret: "projects/p/secrets/s/versions/3"}, table.MaskAESSIV)}, nil},
		{[]table.Step{withKey(&table.SecretKey{File: "f"}, table.MaskNull)}, []string{"enrich[0].mask.key: it has a meaning with"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.CSV = "" })}, []string{"enrich[0].lookup: give just one of csv, "}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Query = "SELECT 1" })}, []string{"enrich[0].lookup: give just one of csv, "}},
		{[]table.Step{bad(func(l *table.Lookup) { l.CSV, l.Table, l.Nulls = "", "customers", `\N` })}, []string{"enrich[0].lookup.nulls: ", "enrich[0].lookup.table: it is no [project.]dataset.table"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Key = nil })}, []string{"enrich[0].lookup.key: it is missing"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Columns = nil })}, []string{"enrich[0].lookup.columns: it is missing"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Key[0].Column = "tags" })}, []string{"enrich[0].lookup.key.tags: column tags is ARRAY<STRING>, and such values have no one form"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Key = []table.ColumnPair{{Column: "custmer_id", Reference: "id"}} })}, []string{"enrich[0].lookup.key.custmer_id: the row has no column custmer_id"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Columns = []table.ColumnPair{{Column: "id", Reference: "id"}} })}, []string{"enrich[0].lookup.columns.id: column id becomes part of the primary key"}},
		{[]table.Step{bad(func(l *table.Lookup) { l.Columns = []table.ColumnPair{{Column: "must", Reference: "m"}} })}, []string{"enrich[0].lookup.columns.must: column must of the table is REQUIRED; give it a default"}},
		{[]table.Step{lookup("panic")}, []string{`enrich[0].lookup.on_miss: "panic" is none of`}},
		{[]table.Step{lookup(table.MissDefaults)}, []string{"enrich[0].lookup.on_miss: it says defaults, and there are none"}},
		{[]table.Step{lookup(table.MissReject, table.Default{Column: "level", Value: "1"})}, []string{"enrich[0].lookup.defaults: on_miss is reject"}},
		{[]table.Step{lookup(table.MissDefaults, table.Default{Column: "level", Value: "many"}, table.Default{Column: "colour"})}, []string{
			"enrich[0].lookup.defaults.level: column level is INT64: the text is no decimal number", "enrich[0].lookup.defaults.colour: column colour is none of the lookup's columns",
		}},
	} {
		plan, problems := enrichment.Compile(c.steps, orders(t), false)
		var got []string
		for _, err := range problems {
			p := new(enrichment.Problem)
			if !errors.As(err, &p) {
				t.Fatalf("%v is no *Problem", err)
			}
			got = append(got, p.Key+": "+p.Error())
		}
		if (plan == nil) != (len(problems) > 0) || !slices.EqualFunc(got, c.want, strings.HasPrefix) && !containAll(got, c.want) {
			t.Errorf("the problems are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

func containAll(got, want []string) bool {
	return len(got) == len(want) && !slices.ContainsFunc(want, func(w string) bool {
		return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
	})
}

// TestPlan_Sources: which columns a source has to tell for a row to be whole.
func TestPlan_Sources(t *testing.T) {
	for _, c := range []struct {
		steps         []table.Step
		with, without string
	}{
		{[]table.Step{set("note", "row.raw"), drop("raw")}, "raw id email", "note"},
		{[]table.Step{set("status", "row.status.lowerAscii()")}, "status", ""},
		{[]table.Step{lookup(""), metadata("at", "commit_time")}, "customer_id", "name level at"},
		{[]table.Step{rename("mail", "email"), mask(table.MaskSHA256, 0, "email"), where("row.flag")}, "mail flag", "email"},
		{[]table.Step{rename("status", "note")}, "status", "note"},
	} {
		plan, problems := enrichment.Compile(c.steps, orders(t), true)
		if problems != nil {
			t.Fatal(problems)
		}
		got := plan.Sources()
		for name := range strings.FieldsSeq(c.with) {
			if !slices.Contains(got, name) {
				t.Errorf("%v: %s is not among %v", c.steps, name, got)
			}
		}
		for name := range strings.FieldsSeq(c.without) {
			if slices.Contains(got, name) {
				t.Errorf("%v: %s is among %v", c.steps, name, got)
			}
		}
	}
}

// TestCompile_unknown: of a table that is not known yet only what a step says by
// itself is checked.
func TestCompile_unknown(t *testing.T) {
	if _, problems := enrichment.Compile([]table.Step{set("anything", "row.whatever + 1"), lookup("")}, nil, false); problems != nil {
		t.Error(problems)
	}
	if _, problems := enrichment.Compile([]table.Step{set("anything", "row.whatever +"), where("1")}, nil, false); len(problems) != 2 {
		t.Error(problems)
	}
	if _, problems := enrichment.Compile([]table.Step{set("note", "row.not_of_the_table")}, orders(t), true); problems != nil {
		t.Errorf("the source may have more columns than the table: %v", problems)
	}
	plan, _ := enrichment.Compile([]table.Step{set("anything", "1")}, nil, false)
	if _, err := plan.NewEnricher(nil, nil); err == nil {
		t.Error("rows of a table that is not known are enriched")
	}
}
