package rowproto

import (
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// everyType has a column of each type, each mode, and each trap of names.
func everyType() []table.Column {
	return []table.Column{
		{Name: "b", Type: table.Bool},
		{Name: "i", Type: table.Int64, Mode: table.Required},
		{Name: "f", Type: table.Float64},
		{Name: "n", Type: table.Numeric},
		{Name: "bn", Type: table.BigNumeric},
		{Name: "s", Type: table.String},
		{Name: "by", Type: table.Bytes},
		{Name: "d", Type: table.Date},
		{Name: "t", Type: table.Time},
		{Name: "dt", Type: table.DateTime},
		{Name: "ts", Type: table.Timestamp},
		{Name: "j", Type: table.JSON},
		{Name: "g", Type: table.Geography},
		{Name: "iv", Type: table.Interval},
		{Name: "rd", Type: table.Range, Element: table.Date},
		{Name: "rt", Type: table.Range, Element: table.Timestamp},
		{Name: "rt2", Type: table.Range, Element: table.Timestamp},
		{Name: "a", Type: table.Struct, Fields: []table.Column{
			{Name: "x", Type: table.Int64, Mode: table.Required},
			{Name: "b", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{{Name: "größe", Type: table.Float64, Mode: table.Repeated}}},
		}},
		{Name: "a__b", Type: table.Struct, Fields: []table.Column{{Name: "y", Type: table.String}}},
		{Name: "ai", Type: table.Int64, Mode: table.Repeated},
		{Name: "as", Type: table.String, Mode: table.Repeated},
		{Name: "straße", Type: table.String},
		{Name: "2nd", Type: table.Int64, Mode: table.Repeated},
		{Name: "col_326e64", Type: table.String}, // what "2nd" would be called
		{Name: "a b", Type: table.String},
		{Name: "aB_c", Type: table.String},
		{Name: "aBC", Type: table.String},
	}
}

func TestDescriptor(t *testing.T) {
	p := compile(t, everyType()...)
	md := messageType(t, p)
	columns := columnsOf(everyType()...)
	for i, c := range columns {
		f := p.Descriptor().GetField()[i]
		if got := int(f.GetNumber()); got != i+1 {
			t.Errorf("column %s has field number %d, want its position %d", c.Name, got, i+1)
		}
		name := f.GetName()
		if annotated := proto.GetExtension(f.GetOptions(), storagepb.E_ColumnName).(string); annotated != "" {
			name = annotated
		}
		if name != c.Name {
			t.Errorf("column %s is called %s", c.Name, name)
		}
		want := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		if c.Mode == table.Repeated {
			want = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		}
		if f.GetLabel() != want {
			t.Errorf("column %s is %v, want %v", c.Name, f.GetLabel(), want)
		}
		if packed := md.Fields().Get(i).IsPacked(); packed != (c.Mode == table.Repeated && c.Type == table.Int64) {
			t.Errorf("column %s is packed: %v", c.Name, packed)
		}
	}
	for number, name := range map[protoreflect.FieldNumber]protoreflect.Name{2046: ChangeTypeColumn, 2047: SequenceNumberColumn} {
		if f := md.Fields().ByNumber(number); f == nil || f.Name() != name || f.Kind() != protoreflect.StringKind {
			t.Errorf("field %d is %v, want the string %s", number, f, name)
		}
	}
}

// TestDescriptor_Normalized asks the client library to normalize the descriptor:
// nothing but the nested messages' names, which it prefixes, may change.
func TestDescriptor_Normalized(t *testing.T) {
	p := compile(t, everyType()...)
	got, err := adapt.NormalizeDescriptor(messageType(t, p))
	if err != nil {
		t.Fatal(err)
	}
	unprefix := func(d *descriptorpb.DescriptorProto) {
		for _, f := range d.GetField() {
			f.JsonName = nil
			if f.TypeName != nil {
				f.TypeName = new(strings.TrimPrefix(f.GetTypeName(), "root_"))
			}
		}
	}
	unprefix(got)
	for _, nested := range got.GetNestedType() {
		nested.Name = new(strings.TrimPrefix(nested.GetName(), "root_"))
		unprefix(nested)
	}
	want := proto.CloneOf(p.Descriptor())
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.SortRepeated(func(a, b *descriptorpb.DescriptorProto) bool { return a.GetName() < b.GetName() })); diff != "" {
		t.Errorf("normalizing changes the descriptor (-ours +normalized):\n%s", diff)
	}
}

// TestDescriptor_Grows adds a column: nothing that was there may move.
func TestDescriptor_Grows(t *testing.T) {
	before, after := compile(t, everyType()...), compile(t, append(everyType(), table.Column{Name: "more", Type: table.String})...)
	numbers := map[string]int32{}
	for _, f := range after.Descriptor().GetField() {
		numbers[f.GetName()] = f.GetNumber()
	}
	for _, f := range before.Descriptor().GetField() {
		if numbers[f.GetName()] != f.GetNumber() {
			t.Errorf("%s moves from %d to %d", f.GetName(), f.GetNumber(), numbers[f.GetName()])
		}
	}
	if before.Fingerprint() == after.Fingerprint() {
		t.Error("both have one fingerprint")
	}
}

// TestUpsert_Names writes and reads back columns whose names are no identifiers.
func TestUpsert_Names(t *testing.T) {
	p := compile(t, everyType()...)
	data, err := p.AppendUpsert(nil, row(
		column("i", change.Int64(1)), column("STRASSE", change.Null()), column("STRAßE", change.Text("x")), column("2ND", change.Raw("[2]")),
		column("col_326e64", change.Text("y")), column("A B", change.Text("z")),
		column("a", change.Raw(`{"x":1,"b":[{"GRÖSSE":[1]},{"GRÖßE":[0.5]}]}`)), column("a__b", change.Raw(`{"y":"w"}`)),
	), someSequence, RowOptions{IgnoreUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": int64(7), "i": int64(1), "straße": "x", "2nd": []any{int64(2)}, "col_326e64": "y", "a b": "z",
		"a":            map[string]any{"x": int64(1), "b": []any{map[string]any{}, map[string]any{"größe": []any{0.5}}}},
		"a__b":         map[string]any{"y": "w"},
		"_CHANGE_TYPE": "UPSERT", "_CHANGE_SEQUENCE_NUMBER": "1/2/3/4",
	}
	if diff := cmp.Diff(want, read(t, messageType(t, p), data)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

// wantFingerprint is what this version computes.
const wantFingerprint = 0xd3ba8602e794c206

func TestFingerprint(t *testing.T) {
	base := func() *table.Table {
		return tableOf(table.Column{Name: "c", Type: table.Numeric, Precision: 10, Scale: 2}, table.Column{Name: "s", Type: table.Struct, Fields: []table.Column{{Name: "x", Type: table.Date}}})
	}
	of := func(t *testing.T, tab *table.Table) uint64 {
		p, err := Compile(tab)
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint()
	}
	want := of(t, base())
	if want != wantFingerprint {
		t.Errorf("the fingerprint is %#x, and was %#x: rows under way would be taken for another schema's", want, uint64(wantFingerprint))
	}
	for name, edit := range map[string]func(*table.Table){
		"type":        func(t *table.Table) { t.Columns[1].Type = table.Int64 },
		"string":      func(t *table.Table) { t.Columns[1].Type = table.String },
		"array":       func(t *table.Table) { t.Columns[1].Mode = table.Repeated },
		"name":        func(t *table.Table) { t.Columns[1].Name = "C" },
		"nested type": func(t *table.Table) { t.Columns[2].Fields[0].Type = table.Int64 },
		"order":       func(t *table.Table) { t.Columns[1], t.Columns[2] = t.Columns[2], t.Columns[1] },
		"key":         func(t *table.Table) { t.PrimaryKey = []string{"c"} },
		"longer key":  func(t *table.Table) { t.PrimaryKey = []string{"id", "c"} },
	} {
		changed := base()
		edit(changed)
		if of(t, changed) == want {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	for name, edit := range map[string]func(*table.Table){
		"explicit NULLABLE": func(t *table.Table) { t.Columns[1].Mode = table.Nullable },
		// What a table is altered in while rows are on their way.
		"wider decimal": func(t *table.Table) { t.Columns[1].Type = table.BigNumeric },
		"scale":         func(t *table.Table) { t.Columns[1].Scale = 3 },
		"length":        func(t *table.Table) { t.Columns[1].MaxLength = 3 },
		"mode":          func(t *table.Table) { t.Columns[1].Mode = table.Required },
		"description":   func(t *table.Table) { t.Columns[1].Description = "d" },
		"from":          func(t *table.Table) { t.Columns[1].From = table.FromDecimal },
		"policy":        func(t *table.Table) { t.Columns[1].BadValues = table.PolicyNull },
		"table name":    func(t *table.Table) { t.Name.Table = "u" },
		"key's case":    func(t *table.Table) { t.PrimaryKey = []string{"ID"} },
	} {
		changed := base()
		edit(changed)
		if of(t, changed) != want {
			t.Errorf("another %s has another fingerprint", name)
		}
	}
}

func TestCompile_Refuses(t *testing.T) {
	many := make([]table.Column, 2001)
	for i := range many {
		many[i] = table.Column{Name: "c" + strings.Repeat("x", i), Type: table.Int64}
	}
	key17 := make([]string, 17)
	for i := range key17 {
		key17[i] = many[i].Name
	}
	with := func(c table.Column) *table.Table { return tableOf(c) }
	keyed := func(of table.Column) *table.Table {
		t := tableOf(of)
		t.PrimaryKey = []string{of.Name}
		return t
	}
	for name, c := range map[string]struct {
		table *table.Table
		says  string
	}{
		"no key":               {&table.Table{Columns: many[:1]}, "no primary key"},
		"key of 17":            {&table.Table{Columns: many[:20], PrimaryKey: key17}, "17 columns"},
		"key that isn't there": {&table.Table{Columns: many[:1], PrimaryKey: []string{"d"}}, `"d"`},
		"key twice":            {&table.Table{Columns: many[:1], PrimaryKey: []string{"c", "C"}}, "twice"},
		"float key":            {keyed(table.Column{Name: "c", Type: table.Float64}), "FLOAT64"},
		"JSON key":             {keyed(table.Column{Name: "c", Type: table.JSON}), "JSON"},
		"array key":            {keyed(table.Column{Name: "c", Type: table.String, Mode: table.Repeated}), "ARRAY<STRING>"},
		"2001 columns":         {&table.Table{Columns: many, PrimaryKey: []string{"c"}}, "2001 columns"},
		"no columns":           {&table.Table{PrimaryKey: []string{"c"}}, "no columns"},
		"no name":              {with(table.Column{Type: table.Int64}), "no name"},
		"differ by case":       {with(table.Column{Name: "ID", Type: table.Int64}), "case alone"},
		"pseudo-column":        {with(table.Column{Name: "_change_type", Type: table.String}), "reserves"},
		"sequence column":      {with(table.Column{Name: "_CHANGE_SEQUENCE_NUMBER", Type: table.String}), "reserves"},
		"unknown type":         {with(table.Column{Name: "c", Type: "TEXT"}), "TEXT"},
		"unknown mode":         {with(table.Column{Name: "c", Type: table.Int64, Mode: "REPEAT"}), "REPEAT"},
		"empty struct":         {with(table.Column{Name: "c", Type: table.Struct}), "needs fields"},
		"bad field":            {with(table.Column{Name: "c", Type: table.Struct, Fields: []table.Column{{Name: "d", Type: "TEXT"}}}), `"c.d"`},
		"range of numbers":     {with(table.Column{Name: "c", Type: table.Range, Element: table.Int64}), "RANGE is of"},
		"from days of bytes":   {with(table.Column{Name: "c", Type: table.Bytes, From: table.FromDays}), "`from: days`"},
		"from base64 of dates": {with(table.Column{Name: "c", Type: table.Range, Element: table.Date, From: table.FromBase64}), "`from: base64`"},
	} {
		t.Run(name, func(t *testing.T) {
			c.table.Name = table.Name{Project: "p", Dataset: "d", Table: "t"}
			_, err := Compile(c.table)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "p.d.t") {
				t.Errorf("error %v, want one that names the table and says %s", err, c.says)
			}
		})
	}
}
