package cost

import (
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/cmd/cdc/internal/ddl"
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
)

func row(at float64, key string, sequence uint64, bytes int) sampled {
	return sampled{
		time.Unix(0, int64(at*1e9)), key,
		change.Row{Type: change.Upsert, Sequence: change.NewSequence(sequence), Data: make([]byte, bytes)},
	}
}

// Of each key and window the row with the highest sequence is left, whatever came last.
func TestCoalesced(t *testing.T) {
	rows := []sampled{row(0, "a", 1, 10), row(1, "a", 3, 20), row(4, "a", 2, 40), row(4.5, "b", 1, 80), row(6, "a", 4, 160)}
	for window, want := range map[time.Duration]Load{
		time.Second:      {5, 310},
		2 * time.Second:  {4, 300}, // the first two of a are in one
		5 * time.Second:  {3, 260}, // the first three are: 20, 80, 160
		10 * time.Second: {2, 240},
	} {
		got := coalesced(rows, window, 10*time.Second)
		near(t, fmt.Sprintf("rows of %v", window), got.Rows, want.Rows/10)
		near(t, fmt.Sprintf("bytes of %v", window), got.Bytes, want.Bytes/10)
	}
}

// message is one of Debezium's.
func message(op, before, after string, lsn, millis int) *pubsubpb.PubsubMessage {
	return &pubsubpb.PubsubMessage{Data: fmt.Appendf(nil,
		`{"before":%s,"after":%s,"source":{"connector":"postgresql","ts_ms":%d,"db":"d","schema":"public","table":"t","lsn":%d,"sequence":"[null,\"%d\"]","txId":1},"op":%q}`,
		before, after, millis, lsn, lsn, op)}
}

func TestTake(t *testing.T) {
	decoder, err := envelope.New(envelope.Options{Format: "debezium"})
	if err != nil {
		t.Fatal(err)
	}
	name := table.Name{Project: "p", Dataset: "d", Table: "t"}
	tables := map[string]*table.Table{"public.t": {
		Name: name, PrimaryKey: []string{"id"},
		Columns: []table.Column{{Name: "id", Type: table.Int64}, {Name: "v", Type: table.String}},
	}}
	messages := []*pubsubpb.PubsubMessage{
		message("c", "null", `{"id":1,"v":"a"}`, 16, 1000),
		message("u", "null", `{"id":1,"v":"abc"}`, 32, 2000),
		message("u", `{"id":1,"v":"abc"}`, `{"id":2,"v":"abc"}`, 48, 3000), // two rows
		message("d", `{"id":2,"v":"abc"}`, "null", 64, 11000),
		message("c", "null", `{"id":1.5,"v":"x"}`, 80, 11000), // no key
		{Data: []byte("{")},
	}
	s, err := take(messages, decoder, tables)
	if err != nil {
		t.Fatal(err)
	}
	rows := s.tables[name]
	if len(rows) != 5 || s.events != 4 || len(s.refused) != 2 {
		t.Fatalf("%d rows of %d changes, refused %v", len(rows), s.events, s.refused)
	}
	kinds := ""
	for i := range rows {
		kinds += map[change.Type]string{change.Upsert: "U", change.Delete: "D"}[rows[i].row.Type]
	}
	if kinds != "UUDUD" || rows[0].key != rows[2].key || rows[3].key != rows[4].key || rows[0].key == rows[3].key {
		t.Errorf("the rows are %s", kinds)
	}
	if two, one := len(rows[1].row.Data), len(rows[0].row.Data); two != one+2 {
		t.Errorf("two characters more are %d bytes more", two-one)
	}
	span, err := s.arrive(0)
	if err != nil || span != 10*time.Second {
		t.Fatalf("the span is %v, %v", span, err)
	}
	traffic := s.traffic(span)
	near(t, "rows", traffic[0].Before.Rows, 0.5)
	near(t, "rows of a window of 4 s", traffic[0].After(4*time.Second).Rows, 0.3) // key 1 and key 2 once, and the delete
	if span, err := s.arrive(time.Minute); err != nil || span != time.Minute || rows[4].at.Sub(rows[0].at) != 48*time.Second {
		t.Errorf("evenly: %v, %v, the last after %v", span, err, rows[4].at.Sub(rows[0].at))
	}
}

// The tables that `cdc ddl` makes for real messages take every row of them.
func TestTake_captured(t *testing.T) {
	for _, file := range []string{"debezium_postgres_schemas", "debezium_mariadb_schemas"} {
		t.Run(file, func(t *testing.T) {
			decoder, err := envelope.New(envelope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			messages, err := ddl.OpenMessages("../../../../tests/e2e/databases/testdata/captured/"+file+".jsonl", nil)
			if err != nil {
				t.Fatal(err)
			}
			router, err := table.NewRouter("demo", []table.Rule{{Source: "*.*", Destination: "mirror.{table}", UnknownColumns: "add"}})
			if err != nil {
				t.Fatal(err)
			}
			tables, notes, err := ddl.Implied(messages, decoder, router)
			if err != nil || len(notes) > 0 {
				t.Fatalf("%q, %v", notes, err)
			}
			s, err := take(messages, decoder, tables)
			if err != nil || len(s.refused) > 0 || s.events < 10 {
				t.Errorf("%d changes, refused %v, %v", s.events, s.refused, err)
			}
		})
	}
}
