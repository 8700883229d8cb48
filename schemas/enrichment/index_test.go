package enrichment_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/table"
)

// TestIndex: what was added is found by its key, and nothing else is.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.MapOf(rapid.Int64(), rapid.String()).Draw(t, "rows")
		texts := rapid.Bool().Draw(t, "texts")
		reference := &enrichment.Reference{Key: []table.Column{{Name: "id", Type: table.Int64}}, Texts: []bool{false}, Columns: []string{"name", "n"}}
		if texts {
			reference.Key[0].Type, reference.Texts[0] = table.String, true
		}
		b, err := enrichment.NewBuilder(reference)
		if err != nil {
			t.Fatal(err)
		}
		for id, name := range rows {
			if err := b.Add([]change.Value{change.Text(strconv.FormatInt(id, 10)), change.Text(name), change.Int64(id)}); err != nil {
				t.Fatal(err)
			}
		}
		index := b.Index()
		if index.Rows() != len(rows) {
			t.Fatalf("it has %d rows of %d", index.Rows(), len(rows))
		}
		probe := rapid.Int64().Draw(t, "probe")
		for id := range rows {
			find(t, index, reference, id, rows)
		}
		find(t, index, reference, probe, rows)
	})
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// find looks an id up by way of a plan, as rows are.
func find(t fataler, index *enrichment.Index, reference *enrichment.Reference, id int64, rows map[int64]string) {
	t.Helper()
	key, err := enrichment.KeyOf(reference, change.Int64(id))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]change.Value, 2)
	want, there := rows[id]
	if found := index.Find(key, values); found != there {
		t.Fatalf("%d is found: %v", id, found)
	} else if found && (values[0].Text() != want || values[1].Int() != id) {
		t.Fatalf("%d has the row of another: %q", id, values[0].Text())
	}
}

func TestBuilder_Add_errors(t *testing.T) {
	reference := &enrichment.Reference{
		Key:   []table.Column{{Name: "id", Type: table.Int64}, {Name: "region", Type: table.String}},
		Texts: []bool{false, false}, Columns: []string{"name"},
	}
	row := func(id, region, name string) []change.Value {
		return []change.Value{change.Text(id), change.Text(region), change.Text(name)}
	}
	for _, c := range []struct {
		rows [][]change.Value
		want string
	}{
		{[][]change.Value{row("41", "s3cret", "a"), row("042", "s3cret", "a"), row("42", "s3cret", "b")}, "row 3: there is another row with the same key (id, region)"},
		{[][]change.Value{row("s3cret", "x", "a")}, "row 1: column id: the text is no decimal number"},
		{[][]change.Value{row("1", "x", strings.Repeat("s3cret", 200_000))}, "row 1: its key and columns take more than a megabyte"},
		{[][]change.Value{row("1", "x", "a")[:2]}, "row 1: it has 2 values where 3 are asked for"},
	} {
		b, err := enrichment.NewBuilder(reference)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.rows {
			if err = b.Add(r); err != nil {
				break
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %.200v, want %s", err, c.want)
		}
	}
}

const million = 1_000_000

// bigIndex is of a million customers, each with a name, a segment and an e-mail address.
func bigIndex(t testing.TB) (*enrichment.Index, *enrichment.Reference) {
	t.Helper()
	reference := &enrichment.Reference{Key: []table.Column{{Name: "id", Type: table.Int64}}, Texts: []bool{false}, Columns: []string{"name", "segment", "email"}}
	b, err := enrichment.NewBuilder(reference)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(million) {
		if err := b.Add([]change.Value{
			change.Int64(i * 7), change.Text("Customer number " + strconv.FormatInt(i, 10)), change.Text([]string{"retail", "wholesale"}[i%2]),
			change.Text("customer." + strconv.FormatInt(i, 10) + "@example.com"),
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Index(), reference
}

// TestIndex_million: a reference of a million rows fits in 300 MB, building it
// included. That a lookup in it takes less than a microsecond the benchmark tells.
func TestIndex_million(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a million rows")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	index, _ := bigIndex(t)
	runtime.ReadMemStats(&after)
	inUse := float64(after.HeapInuse-before.HeapInuse) / (1 << 20)
	t.Logf("%d rows in %.0f MB (%.0f MB of heap with what building left), built in %v", index.Rows(), float64(index.Bytes())/(1<<20), inUse, time.Since(start))
	if index.Rows() != million || inUse > 300 || index.Bytes() > 300<<20 {
		t.Errorf("%d rows take %.0f MB", index.Rows(), inUse)
	}
	runtime.KeepAlive(index)
}

func BenchmarkIndex_Find(b *testing.B) {
	index, reference := bigIndex(b)
	keys := make([][]byte, 1<<16)
	for i := range keys {
		key, err := enrichment.KeyOf(reference, change.Int64(int64(i)*104_729%million*7))
		if err != nil {
			b.Fatal(err)
		}
		keys[i] = key
	}
	values := make([]change.Value, 3)
	for i := 0; b.Loop(); i++ {
		if !index.Find(keys[i%len(keys)], values) {
			b.Fatal("it is not found")
		}
	}
}

// BenchmarkMap_lookup is the least that a lookup of a million rows can take in Go: the
// same keys in a map, with what Find reads of a row left out. What it says of a machine,
// BenchmarkIndex_Find is to be held against.
func BenchmarkMap_lookup(b *testing.B) {
	_, reference := bigIndex(b)
	keyOf := func(i int) string {
		key, err := enrichment.KeyOf(reference, change.Int64(int64(i)*7))
		if err != nil {
			b.Fatal(err)
		}
		return string(key)
	}
	of := make(map[string][]change.Value, million)
	for i := range million {
		of[keyOf(i)] = []change.Value{change.Text("Customer number " + strconv.Itoa(i)), change.Text("retail"), change.Text("customer." + strconv.Itoa(i) + "@example.com")}
	}
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = []byte(keyOf(i * 104_729 % million))
	}
	values := make([]change.Value, 3)
	for i := 0; b.Loop(); i++ {
		if copy(values, of[string(keys[i%len(keys)])]) != len(values) {
			b.Fatal("it is not found")
		}
	}
}

// BenchmarkEnricher_Row is what a step costs a row. Beside "nothing", a step that
// does nothing to it, stands what the steps cost by themselves.
func BenchmarkEnricher_Row(b *testing.B) {
	for _, c := range []struct {
		name string
		step table.Step
	}{
		{"nothing", drop("nothing")},
		{"set", set("gross", `row.total * decimal("1.19")`)},
		{"where", where(`row.status != "draft"`)},
		{"lookup", lookup("")},
		{"metadata", metadata("at", "commit_time", "note", "sequence")},
		{"rename", rename("doc", "note")},
		{"mask_sha256", mask(table.MaskSHA256, 0, "email")},
		{"mask_aes_siv", mask(table.MaskAESSIV, 0, "email")},
		{"mask_last", mask(table.MaskLast, 4, "email")},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := enricher(b, c.step)
			of := event()
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := e.Row(of, of.After, of.Sequence); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("encode", func(b *testing.B) { // the same row without enrichment, to compare with
		encoder := orders(b, column("doc", "STRING")).NewEncoder()
		of := event()
		row := append(slices.Clone(of.After[:6]), change.Column{Name: "doc", Value: change.Text("x")}, change.Column{Name: "must", Value: change.Text("x")})
		row[5].Value = change.Date(1)
		var data []byte
		b.ReportAllocs()
		for b.Loop() {
			var err error
			if data, err = encoder.AppendKey(data[:0], row); err == nil {
				data, err = encoder.AppendUpsert(data[:0], row, of.Sequence, rowOptions)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(fmt.Sprintf("lookup_of_%d", million), func(b *testing.B) {
		plan, problems := enrichment.Compile([]table.Step{{Lookup: &table.Lookup{
			CSV: "x.csv", Key: []table.ColumnPair{{Column: "customer_id", Reference: "id"}},
			Columns: []table.ColumnPair{{Column: "name", Reference: "name"}, {Column: "region", Reference: "segment"}, {Column: "note", Reference: "email"}},
		}}}, orders(b), false)
		if problems != nil {
			b.Fatal(problems)
		}
		index, _ := bigIndex(b)
		e, err := plan.NewEnricher([]func() *enrichment.Index{func() *enrichment.Index { return index }}, nil)
		if err != nil {
			b.Fatal(err)
		}
		of := event()
		b.ReportAllocs()
		for i := int64(0); b.Loop(); i++ {
			of.After[1].Value = change.Int64(i * 104_729 % million * 7)
			if _, _, err := e.Row(of, of.After, of.Sequence); err != nil {
				b.Fatal(err)
			}
		}
	})
}
