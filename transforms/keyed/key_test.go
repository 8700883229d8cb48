package keyed

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// linesPlan is a table whose key has two columns, in another order than the rows have them.
func linesPlan(t testing.TB) *rowproto.Plan {
	t.Helper()
	plan, err := rowproto.Compile(&table.Table{
		Name: table.Name{Project: "demo", Dataset: "shop", Table: "lines"},
		Columns: []table.Column{
			{Name: "line", Type: table.Int64}, {Name: "order_id", Type: table.Int64}, {Name: "sku", Type: table.String}, {Name: "qty", Type: table.Int64},
		},
		PrimaryKey: []string{"order_id", "line"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// row reads "name=value …": whole numbers are numbers, "null" and "?" are NULL
// and unavailable, the rest is text.
func row(text string) []change.Column {
	if text == "" {
		return nil
	}
	var columns []change.Column
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		v := change.Text(value)
		switch {
		case value == "null":
			v = change.Null()
		case value == "?":
			v = change.Unavailable()
		case value != "" && strings.Trim(value, "0123456789.") == "":
			v = change.Number(value)
		}
		columns = append(columns, change.Column{Name: name, Value: v})
	}
	return columns
}

// show renders row changes as "DELETE order_id=1 line=2 @1/2/3/0 [parts]".
func show(changes []rowChange, key []string) string {
	var lines []string
	for _, c := range changes {
		var b strings.Builder
		b.WriteString(c.kind.String())
		for _, name := range key {
			v, _ := find(c.columns, name)
			fmt.Fprintf(&b, " %s=%s", name, v.Text())
		}
		fmt.Fprintf(&b, " @%v", c.sequence)
		for _, r := range c.receipts {
			fmt.Fprintf(&b, " %d/%d", r.Part, r.Parts)
		}
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "; ")
}

func TestKeyer_split(t *testing.T) {
	plan := linesPlan(t)
	for _, test := range []struct {
		name                string
		op                  change.Op
		key, before, after  string
		complete            bool
		parts               uint32
		want                string // row changes
		wantReason, wantErr string
	}{
		{name: "create", op: change.OpCreate, after: "order_id=1 line=2 sku=a", want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1"},
		{name: "snapshot", op: change.OpSnapshot, after: "line=2 order_id=1", want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1"},
		{name: "update without a before image", op: change.OpUpdate, after: "order_id=1 line=2", want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1"},
		{
			name: "update that keeps the key", op: change.OpUpdate, before: "order_id=1 line=2 qty=1", after: "order_id=1 line=2 qty=2",
			want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1",
		},
		{
			name: "the same key, spelled differently", op: change.OpUpdate, before: "order_id=1.0 line=2", after: "order_id=1 line=2.00",
			want: "UPSERT order_id=1 line=2.00 @7/5/5/1 0/1",
		},
		{
			name: "changed key", op: change.OpUpdate, before: "order_id=1 line=2", after: "order_id=1 line=3",
			want: "DELETE order_id=1 line=2 @7/5/5/0 0/2; UPSERT order_id=1 line=3 @7/5/5/1 1/2",
		},
		{
			name: "changed key, in a message of several changes", op: change.OpUpdate, before: "order_id=1 line=2", after: "order_id=1 line=3", parts: 2,
			want: "DELETE order_id=1 line=2 @7/5/5/0 0/4; UPSERT order_id=1 line=3 @7/5/5/1 1/4",
		},
		{
			name: "unchanged key, in a message of several changes", op: change.OpUpdate, after: "order_id=1 line=3", parts: 2,
			want: "UPSERT order_id=1 line=3 @7/5/5/1 0/4 1/4",
		},
		{
			name: "a before image with the changed key column alone", op: change.OpUpdate, before: "line=2", after: "order_id=1 line=3",
			want: "DELETE order_id=1 line=2 @7/5/5/0 0/2; UPSERT order_id=1 line=3 @7/5/5/1 1/2",
		},
		{
			name: "a before image that leaves the key out", op: change.OpUpdate, before: "qty=2", after: "order_id=1 line=3",
			want: "UPSERT order_id=1 line=3 @7/5/5/1 0/1",
		},
		{
			name: "an old key that BigQuery can't hold was never there", op: change.OpUpdate, before: "order_id=x line=2", after: "order_id=1 line=2",
			want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1",
		},
		{
			name: "an old key that the source left out", op: change.OpUpdate, before: "order_id=? line=2", after: "order_id=1 line=2",
			want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1",
		},
		{
			name: "zero in an incomplete image is no old key, for a column that is not of the source's key",
			op:   change.OpUpdate, key: "order_id=1", before: "order_id=1 line=0", after: "order_id=1 line=2",
			want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1",
		},
		{
			name: "zero in a complete image is an old key", complete: true,
			op: change.OpUpdate, key: "order_id=1", before: "order_id=1 line=0", after: "order_id=1 line=2",
			want: "DELETE order_id=1 line=0 @7/5/5/0 0/2; UPSERT order_id=1 line=2 @7/5/5/1 1/2",
		},
		{name: "names know no case", op: change.OpCreate, after: "ORDER_ID=1 Line=2", want: "UPSERT order_id=1 line=2 @7/5/5/1 0/1"},
		{name: "missing key", op: change.OpCreate, after: "order_id=1", wantReason: rowproto.ReasonMissingKey, wantErr: "column line"},
		{name: "NULL key", op: change.OpUpdate, after: "order_id=1 line=null", wantReason: rowproto.ReasonMissingKey, wantErr: "column line"},
		{name: "unavailable key", op: change.OpUpdate, after: "order_id=1 line=?", wantReason: rowproto.ReasonUnavailable, wantErr: "column line"},
		{name: "bad key", op: change.OpUpdate, after: "order_id=1 line=x", wantReason: rowproto.ReasonBadValue, wantErr: "column line"},
		{name: "a key that is there twice", op: change.OpUpdate, after: "order_id=1 line=1 LINE=2", wantReason: rowproto.ReasonAmbiguous, wantErr: "column line"},
		{name: "delete, a key that is there twice", op: change.OpDelete, before: "order_id=1 LINE=2 line=1", wantReason: rowproto.ReasonAmbiguous, wantErr: "column line"},
		{name: "delete by a key that is there twice", op: change.OpDelete, key: "order_id=1 LINE=2 line=1", wantReason: rowproto.ReasonAmbiguous, wantErr: "column line"},
		{name: "delete by the message's key", op: change.OpDelete, key: "line=2 order_id=1", want: "DELETE order_id=1 line=2 @7/5/5/1 0/1"},
		{name: "delete by the before image", op: change.OpDelete, before: "order_id=1 line=2 sku=a", want: "DELETE order_id=1 line=2 @7/5/5/1 0/1"},
		{
			name: "delete by an image of key columns and zero values", op: change.OpDelete, key: "order_id=1 line=0",
			before: "order_id=1 line=0 sku= qty=0", want: "DELETE order_id=1 line=0 @7/5/5/1 0/1",
		},
		{
			name: "delete by an image whose NULLs mean nothing", op: change.OpDelete, key: "order_id=1 line=2",
			before: "order_id=null line=null", want: "DELETE order_id=1 line=2 @7/5/5/1 0/1",
		},
		{
			name: "delete whose image may hold a zero for want of the value", op: change.OpDelete, key: "order_id=1",
			before: "order_id=1 line=0", wantReason: rowproto.ReasonMissingKey, wantErr: "column line",
		},
		{
			name: "the same, complete", op: change.OpDelete, key: "order_id=1", complete: true,
			before: "order_id=1 line=0", want: "DELETE order_id=1 line=0 @7/5/5/1 0/1",
		},
		{
			name: "delete whose image has a value that a source does not make up", op: change.OpDelete, key: "order_id=1",
			before: "order_id=1 line=2", want: "DELETE order_id=1 line=2 @7/5/5/1 0/1",
		},
		{name: "delete without a key", op: change.OpDelete, wantReason: rowproto.ReasonMissingKey, wantErr: "column order_id"},
		{name: "truncate", op: change.OpTruncate, wantReason: ReasonTruncate, wantErr: "truncated at 0/50"},
		{name: "no operation", wantReason: ReasonBadOperation, wantErr: "invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &change.Event{
				Message: change.Message{Token: 9}, Parts: max(1, test.parts), Op: test.op, Key: row(test.key), Before: row(test.before),
				BeforeComplete: test.complete, After: row(test.after), Position: "0/50",
			}
			k := newKeyer(plan)
			changes, err := k.split(e, change.NewSequence(7, 5, 5, 1), true, deadletter.Receipts(&e.Message, e.Part, e.Parts))
			if test.wantReason == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := show(changes, plan.Table().PrimaryKey); got != test.want {
					t.Errorf("split = %s\nwant    %s", got, test.want)
				}
				return
			}
			var r *refusal
			if !errors.As(err, &r) || r.reason != test.wantReason || r.stage != StageKey {
				t.Fatalf("split = %v, want a refusal with reason %s", err, test.wantReason)
			}
			if !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error %q does not contain %q", err, test.wantErr)
			}
		})
	}
}

// Two deliveries of a key in other spellings must be rows of one key.
func TestKeyer_split_keysAreCanonical(t *testing.T) {
	k := newKeyer(linesPlan(t))
	var keys [][]byte
	for _, e := range []change.Event{
		{Op: change.OpCreate, After: row("order_id=1 line=2")},
		{Op: change.OpCreate, After: row("line=2.0 sku=x order_id=1.00")},
		{Op: change.OpDelete, Key: row("Order_ID=1 LINE=2")},
		{Op: change.OpDelete, Before: row("line=2 order_id=1")},
	} {
		changes, err := k.split(&e, change.NewSequence(0, 1, 1, 1), true, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, append([]byte(nil), changes[0].key...))
	}
	for _, key := range keys[1:] {
		if diff := cmp.Diff(keys[0], key); diff != "" {
			t.Errorf("keys of one row differ:\n%s", diff)
		}
	}
}

func destinationOf(plan *rowproto.Plan) *destination {
	return &destination{
		Destination: &catalog.Destination{Rule: &table.Rule{}, Table: plan.Table(), Plan: plan},
		name:        plan.Table().Name.String(), keyer: newKeyer(plan),
	}
}
