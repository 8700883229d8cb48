package keyed

import (
	"errors"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestOrder_of(t *testing.T) {
	for _, test := range []struct {
		name                 string
		rule                 table.Rule
		op                   change.Op
		sequence             change.Sequence
		want                 string
		wantFixed            bool // the last bit isn't an ordinal
		wantReason, wantText string
	}{
		{name: "the position's", sequence: change.NewSequence(7, 5, 5, 1), want: "7/5/5/1"},
		{name: "no position", wantReason: ReasonNoPosition, wantText: "no lsn"},
		{name: "no position, by arrival", rule: table.Rule{MissingPositions: "arrival"}, want: "7/55/2A/7"},
		{name: "no position, by arrival, a delete", rule: table.Rule{MissingPositions: "arrival"}, op: change.OpDelete, want: "7/55/2A/6"},
		{name: "a position beside some by arrival", rule: table.Rule{MissingPositions: "arrival"}, sequence: change.NewSequence(7, 5, 5, 1), want: "7/5/5/1"},
		{name: "tombstones delete: all by arrival", rule: table.Rule{Tombstones: "delete"}, sequence: change.NewSequence(7, 5, 5, 1), want: "7/55/2A/7"},
		{name: "expression", rule: table.Rule{Sequence: "after.version"}, sequence: change.NewSequence(7, 5, 5, 1), want: "FF", wantFixed: true},
		{name: "expression that fails", rule: table.Rule{Sequence: "after.absent"}, sequence: change.NewSequence(7, 5, 5, 1), wantReason: ReasonBadSequence, wantText: "no such key: absent"},
		{name: "a truncate that is refused needs none", op: change.OpTruncate, want: ""},
		{name: "a truncate's position", rule: table.Rule{Truncates: "delete_keys"}, op: change.OpTruncate, sequence: change.NewSequence(7, 5, 5, 1), want: "7/5/5/1"},
		{name: "a truncate without a position", rule: table.Rule{Truncates: "delete_keys"}, op: change.OpTruncate, wantReason: ReasonNoPosition, wantText: "no lsn"},
		{name: "a truncate by arrival", rule: table.Rule{Truncates: "delete_keys", MissingPositions: "arrival"}, op: change.OpTruncate, want: "7/55/2A/7"},
		{name: "a truncate where tombstones delete", rule: table.Rule{Truncates: "delete_keys", Tombstones: "delete"}, op: change.OpTruncate, sequence: change.NewSequence(7, 5, 5, 1), want: "7/55/2A/7"},
		{name: "a truncate by an expression", rule: table.Rule{Truncates: "delete_keys", Sequence: "after.version"}, op: change.OpTruncate, want: "FF", wantFixed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, err := newOrder(&test.rule, 7)
			if err != nil {
				t.Fatal(err)
			}
			e := change.Event{
				Message: change.Message{ID: "m42", PublishTime: time.UnixMicro(0x55)}, Part: 3, Parts: 4,
				Op: max(test.op, change.OpCreate), Sequence: test.sequence, Position: "no lsn", After: row("version=255"),
			}
			sequence, ordinal, err := o.of(&e)
			var r *refusal
			if errors.As(err, &r); test.wantReason != "" {
				if r == nil || r.reason != test.wantReason || !strings.Contains(err.Error(), test.wantText) {
					t.Fatalf("error %v, want a refusal with reason %s and %q", err, test.wantReason, test.wantText)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if sequence.String() != test.want || ordinal == test.wantFixed {
				t.Errorf("sequence %s, ordinal %v, want %s, %v", sequence, ordinal, test.want, !test.wantFixed)
			}
		})
	}
}

// Messages of one microsecond are ordered by their IDs, as numbers; an ID without
// one has an order too, the same each time.
func TestIDNumber(t *testing.T) {
	for id, want := range map[string]uint64{"m9": 9, "m10": 10, "11718232412": 11718232412, "0": 0} {
		if got := idNumber(id); got != want {
			t.Errorf("idNumber(%q) = %d, want %d", id, got, want)
		}
	}
	if first, again := idNumber(""), idNumber(""); first != again || idNumber("a") == idNumber("b") || idNumber("99999999999999999999") == 0 {
		t.Error("IDs without a number of 64 bits have no order of their own")
	}
}

func TestNewOrder_badExpression(t *testing.T) {
	if _, err := newOrder(&table.Rule{Sequence: "after."}, 0); err == nil {
		t.Error("an expression that doesn't parse was taken")
	}
}

func TestKeyer_split_sequenceOfTheUsers(t *testing.T) {
	k := newKeyer(linesPlan(t))
	e := change.Event{Op: change.OpUpdate, Before: row("order_id=1 line=2"), After: row("order_id=1 line=3")}
	changes, err := k.split(&e, change.NewSequence(255), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(changes, k.key), "DELETE order_id=1 line=2 @FF ; UPSERT order_id=1 line=3 @FF "; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("split = %s, want %s", got, want)
	}
}
