package rowproto

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

var update = flag.Bool("update", false, "rewrite docs/types.md")

const typesDocument = "../../docs/types.md"

// TestTypesDocument: docs/types.md says what the code does. Rewrite it with
// -update, and read the difference.
func TestTypesDocument(t *testing.T) {
	got := documentTypes(t)
	if *update {
		if err := os.WriteFile(typesDocument, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(typesDocument)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/types.md is not what the code does; run go test ./schemas/rowproto -update (-document +code):\n%s", diff)
	}
}

// TestTypesDocument_matrix: a cell of the matrix is "·" exactly where the type
// takes no such value, whatever its From.
func TestTypesDocument_matrix(t *testing.T) {
	for _, line := range matrix {
		cells := strings.Split(line.cells, "|")
		if len(cells) != len(matrixTypes) {
			t.Fatalf("%s: %d cells for %d types", line.kind, len(cells), len(matrixTypes))
		}
		for i, of := range matrixTypes {
			c := columnOf(t, of)
			taken := false
			for _, from := range append([]table.From{""}, table.FromsOf(c.Type)...) {
				c.From = from
				for _, v := range line.values {
					taken = taken || !strings.HasPrefix(outcome(t, &c, v), "✗")
				}
			}
			if taken != (cells[i] != "·") {
				t.Errorf("%s to %s: the document says %q, and the encoder takes one: %v", line.kind, of, cells[i], taken)
			}
		}
	}
}

// TestTypesDocument_policies: each policy does to the document's bad values what
// its Effect says, and nothing where it says nothing.
func TestTypesDocument_policies(t *testing.T) {
	for _, doc := range append(slices.Clone(typeDocs), arrayDoc) {
		acted := map[table.Policy]bool{}
		var c table.Column
		for _, s := range doc.bad {
			for _, p := range table.Policies {
				c = columnOf(t, s.column)
				c.BadValues = p
				refused := strings.HasPrefix(outcome(t, &c, s.value), "✗")
				switch {
				case p == table.PolicyNull && refused, p.Effect(&c) == "" && !refused:
					t.Errorf("%s to %s, %s: refused %v", s.shown, s.column, p, refused)
				case !refused:
					acted[p] = true
				}
			}
		}
		for _, p := range table.Policies {
			if acted[p] != (p.Effect(&c) != "") {
				t.Errorf("%s: %s acted: %v, and its effect is %q", c.Type, p, acted[p], p.Effect(&c))
			}
		}
	}
}

// documentTypes returns the text of docs/types.md.
func documentTypes(t *testing.T) string {
	t.Helper()
	d := &document{t: t}
	d.line(typesIntro)
	links := "The types:"
	for _, doc := range typeDocs {
		for _, of := range doc.types {
			links += fmt.Sprintf(" [%s](#%s)", of, anchor(doc))
		}
	}
	d.line(links + " [arrays](#arrays). [What Debezium sends](#what-debezium-sends).\n")
	d.line("## What a value means: `from`\n\n| `from` | means | for columns of type |\n|---|---|---|")
	for _, from := range table.Froms {
		var types []string
		for _, doc := range typeDocs {
			for _, of := range doc.types {
				if slices.Contains(table.FromsOf(of), from) {
					types = append(types, string(of))
				}
			}
		}
		d.row("`"+string(from)+"`", fromMeanings[from], strings.Join(types, ", "))
	}
	d.line("\nA `RANGE` has the `from` of its bounds' type, an array that of its elements.\n")
	d.line(policiesIntro)
	d.line("| type | `null` | `clamp`: the nearest value | `string`: the value's text |\n|---|---|---|---|")
	for _, doc := range typeDocs {
		for _, of := range doc.types {
			c := table.Column{Type: of}
			d.row(string(of), effectOr(table.PolicyNull, &c), effectOr(table.PolicyClamp, &c), effectOr(table.PolicyString, &c))
		}
	}
	c := table.Column{Type: table.Geography, Mode: table.Repeated}
	d.row("ARRAY", effectOr(table.PolicyNull, &c), effectOr(table.PolicyClamp, &c)+"; elements as their type", "elements as their type")
	d.line(matrixIntro)
	d.matrix(matrixTypes[:7])
	d.matrix(matrixTypes[7:])
	d.line("## The types\n\n✗ is a dead letter. `bad_values` is `reject` unless a table below says otherwise.\n")
	for _, doc := range typeDocs {
		d.section(heading(doc), doc)
	}
	d.section("Arrays", arrayDoc)
	d.line(debeziumIntro)
	d.line("| source | JSON | column | BigQuery has |\n|---|---|---|---|")
	for _, e := range encodings {
		c := columnOf(t, e.column)
		got := shownOutcome(outcome(t, &c, untypedValue(e.value)))
		if e.typed != "" {
			got += "; with the schema " + code(e.typed)
		}
		d.row(e.source, code(e.value), code(e.column), got)
	}
	return d.String()
}

func heading(doc typeDoc) string {
	names := make([]string, len(doc.types))
	for i, of := range doc.types {
		names[i] = string(of)
	}
	return strings.Join(names, ", ")
}

// anchor is what a heading's link is made of.
func anchor(doc typeDoc) string {
	return strings.NewReplacer(", ", "-").Replace(strings.ToLower(heading(doc)))
}

type document struct {
	strings.Builder
	t *testing.T
}

func (d *document) line(text string) { d.WriteString(text + "\n") }

func (d *document) row(cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	d.line("| " + strings.Join(cells, " | ") + " |")
}

// matrix writes the matrix's columns of these types.
func (d *document) matrix(types []string) {
	names := make([]string, len(types))
	for i, of := range types {
		names[i], _, _ = strings.Cut(of, "<")
	}
	d.line("| the message has | " + strings.Join(names, " | ") + " |\n|---" + strings.Repeat("|---", len(types)) + "|")
	for _, line := range matrix {
		cells := strings.Split(line.cells, "|")
		row := []string{line.kind}
		for i, of := range matrixTypes {
			if slices.Contains(types, of) {
				row = append(row, cells[i])
			}
		}
		d.row(row...)
	}
	d.line("")
}

func (d *document) section(name string, doc typeDoc) {
	d.t.Helper()
	d.line("### " + name + "\n\n" + doc.about + "\n\n| value | column | BigQuery has |\n|---|---|---|")
	shown := map[table.Type]map[table.From]bool{}
	for _, s := range doc.takes {
		c := columnOf(d.t, s.column)
		got := outcome(d.t, &c, s.value)
		if strings.HasPrefix(got, "✗") {
			d.t.Errorf("the document's example %s for %s is refused: %s", s.shown, s.column, got)
		}
		if shown[c.Type] == nil {
			shown[c.Type] = map[table.From]bool{}
		}
		shown[c.Type][c.From] = true
		d.row(s.shown, code(s.column), code(got))
	}
	for _, of := range doc.types {
		for _, from := range table.FromsOf(of) {
			if !shown[of][from] {
				d.t.Errorf("the document has no example of from: %s for %s", from, of)
			}
		}
	}
	d.line("\n| bad value | column | `reject` | `null` | `clamp` | `string` |\n|---|---|---|---|---|---|")
	for _, s := range doc.bad {
		cells := []string{s.shown, code(s.column)}
		for _, p := range table.Policies {
			c := columnOf(d.t, s.column)
			c.BadValues = p
			got := shownOutcome(outcome(d.t, &c, s.value))
			if p != table.PolicyReject && strings.HasPrefix(got, "✗") {
				got = "✗" // for the reason told already
			}
			cells = append(cells, got)
		}
		d.row(cells...)
	}
	d.line("")
}

func code(text string) string { return "`" + text + "`" }

// shownOutcome is an outcome as the document has it; an error has code of its own.
func shownOutcome(outcome string) string {
	if strings.HasPrefix(outcome, "✗") {
		return outcome
	}
	return code(outcome)
}

func effectOr(p table.Policy, c *table.Column) string {
	if c.Type == table.Struct && p != table.PolicyNull {
		return "of its fields"
	}
	if effect := p.Effect(c); effect != "" {
		return effect
	}
	return "·"
}

var typesIntro = fmt.Sprintf(`# Types

<!-- Generated from the code: go test ./schemas/rowproto -update. -->

What each kind of value becomes in each type of column. Every result on this page is
what the encoder made of the value when the page was written, and a test fails when
that changes.

A value reaches BigQuery exactly, or by a policy that you chose, or its row is a dead
letter that names the table and the column. Nothing is rounded, cut or wrapped
unasked, no integer or decimal passes through a double, and nothing is guessed by a
number's size.

What a value means is decided by the first of these that says something:

1. the message's own schema, where it has one (Debezium with its schema envelope, Avro);
2. the column's %[1]s setting;
3. the one reading that the column's type allows (digits for an INT64, days for a DATE);
4. else it is a bad value, and the dead letter says which setting would decide.

%[2]syaml
columns:
  - {name: total, type: "NUMERIC(12,2)", from: decimal, scale: 2}
  - {name: placed_at, type: TIMESTAMP, from: micros, bad_values: clamp}
%[2]s
`, "`from`", "```")

const policiesIntro = "## What becomes of a bad value: `bad_values`\n\n" +
	"A column's `bad_values` decides, else its table's, else `reject`: a dead letter. A table's goes to the columns where it means something, and the others\n" +
	"reject; a column's own that would do nothing is refused before anything starts. No policy applies to a column of the primary key (NULL is no key, and\n" +
	"clamping would make two rows one), to a value that the source left out, to columns that are unknown or missing, or, for `null`, to a REQUIRED column.\n" +
	"What has nothing nearest (NaN, a zero date, a word) `clamp` rejects.\n\n" +
	"The counter `values_adjusted` counts every value that a policy replaced, once, and `values_adjusted_by_column/POLICY/TABLE.COLUMN` each column's and policy's.\n"

const matrixIntro = "\n## What becomes what\n\n" +
	"The first rows are of messages that type their values, the last three of those that don't.\n\n" +
	"*=* is the value itself and *·* always a bad value. *if …* is a bad value otherwise: *if exact* must come back from a double with its digits, *shortest\n" +
	"digits* are the fewest that read back as the same double. A *unit* is the schema's or `from`'s. *scale, value*, *structured*, *wkb* and *start, end* are objects that\n" +
	"Debezium and BigQuery write. *UTC* is where civil values and instants become each other.\n"

const debeziumIntro = "## What Debezium sends\n\n" +
	"Each kind of source column as Debezium writes it, a column for it, and what that has then. Without the message's schema the column's settings must say what\n" +
	"the JSON doesn't; with it they may be left out, but for `unsigned`, which no schema tells.\n"
