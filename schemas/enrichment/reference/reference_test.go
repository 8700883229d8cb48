package reference_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment/reference"
)

func show(values []change.Value) string {
	var parts []string
	for _, v := range values {
		switch v.Kind() {
		case change.KindNull:
			parts = append(parts, "NULL")
		case change.KindFloat64:
			parts = append(parts, fmt.Sprintf("%s %v", v.Kind(), v.Float()))
		case change.KindBool, change.KindInt64, change.KindDate, change.KindTime, change.KindDateTime, change.KindTimestamp, change.KindUint64:
			parts = append(parts, fmt.Sprintf("%s %d", v.Kind(), v.Int()))
		default:
			parts = append(parts, fmt.Sprintf("%s %q", v.Kind(), v.Text()))
		}
	}
	return strings.Join(parts, ", ")
}

// rows collects what a reader passes on.
func rows(read func(each func([]change.Value) error) error) (string, error) {
	var got []string
	err := read(func(values []change.Value) error { got = append(got, show(values)); return nil })
	return strings.Join(got, "; "), err
}

func TestCSV(t *testing.T) {
	for _, c := range []struct{ file, nulls, want string }{
		{"id,name\n1,Ann\n2,\n", "", `text "1", text "Ann"; text "2", NULL`},
		{"\uFEFFNAME,other,ID\r\n\"a \"\"b\"\"\n c\",x,1\r\n", "", `text "1", text "a \"b\"\n c"`},
		{"id,name\n1,\\N\n2,\n", `\N`, `text "1", NULL; text "2", text ""`},
		{"id,name\n", "", ""},
		{"", "", "✗ it is empty"},
		{"id\n1\n", "", "✗ it has no column name"},
		{"id,name\ns3cret\n", "", "✗ line 2: wrong number of fields"},
		{"id,name\n1,\"s3cret\n", "", "✗ line 2, column 11"},
		{"id,name\n1,\xff\n", "", "✗ line 2, column name: it is not UTF-8"},
	} {
		got, err := rows(func(each func([]change.Value) error) error {
			return reference.CSV(strings.NewReader(c.file), []string{"id", "name"}, c.nulls, each)
		})
		check(t, c.file, got, err, c.want)
	}
}

func check(t *testing.T, what, got string, err error, want string) {
	t.Helper()
	if problem, fails := strings.CutPrefix(want, "✗ "); fails {
		if err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: error %v, want %q", what, err, problem)
		}
	} else if err != nil || got != want {
		t.Errorf("%q gives %s, %v, want %s", what, got, err, want)
	}
}

func TestJSONLines(t *testing.T) {
	for file, want := range map[string]string{
		`{"id":1,"name":"A\u006en"}` + "\n\n" + `{"name":null,"id":12345678901234567890.50}`: `number "1", text "Ann"; number "12345678901234567890.50", NULL`,
		`{"ID":true,"other":{"id":2}}`: `bool 1, NULL`,
		`{"id":[1, 2],"name":{"a":1}}`: `raw "[1, 2]", raw "{\"a\":1}"`,
		``:                             ``,
		`[1]`:                          "✗ row 1: it is no JSON object",
		`{"id":1} s3cret`:              "✗ row 2: at byte 8: it is no JSON object",
		`{"id":s3cret}`:                "✗ row 1: at byte 5",
		`{"id":1,"id":2}`:              "✗ row 1: at byte",
		`{"id":1`:                      "✗ row 1: at byte 7",
	} {
		got, err := rows(func(each func([]change.Value) error) error {
			return reference.JSONLines(strings.NewReader(file), []string{"id", "name"}, each)
		})
		check(t, file, got, err, want)
	}
}

func TestParquet(t *testing.T) {
	type row struct {
		ID      int64     `parquet:"id"`
		Small   int32     `parquet:"small"`
		Big     uint64    `parquet:"big"`
		Name    *string   `parquet:"name,optional"`
		Total   int64     `parquet:"total,decimal(2:18)"`
		Exact   [9]byte   `parquet:"exact,decimal(3:20)"`
		Day     int32     `parquet:"day,date"`
		At      time.Time `parquet:"at,timestamp(nanosecond)"`
		Local   int64     `parquet:"local,timestamp(millisecond:local)"`
		Ok      bool      `parquet:"ok"`
		Ratio   float64   `parquet:"ratio"`
		Raw     []byte    `parquet:"raw"`
		UUID    [16]byte  `parquet:"uuid,uuid"`
		Tags    []string  `parquet:"tags"`
		Skipped string    `parquet:"skipped"`
	}
	name := "Ann"
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, parquet.Compression(&parquet.Zstd))
	for i := range 1000 { // pages and batches end somewhere
		r := row{
			ID: int64(i), Small: -1, Big: 1 << 63, Total: -1205, Exact: [9]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}, Day: 1, At: time.Unix(-1, 999_999_999),
			Local: 1500, Ok: true, Ratio: 0.5, Raw: []byte{0}, UUID: [16]byte{1: 0xAB}, Tags: []string{"a", "b"}[:i%3], Skipped: "x",
		}
		if i%2 == 0 {
			r.Name = &name
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i == 700 {
			if err := w.Flush(); err != nil { // another row group
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(each func([]change.Value) error, names ...string) error {
		return reference.Parquet(bytes.NewReader(file.Bytes()), int64(file.Len()), names, each)
	}
	names := []string{"ID", "small", "big", "name", "total", "exact", "day", "at", "local", "ok", "ratio", "raw", "uuid"}
	const fixed = `decimal "-12.05", decimal "-0.002", date 1, timestamp -1, datetime 1500000, bool 1, float64 0.5, bytes "\x00", string "00ab0000-0000-0000-0000-000000000000"`
	n := 0
	err := read(func(values []change.Value) error {
		name := `string "Ann"`
		if n%2 == 1 {
			name = "NULL"
		}
		if got, want := show(values), fmt.Sprintf("int64 %d, int64 -1, uint64 %d, %s, %s", n, int64(-1<<63), name, fixed); got != want {
			return fmt.Errorf("row %d is %s, want %s", n, got, want)
		}
		n++
		return nil
	}, names...)
	if err != nil || n != 1000 {
		t.Errorf("%d rows, %v", n, err)
	}
	none := func([]change.Value) error { return nil }
	check(t, "lacking", "", read(none, "nothing"), "✗ it has no column nothing")
	check(t, "list", "", read(none, "tags"), "✗ column tags is a list or a group")
	stop := errors.New("stop")
	if err := read(func([]change.Value) error { return stop }, "id"); !errors.Is(err, stop) {
		t.Errorf("the function's error is lost: %v", err)
	}
	check(t, "cut", "", reference.Parquet(bytes.NewReader(file.Bytes()[:100]), 100, names, none), "✗ reading Parquet")
}

// FuzzCSV: no file makes the reader panic, and every row has a value for each column.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,name\n1,Ann\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = reference.CSV(bytes.NewReader(file), []string{"id", "name"}, "", func(values []change.Value) error {
			for _, v := range values {
				if v.Kind() != change.KindNull && v.Kind() != change.KindText {
					t.Errorf("a value is %v", v.Kind())
				}
			}
			return nil
		})
	})
}

// FuzzJSONLines: no file makes the reader panic, and every value can be coded.
func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"Ann"}` + "\n" + `{"id":[{}],"name":null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = reference.JSONLines(bytes.NewReader(file), []string{"id", "name"}, func(values []change.Value) error {
			coded := change.AppendValue(nil, &values[0])
			if _, err := change.ReadValues(coded, make([]change.Value, 1)); err != nil {
				t.Error(err)
			}
			return nil
		})
	})
}
