package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// anySequence stands in rows that are encoded to be compared.
var anySequence = change.NewSequence(0, 0, 0, 0)

// SourceRow encodes a source's row as the pipeline would. A row that it would refuse
// is no error, unless it has no key that can be told.
func (t *Table) SourceRow(columns []change.Column) (Row, error) {
	return t.row(t.source, columns)
}

// BigQueryRow encodes a row of BigQuery's.
func (t *Table) BigQueryRow(columns []change.Column) (Row, error) {
	r, err := t.row(t.plain, columns)
	if err == nil && r.Refused != nil {
		return Row{}, r.Refused // what is in BigQuery can be encoded
	}
	return r, err
}

func (t *Table) row(encoder *rowproto.Encoder, columns []change.Column) (Row, error) {
	encoded, err := encoder.AppendKey(nil, columns)
	if err != nil {
		return Row{}, err
	}
	r := Row{Columns: columns}
	if r.Key, err = newKey(encoded); err != nil {
		return Row{}, err
	}
	row, err := encoder.AppendUpsert(nil, columns, anySequence, rowproto.RowOptions{})
	if refused, ok := errors.AsType[*rowproto.ValueError](err); ok {
		r.Refused = refused
		return r, nil
	}
	if err != nil {
		return Row{}, err
	}
	r.fields = make([][]byte, len(t.Columns))
	for len(row) > 0 {
		number, _, n := protowire.ConsumeField(row)
		if n < 0 {
			return Row{}, protowire.ParseError(n)
		}
		if i := int(number) - 1; i < len(r.fields) { // the pseudo-columns' numbers are beyond
			r.fields[i] = append(r.fields[i], row[:n]...)
		}
		row = row[n:]
	}
	return r, nil
}

// Differing returns the names of the columns in which a source's encoded row and BigQuery's
// differ.
func (t *Table) Differing(a, b *Row) []string {
	var names []string
	for i := range t.Columns {
		if !t.Columns[i].same(a.fields[i], b.fields[i]) {
			names = append(names, t.Columns[i].Name)
		}
	}
	return names
}

// same compares two encoded fields of the column, the source's and BigQuery's.
func (c *Column) same(a, b []byte) bool {
	switch {
	case bytes.Equal(a, b):
		return true
	case len(a) == 0 || len(b) == 0: // one is NULL
		return false
	}
	switch {
	case c.Type == table.JSON:
		return slices.EqualFunc(contents(a), contents(b), sameJSON)
	case c.Type == table.Geography:
		return slices.EqualFunc(contents(a), contents(b), sameGeography)
	case c.Type == table.Float64 && c.Mode != table.Repeated:
		return sameFloat(a, b)
	case c.Type == table.Interval && c.Spans:
		return slices.EqualFunc(contents(a), contents(b), sameSpan)
	case c.Bits:
		x, y := contents(a), contents(b)
		return len(x) == 1 && len(y) == 1 && bytes.Equal(bytes.TrimRight(x[0], "\x00"), bytes.TrimRight(y[0], "\x00"))
	case c.Type == table.Struct || c.Type == table.Range || c.Mode == table.Repeated:
		return false
	default:
		return false
	}
}

// contents returns what a length-delimited field holds, of each of its elements.
func contents(field []byte) [][]byte {
	var all [][]byte
	for len(field) > 0 {
		_, wire, n := protowire.ConsumeTag(field)
		if n < 0 || wire != protowire.BytesType {
			return nil
		}
		content, m := protowire.ConsumeBytes(field[n:])
		if m < 0 {
			return nil
		}
		all, field = append(all, content), field[n+m:]
	}
	return all
}

// sameFloat: bits differ for -0 and 0, and among the NaNs.
func sameFloat(a, b []byte) bool {
	number := func(field []byte) float64 {
		_, _, n := protowire.ConsumeTag(field)
		bits, _ := protowire.ConsumeFixed64(field[n:])
		return math.Float64frombits(bits)
	}
	x, y := number(a), number(b)
	return x == y || x != x && y != y // NaN alone differs from itself
}

// sameGeography compares texts without regard to blanks and case: POINT(1 2) is
// point (1 2). BigQuery also begins polygons elsewhere and turns them around, which
// isn't undone here.
func sameGeography(a, b []byte) bool {
	plain := func(text []byte) string {
		text = bytes.ToUpper(bytes.Join(bytes.Fields(text), []byte(" ")))
		return strings.NewReplacer(" (", "(", "( ", "(", " )", ")", ", ", ",", " ,", ",").Replace(string(text))
	}
	return plain(a) == plain(b)
}

// sameJSON compares two documents by what they mean: the order of members doesn't
// count, and numbers are equal where BigQuery's are, as integers or as doubles.
func sameJSON(a, b []byte) bool {
	x, okX := document(a)
	y, okY := document(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func document(text []byte) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil, false
	}
	return numbered(v), true
}

// numbered replaces literals by numbers that are equal where the values are.
func numbered(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := new(big.Int).SetString(string(v), 10); ok && n.IsInt64() {
			return n.Int64()
		} else if ok && n.IsUint64() {
			return n.Uint64()
		}
		f, _ := v.Float64()
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 { // 1.0 is 1
			return int64(f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbered(v[name])
		}
	}
	return v
}
