package ddl

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/pipeline"
	"beamcdc/schemas/table"
)

// The rules that are printed are a configuration's: parsed back they make the tables that
// the SQL makes.
func TestRun_yaml(t *testing.T) {
	for _, name := range []string{"learned", "postgres_plain", "postgres_schema", "raw", "schemas", "hints"} {
		t.Run(name, func(t *testing.T) {
			out, err := runs(t, append(cases[name], "-output", "yaml")...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			head, err := os.ReadFile("testdata/schemas.yaml")
			if err != nil {
				t.Fatal(err)
			}
			settings, _, _ := strings.Cut(string(head), "\ntables:")
			o := pipeline.Parse("printed.yaml", []byte(settings+"\n"+out))
			if err := o.Validate(); err != nil || len(o.Tables) == 0 {
				t.Fatalf("%v\n%s", err, out)
			}
			sql, err := runs(t, append(cases[name], "-offline")...)
			if err != nil {
				t.Fatal(err)
			}
			statements := created(sql)
			for i := range o.Tables {
				rule := &o.Tables[i]
				destination, err := table.ParseName(rule.Destination, "demo")
				if err != nil {
					t.Fatal(err)
				}
				made, err := table.FromRule(destination, rule)
				if err != nil {
					t.Fatal(err)
				}
				want, _, _ := strings.Cut(statements[destination.String()], "\n)")
				got, _, _ := strings.Cut(made.DDL(), "\n)")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the rule makes another table (-SQL +rule):\n%s", diff)
				}
			}
		})
	}
}

// What values mean without a schema stands in the rule, whatever the columns are called.
func TestRuled_write(t *testing.T) {
	columns := []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "a: b", Type: table.Numeric, Precision: 10, Scale: 2, From: table.FromDecimal, FromScale: 2, Description: `5 "a" # b: c`},
		{Name: "null", Type: table.Interval, From: table.FromMicros},
		{Name: "tags", Type: table.String, MaxLength: 9, Mode: table.Repeated},
		{Name: "during", Type: table.Range, Element: table.Date},
		{Name: "s", Type: table.Struct, Fields: []table.Column{{Name: "at", Type: table.Timestamp, Mode: table.Required, From: table.FromMillis}, {Name: "n", Type: table.Int64}}},
	}
	var b strings.Builder
	b.WriteString("source: {subscription: projects/p/subscriptions/s}\ndead_letters: {topic: projects/p/topics/t}\ntables:\n")
	r := ruled{source: "public.a b", destination: "d.t", table: &table.Table{Columns: columns, PrimaryKey: []string{"id"}}}
	r.write(&b)
	o := pipeline.Parse("printed.yaml", []byte(b.String()))
	if len(o.Tables) != 1 {
		t.Fatalf("%d rules of\n%s", len(o.Tables), b.String())
	}
	want := table.Rule{Source: "public.a b", Destination: "d.t", PrimaryKey: []string{"id"}, Columns: columns}
	if diff := cmp.Diff(want, o.Tables[0]); diff != "" {
		t.Errorf("it is read as another rule (-want +got):\n%s\n%s", diff, b.String())
	}
}

// A command line that asks for rules and for statements is refused.
func TestRun_yamlOrApply(t *testing.T) {
	for _, args := range [][]string{{"-output", "yaml", "-apply"}, {"-output", "xml"}} {
		if _, err := runs(t, append(args, cases["shop"]...)...); err == nil || !strings.Contains(err.Error(), "-output") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
