package enrichment_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/daead/subtle"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

func column(name, typ string) table.Column {
	c, err := table.ParseType(typ)
	if err != nil {
		panic(err)
	}
	c.Name = name
	return c
}

// orders is a destination's plan; more are columns besides.
func orders(t testing.TB, more ...table.Column) *rowproto.Plan {
	t.Helper()
	total := column("total", "NUMERIC(12,2)")
	total.From, total.FromScale = table.FromDecimal, 2
	required := column("must", "STRING")
	required.Mode = table.Required
	columns := append([]table.Column{
		column("id", "INT64"), column("customer_id", "INT64"), total, column("status", "STRING"), column("email", "STRING"),
		column("ordered", "DATE"), column("digest", "BYTES"), column("gross", "NUMERIC"), column("note", "STRING"), column("at", "TIMESTAMP"),
		column("name", "STRING"), column("region", "STRING"), column("level", "INT64"), column("short", "STRING(10)"), required, column("tags", "ARRAY<STRING>"),
	}, more...)
	plan, err := rowproto.Compile(&table.Table{Name: table.Name{Project: "p", Dataset: "shop", Table: "orders"}, Columns: columns, PrimaryKey: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// customers is what lookups find.
func customers(t testing.TB, join enrichment.Join) *enrichment.Index {
	t.Helper()
	b, err := enrichment.NewBuilder(join.Reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]change.Value{
		{change.Text("007"), change.Text("Ann"), change.Text("3")},
		{change.Text("8"), change.Null(), change.Text("4")},
		{change.Null(), change.Text("nobody"), change.Null()},
	} {
		if err := b.Add(row[:len(join.Reference.Key)+len(join.Reference.Columns)]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Index()
}

var (
	maskKey = []byte("0123456789abcdef0123456789abcdef\n")
	sivKey  = []byte(strings.Repeat("ab", 64))
)

// enricher compiles the steps and gives them their references and keys.
func enricher(t testing.TB, steps ...table.Step) *enrichment.Enricher {
	t.Helper()
	plan, problems := enrichment.Compile(steps, orders(t), false)
	if problems != nil {
		t.Fatal(errors.Join(problems...))
	}
	var indexes []func() *enrichment.Index
	for _, join := range plan.Lookups() {
		index := customers(t, join)
		indexes = append(indexes, func() *enrichment.Index { return index })
	}
	var keys [][]byte
	for _, secret := range plan.Secrets() {
		keys = append(keys, map[string][]byte{"MASK": maskKey, "SIV": sivKey}[secret.Environment])
	}
	e, err := plan.NewEnricher(indexes, keys)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func event() *change.Event {
	return &change.Event{
		Message: change.Message{ID: "m1", PublishTime: time.UnixMicro(2_000_000)}, Parts: 1,
		Table: "public.orders", Op: change.OpUpdate, Position: "0/16B3748", Transaction: "901", Sequence: change.NewSequence(0x16B3748), CommitTime: time.UnixMicro(1_000_000),
		Key:    []change.Column{{Name: "id", Value: change.Number("1")}},
		Before: []change.Column{{Name: "id", Value: change.Number("1")}, {Name: "status", Value: change.Text("new")}, {Name: "total", Value: change.Text("AA==")}},
		After: []change.Column{
			{Name: "id", Value: change.Number("1")},
			{Name: "customer_id", Value: change.Number("7.0")},
			{Name: "total", Value: change.Text("MDk=")},
			{Name: "Status", Value: change.Text("paid")},
			{Name: "email", Value: change.Text("ann@example.com")},
			{Name: "ordered", Value: change.Number("1")},
			{Name: "doc", Value: change.Unavailable()},
		},
		BeforeComplete: true,
	}
}

func show(columns []change.Column) string {
	var parts []string
	for _, c := range columns {
		v := c.Value
		text := v.Text()
		switch v.Kind() {
		case change.KindNull:
			text = "NULL"
		case change.KindInt64, change.KindTimestamp, change.KindDate:
			text = fmt.Sprint(v.Int())
		case change.KindBool:
			text = fmt.Sprint(v.Bool())
		case change.KindUnavailable:
			text = "?"
		case change.KindBytes:
			text = fmt.Sprintf("%x", text)
		default:
		}
		parts = append(parts, c.Name+"="+text)
	}
	return strings.Join(parts, " ")
}

func set(pairs ...string) table.Step {
	var s table.Step
	for i := 0; i < len(pairs); i += 2 {
		s.Set = append(s.Set, table.Assignment{Column: pairs[i], Expression: pairs[i+1]})
	}
	return s
}

func rename(pairs ...string) table.Step {
	var s table.Step
	for i := 0; i < len(pairs); i += 2 {
		s.Rename = append(s.Rename, table.Renaming{From: pairs[i], To: pairs[i+1]})
	}
	return s
}

func where(expression string) table.Step { return table.Step{Where: expression} }
func drop(names ...string) table.Step    { return table.Step{Drop: names} }

func mask(by string, keep int64, names ...string) table.Step {
	m := &table.Mask{Columns: names, By: by, Keep: keep}
	switch by {
	case table.MaskSHA256:
		m.Key = &table.SecretKey{Environment: "MASK"}
	case table.MaskAESSIV:
		m.Key = &table.SecretKey{Environment: "SIV"}
	}
	return table.Step{Mask: m}
}

func lookup(onMiss string, defaults ...table.Default) table.Step {
	return table.Step{Lookup: &table.Lookup{
		CSV: "customers.csv", Key: []table.ColumnPair{{Column: "customer_id", Reference: "id"}},
		Columns: []table.ColumnPair{{Column: "name", Reference: "full_name"}, {Column: "level", Reference: "level"}},
		OnMiss:  onMiss, Defaults: defaults,
	}}
}

func metadata(pairs ...string) table.Step {
	var s table.Step
	for i := 0; i < len(pairs); i += 2 {
		s.Metadata = append(s.Metadata, table.MetadataColumn{Column: pairs[i], Of: table.Metadata(pairs[i+1])})
	}
	return s
}

var rowOptions rowproto.RowOptions

const row = "id=1 customer_id=7.0 total=MDk= Status=paid email=ann@example.com ordered=1 doc=?"

// without returns the row without some columns, and others at its end.
func without(gone string, more ...string) string {
	var kept []string
	for part := range strings.FieldsSeq(row) {
		if name, _, _ := strings.Cut(part, "="); !strings.Contains(" "+gone+" ", " "+name+" ") {
			kept = append(kept, part)
		}
	}
	return strings.Join(append(kept, more...), " ")
}

func TestEnricher_Row(t *testing.T) {
	// printf ann@example.com | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
	const sha = "093e3dd9df951c5008225d533a0175475075f7551ed269c5e61fa29bc2819ae4"
	for _, c := range []struct {
		name  string
		steps []table.Step
		want  string // "-" for a row that doesn't stay; "✗ " and part of the error for a dead letter
	}{
		{"set", []table.Step{set("gross", `row.total * decimal("1.19")`)}, row + " gross=146.9055"},
		{"set what is there", []table.Step{set("status", `row.status.upperAscii()`)}, strings.Replace(row, "Status=paid", "Status=PAID", 1)},
		{"set sees the row before the step", []table.Step{set("note", `row.status`, "status", `"x"`)}, strings.Replace(row, "Status=paid", "Status=x", 1) + " note=paid"},
		{"set after set", []table.Step{set("note", `"a"`), set("note", `row.note + "b"`)}, row + " note=ab"},
		{"set by the image before", []table.Step{set("gross", `row.total - before.total`, "note", `before.status + ">" + row.status`)}, row + " gross=123.45 note=new>paid"},
		{"a day is read as the table has it", []table.Step{set("note", `row.ordered`)}, row + " note=1970-01-02"},
		{"what the row lacks is NULL", []table.Step{set("note", `row.region == null ? "none" : "some"`)}, row + " note=none"},
		{"set fails", []table.Step{set("level", `int(row.email)`)}, "✗ enrich[0].set, column level: expression_failed:"},
		{"set of what was left out", []table.Step{drop("x"), set("note", `string(row.doc)`), drop("doc")}, "✗ enrich[1].set, column note: expression_failed: column doc: the source left it out"},

		{"where holds", []table.Step{where(`row.status == "paid"`)}, row},
		{"where doesn't", []table.Step{where(`row.total > 1000`)}, "-"},
		{"where by the change", []table.Step{where(`op == "delete"`)}, "-"},
		{"where fails", []table.Step{set("level", "null"), where(`row.level > 1`)}, "✗ enrich[1].where: expression_failed: no such overload"},

		{"lookup", []table.Step{lookup("")}, row + " name=Ann level=3"},
		{"lookup misses", []table.Step{set("customer_id", "9"), lookup("")}, strings.Replace(row, "7.0", "9", 1) + " name=NULL level=NULL"},
		{"lookup by NULL", []table.Step{set("customer_id", "null"), lookup(table.MissNull)}, strings.Replace(row, "7.0", "NULL", 1) + " name=NULL level=NULL"},
		{"lookup rejects", []table.Step{set("customer_id", "9"), lookup(table.MissReject)}, "✗ enrich[1].lookup: lookup_miss: the reference has no row with the values of customer_id"},
		{"lookup's defaults", []table.Step{set("customer_id", "9"), lookup(table.MissDefaults, table.Default{Column: "level", Value: "0"})}, strings.Replace(row, "7.0", "9", 1) + " name=NULL level=0"},
		{"a found NULL is no miss", []table.Step{set("customer_id", "8"), lookup(table.MissReject)}, strings.Replace(row, "7.0", "8", 1) + " name=NULL level=4"},
		{"lookup by what the source left out", []table.Step{rename("doc", "customer_id", "customer_id", "old"), lookup(""), drop("old")}, "✗ enrich[1].lookup: unavailable_value: column customer_id: the source left its value out"},
		{"lookup by a bad value", []table.Step{rename("email", "customer_id", "customer_id", "level"), lookup("")}, "✗ enrich[1].lookup: bad_value: column customer_id:"},

		{"metadata", []table.Step{metadata("at", "commit_time", "note", "sequence", "name", "operation", "region", "source_table", "short", "transaction")}, row + " at=1000000 note=1/2 name=update region=public.orders short=901"},
		{"more of it", []table.Step{metadata("at", "publish_time", "note", "position", "name", "message_id")}, row + " at=2000000 note=0/16B3748 name=m1"},

		{"rename", []table.Step{rename("doc", "note")}, strings.Replace(row, "doc=", "note=", 1)},
		{"rename what isn't there", []table.Step{rename("nothing", "note")}, row},
		{"swap", []table.Step{rename("status", "email", "EMAIL", "status")}, "id=1 customer_id=7.0 total=MDk= email=paid status=ann@example.com ordered=1 doc=?"},
		{"a column has the type that it ends in", []table.Step{set("level", "int(row.d.substring(8)) + 1"), rename("ordered", "note"), rename("doc", "ordered"), drop("d")}, "✗ enrich[0].set, column level: expression_failed: no such overload"},
		{"under its name before", []table.Step{rename("ordered", "day"), set("note", "row.day"), rename("day", "ordered")}, row + " note=1970-01-02"},
		{"drop", []table.Step{drop("doc", "EMAIL")}, without("doc email")},

		{"sha256", []table.Step{mask(table.MaskSHA256, 0, "email")}, strings.Replace(row, "ann@example.com", sha, 1)},
		{"sha256 as bytes", []table.Step{rename("email", "digest"), mask(table.MaskSHA256, 0, "digest")}, strings.Replace(row, "email=ann@example.com", "digest="+sha, 1)},
		{"null", []table.Step{mask(table.MaskNull, 0, "email", "nothing"), drop("nothing")}, strings.Replace(row, "ann@example.com", "NULL", 1)},
		{"last", []table.Step{mask(table.MaskLast, 4, "email")}, strings.Replace(row, "ann@example.com", "***********.com", 1)},
		{"last of a short one", []table.Step{mask(table.MaskLast, 4, "status")}, strings.Replace(row, "paid", "****", 1)},
		{"a mask leaves out what the source did", []table.Step{rename("doc", "note"), mask(table.MaskSHA256, 0, "note")}, strings.Replace(row, "doc=", "note=", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := enricher(t, c.steps...)
			for range 2 { // the second time by the layout of the first
				of := event()
				columns, stays, err := e.Row(of, of.After, change.NewSequence(1, 2))
				got := show(columns)
				switch {
				case err != nil:
					got = "✗ " + err.Error()
				case !stays:
					got = "-"
				}
				if got != c.want && (err == nil || c.want == "" || !strings.HasPrefix(got, c.want)) {
					t.Fatalf("the row is\n%s, want\n%s", got, c.want)
				}
				if show(of.After) != row {
					t.Fatalf("the change itself was altered: %s", show(of.After))
				}
			}
		})
	}
}

// TestEnricher_before: of an image before that is not complete only the key is told.
func TestEnricher_before(t *testing.T) {
	e := enricher(t, set("note", `has(before.status) ? before.status : "?"`, "name", `string(before.id)`))
	of := event()
	of.BeforeComplete = false
	columns, _, err := e.Row(of, of.After, change.NewSequence(1))
	if want := row + " note=? name=1"; err != nil || show(columns) != want {
		t.Errorf("the row is %s, %v, want %s", show(columns), err, want)
	}
	of.Op, of.Before = change.OpCreate, nil
	if _, _, err := enricher(t, set("note", `before.status`)).Row(of, of.After, change.NewSequence(1)); err == nil {
		t.Error("an image that is not there tells a value")
	}
}

// TestEnricher_absent: what the row lacks is NULL, or unchanged where the format leaves
// unchanged columns out; then no step can read it.
func TestEnricher_absent(t *testing.T) {
	e := enricher(t, set("note", `row.region`))
	of := event()
	of.AbsentUnavailable = true
	var failed *enrichment.Error
	if _, _, err := e.Row(of, of.After, change.NewSequence(1)); !errors.As(err, &failed) || failed.Step != 0 || failed.Column != "note" {
		t.Errorf("error %v", err)
	}
}

func TestEnricher_ambiguous(t *testing.T) {
	e := enricher(t, set("note", `row.status`))
	of := event()
	of.After = append(of.After, change.Column{Name: "STATUS", Value: change.Text("x")})
	var failed *enrichment.Error
	if _, _, err := e.Row(of, of.After, change.NewSequence(1)); !errors.As(err, &failed) || failed.Reason != enrichment.ReasonAmbiguous {
		t.Errorf("error %v", err)
	}
}

// TestEnricher_masks: a value is masked by what it is, not by how its message writes it,
// in every column and by every enricher; aes_siv can be undone.
func TestEnricher_masks(t *testing.T) {
	for _, by := range []string{table.MaskSHA256, table.MaskAESSIV} {
		masked := make(map[string]bool)
		for _, v := range []change.Value{change.Number("42"), change.Number("42.0"), change.Int64(42), change.Decimal("42.00"), change.Text("42"), change.String("42")} {
			for _, name := range []string{"email", "note"} {
				e := enricher(t, mask(by, 0, name))
				columns, _, err := e.Row(event(), []change.Column{{Name: name, Value: v}}, change.NewSequence(1))
				if err != nil {
					t.Fatal(err)
				}
				masked[columns[0].Value.Text()] = true
			}
		}
		if len(masked) != 1 {
			t.Errorf("%s makes %d values of one: %v", by, len(masked), masked)
		}
		if by == table.MaskAESSIV {
			for text := range masked {
				if got := unsealed(t, text); got != "42" {
					t.Errorf("it decrypts as %q", got)
				}
			}
		}
	}
}

func unsealed(t *testing.T, text string) string {
	t.Helper()
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hex.DecodeString(string(sivKey))
	if err != nil {
		t.Fatal(err)
	}
	siv, err := subtle.NewAESSIV(key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := siv.DecryptDeterministically(sealed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestEnricher_keyset: a keyset of Tink's is a key too, and Tink undoes what it made.
func TestEnricher_keyset(t *testing.T) {
	handle, err := keyset.NewHandle(daead.AESSIVKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
		t.Fatal(err)
	}
	plan, problems := enrichment.Compile([]table.Step{mask(table.MaskAESSIV, 0, "email")}, orders(t), false)
	if problems != nil {
		t.Fatal(problems)
	}
	e, err := plan.NewEnricher(nil, [][]byte{text.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	columns, _, err := e.Row(event(), []change.Column{{Name: "email", Value: change.Text("a@b")}}, change.NewSequence(1))
	if err != nil {
		t.Fatal(err)
	}
	primitive, err := daead.New(handle)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := base64.StdEncoding.DecodeString(columns[0].Value.Text())
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := primitive.DecryptDeterministically(sealed, nil); err != nil || string(raw) != "a@b" {
		t.Errorf("it decrypts as %q, %v", raw, err)
	}
}

func TestPlan_NewEnricher_badKeys(t *testing.T) {
	for by, keys := range map[string]map[string]string{
		table.MaskSHA256: {"s3cret": "the key has 6 bytes; it takes 16 at least", "": "the key has 0 bytes"},
		table.MaskAESSIV: {
			"s3cret": "the key is not one of 64 bytes", "{s3cret": "no keyset of Tink's", "{}": "the keyset is not one",
			strings.Repeat("ab", 32): "the key is not one of 64 bytes",
		},
	} {
		plan, problems := enrichment.Compile([]table.Step{mask(by, 0, "email")}, orders(t), false)
		if problems != nil {
			t.Fatal(problems)
		}
		for key, want := range keys {
			_, err := plan.NewEnricher(nil, [][]byte{[]byte(key)})
			if err == nil || !strings.Contains(err.Error(), "enrich[0].mask: ") || !strings.Contains(err.Error(), want) && want != "the keyset is not one" || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s with %q: %v, want %q", by, key, err, want)
			}
		}
	}
}

// TestEnricher_Key: a key that is renamed and masked is the same in a row and in a
// delete, whatever the message writes.
func TestEnricher_Key(t *testing.T) {
	person := table.Table{
		Name:       table.Name{Project: "p", Dataset: "d", Table: "people"},
		Columns:    []table.Column{column("person", "STRING"), column("tenant", "INT64"), column("name", "STRING")},
		PrimaryKey: []string{"person", "tenant"},
	}
	rows, err := rowproto.Compile(&person)
	if err != nil {
		t.Fatal(err)
	}
	steps := []table.Step{rename("email", "mail"), mask(table.MaskSHA256, 0, "mail"), rename("mail", "person")}
	plan, problems := enrichment.Compile(steps, rows, false)
	if problems != nil {
		t.Fatal(problems)
	}
	if !plan.ChangesKey() {
		t.Error("the plan changes the key, and doesn't say so")
	}
	e, err := plan.NewEnricher(nil, [][]byte{maskKey})
	if err != nil {
		t.Fatal(err)
	}
	if e.Source(0) != "email" || e.Source(1) != "tenant" {
		t.Errorf("the key comes from %s and %s", e.Source(0), e.Source(1))
	}
	columns, _, err := e.Row(event(), []change.Column{{Name: "email", Value: change.Text("a@b")}, {Name: "tenant", Value: change.Number("1")}}, change.NewSequence(1))
	if err != nil {
		t.Fatal(err)
	}
	inRow := columns[0].Value.Text()
	key, err := e.Key(0, change.String("a@b"))
	if err != nil || key.Text() != inRow || columns[0].Name != "person" || len(inRow) != 64 {
		t.Errorf("the row has %s=%s, and the key is %s, %v", columns[0].Name, inRow, key.Text(), err)
	}
	if key, err := e.Key(1, change.Number("1")); err != nil || key.Text() != "1" {
		t.Errorf("a column that no step touches: %q, %v", key.Text(), err)
	}
	if none, _ := enrichment.Compile([]table.Step{drop("name")}, rows, false); none.ChangesKey() {
		t.Error("a plan that leaves the key alone says that it changes it")
	}
}

// TestEnricher_Image: an image shows nothing that a step hides, and nothing that one
// writes.
func TestEnricher_Image(t *testing.T) {
	e := enricher(t,
		set("note", `"a"`, "status", `"hidden"`), lookup(""), drop("doc"), rename("ordered", "short"), mask(table.MaskLast, 4, "email"), where("false"))
	for range 2 {
		image, err := e.Image(event().After)
		if want := "id=1 customer_id=7.0 total=MDk= email=***********.com short=1"; err != nil || show(image) != want {
			t.Fatalf("the image is %s, %v, want %s", show(image), err, want)
		}
	}
	// Of two columns that a step can't tell apart one would be shown as it is.
	twice := slices.Concat(event().After, []change.Column{{Name: "EMAIL", Value: change.Text("ann@example.com")}})
	var wrong *enrichment.Error
	if image, err := e.Image(twice); !errors.As(err, &wrong) || wrong.Reason != enrichment.ReasonAmbiguous || image != nil {
		t.Errorf("the image with a column twice is %s, %v", show(image), err)
	}
}
