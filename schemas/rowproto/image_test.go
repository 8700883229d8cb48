package rowproto

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

var imageTable = &table.Table{
	Name: table.Name{Project: "p", Dataset: "d", Table: "t"},
	Columns: []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "Line", Type: table.Numeric},
		{Name: "total", Type: table.Numeric, Precision: 5, Scale: 2},
		{Name: "tags", Type: table.String, Mode: table.Repeated},
		{Name: "of", Type: table.Struct, Fields: []table.Column{{Name: "a", Type: table.Int64}, {Name: "b", Type: table.Date, Mode: table.Repeated}}},
	},
	PrimaryKey: []string{"Line", "id"},
}

func TestAppendImage(t *testing.T) {
	p, err := Compile(imageTable)
	if err != nil {
		t.Fatal(err)
	}
	id, line := change.Column{Name: "id", Value: change.Int64(7)}, change.Column{Name: "line", Value: change.Text("1.50")}
	of := func(name string, v change.Value) change.Column { return change.Column{Name: name, Value: v} }
	for _, c := range []struct {
		name string
		row  []change.Column
		o    ImageOptions
		want string
		left int
	}{
		{"absent columns are NULL", []change.Column{line, id}, ImageOptions{}, `{"id":7,"Line":"1.5","total":null,"tags":[],"of":null}`, 0},
		{"absent columns are unknown", []change.Column{line, id}, ImageOptions{AbsentUnavailable: true}, `{"id":7,"Line":"1.5"}`, 0},
		{"NULL is not absent", []change.Column{id, of("total", change.Null()), of("tags", change.Null())}, ImageOptions{AbsentUnavailable: true}, `{"id":7,"total":null,"tags":[]}`, 0},
		{"unavailable columns are absent", []change.Column{id, line, of("total", change.Unavailable()), of("of", change.Unavailable())}, ImageOptions{}, `{"id":7,"Line":"1.5","tags":[]}`, 0},
		{"unknown columns are left out", []change.Column{id, of("else", change.Int64(1))}, ImageOptions{AbsentUnavailable: true, IgnoreUnknown: true}, `{"id":7}`, 0},
		{"unknown columns may be NULL", []change.Column{id, of("else", change.Null())}, ImageOptions{AbsentUnavailable: true}, `{"id":7}`, 0},
		{"a struct's fields are all there", []change.Column{of("of", change.Raw(`{"b":["2025-01-02","1969-12-31"]}`))}, ImageOptions{AbsentUnavailable: true}, `{"of":{"a":null,"b":["2025-01-02","1969-12-31"]}}`, 0},
		{"texts are escaped", []change.Column{of("tags", change.Raw(`["\"\\\n\u0000ä","",","]`))}, ImageOptions{AbsentUnavailable: true}, `{"tags":["\"\\\n\u0000ä","",","]}`, 0},
		{"bad values are left out", []change.Column{id, of("total", change.Text("infinity")), of("tags", change.Raw("[null]"))}, ImageOptions{AbsentUnavailable: true, LeftOut: new(int)}, `{"id":7}`, 2},
		{"two columns of one name are left out", []change.Column{id, of("total", change.Int64(1)), of("TOTAL", change.Int64(2))}, ImageOptions{AbsentUnavailable: true, LeftOut: new(int)}, `{"id":7}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.NewEncoder().AppendImage([]byte("…"), c.row, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != "…"+c.want {
				t.Errorf("got  %s\nwant …%s", got, c.want)
			}
			if c.o.LeftOut != nil && *c.o.LeftOut != c.left {
				t.Errorf("%d columns are left out, want %d", *c.o.LeftOut, c.left)
			}
		})
	}
	var e *ValueError
	if got, err := p.NewEncoder().AppendImage([]byte("…"), []change.Column{id, of("total", change.Text("infinity"))}, ImageOptions{AbsentUnavailable: true}); !errors.As(err, &e) ||
		e.Reason != ReasonBadValue || e.Column != "total" || string(got) != "…" {
		t.Errorf("a bad value: %s, %v", got, err)
	}
	if _, err := p.NewEncoder().AppendImage(nil, []change.Column{id, of("else", change.Int64(1))}, ImageOptions{}); !errors.As(err, &e) || e.Reason != ReasonUnknownColumn || e.Column != "else" {
		t.Errorf("an unknown column: %v", err)
	}
}

// A key's image is the same however its values are spelled, and in the key's order.
func TestAppendKeyImage(t *testing.T) {
	p, err := Compile(imageTable)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]change.Column{
		{{Name: "id", Value: change.Int64(7)}, {Name: "Line", Value: change.Text("1.50")}},
		{{Name: "LINE", Value: change.Number("15e-1")}, {Name: "ID", Value: change.Text("7")}, {Name: "total", Value: change.Null()}},
	} {
		got, err := p.NewEncoder().AppendKeyImage(nil, row)
		if want := `{"Line":"1.5","id":7}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	var e *ValueError
	if _, err := p.NewEncoder().AppendKeyImage(nil, []change.Column{{Name: "id", Value: change.Int64(7)}}); !errors.As(err, &e) || e.Reason != ReasonMissingKey {
		t.Errorf("a missing key column: %v", err)
	}
}

// An image shows what a reader of the row's bytes finds.
func TestAppendImage_showsTheRow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawColumn(rt, "c", 0)
		p := compile(t, d.column)
		columns := row(change.Column{Name: "c", Value: d.value})
		data, err := p.AppendUpsert(nil, columns, someSequence, RowOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		image, err := p.NewEncoder().AppendImage(nil, columns, ImageOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		if !json.Valid(image) {
			rt.Fatalf("the image is no JSON: %s", image)
		}
		found := read(t, messageType(t, p), data)
		want := `{"id":7,"c":` + imageOf(&d.column, found["c"]) + `}`
		if string(image) != want {
			rt.Fatalf("got  %s\nwant %s", image, want)
		}
	})
}

// imageOf writes what a reader of a row found as an image has it. It shares no code
// with the encoder.
func imageOf(c *table.Column, v any) string {
	if c.Mode == table.Repeated {
		list, _ := v.([]any)
		element := *c
		element.Mode = table.Nullable
		shown := make([]string, len(list))
		for i := range list {
			shown[i] = imageOf(&element, list[i])
		}
		return "[" + strings.Join(shown, ",") + "]"
	}
	if v == nil {
		return "null"
	}
	switch c.Type {
	case table.Date:
		return strconv.Quote(time.Unix(int64(v.(int32))*86400, 0).UTC().Format(time.DateOnly))
	case table.Timestamp:
		return strconv.Quote(imageOfInstant(v.(int64)))
	case table.Float64:
		x := v.(float64)
		switch {
		case math.IsNaN(x), math.IsInf(x, 0):
			return strconv.Quote(strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity").Replace(fmt.Sprint(x)))
		case x == 0 && math.Signbit(x):
			return "-0.0"
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case table.Bytes:
		return strconv.Quote(base64.StdEncoding.EncodeToString(v.([]byte)))
	case table.Range:
		bound := func(name string) string {
			v, ok := v.(map[string]any)[name]
			if !ok {
				return "UNBOUNDED"
			}
			return strings.Trim(imageOf(&table.Column{Type: c.Element}, v), `"`)
		}
		return strconv.Quote("[" + bound("start") + ", " + bound("end") + ")")
	case table.Struct:
		members := make([]string, len(c.Fields))
		for i := range c.Fields {
			members[i] = textImage(c.Fields[i].Name) + ":" + imageOf(&c.Fields[i], v.(map[string]any)[c.Fields[i].Name])
		}
		return "{" + strings.Join(members, ",") + "}"
	case table.Bool, table.Int64:
		return fmt.Sprint(v)
	default:
		return textImage(v.(string))
	}
}

func imageOfInstant(micros int64) string {
	text := time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000")
	return strings.TrimSuffix(text, ".000000") + "Z"
}

func textImage(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return string(quoted)
}
