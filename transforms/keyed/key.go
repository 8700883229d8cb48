package keyed

import (
	"bytes"
	"strings"

	"google.golang.org/protobuf/proto"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/enrich"
)

// rowChange is one row's change in its table's terms.
type rowChange struct {
	kind     change.Type
	key      []byte          // the key's canonical bytes
	columns  []change.Column // of an UPSERT the row, of a DELETE the key columns
	sequence change.Sequence
	receipts []change.Receipt // the units of the message that rest with it
	past     []change.Receipt // and those that rest with its row in the table's history, where that has one
	revision uint32           // of a completed row; see Completes
	checked  bool             // it is encoded to see whether it can be, as far as it is complete
	cause    *change.Message  // that had it made, where that is not its event's; nil else
}

// keyer finds the keys of one table's changes. It is for one goroutine, and its
// results are good until its next call.
type keyer struct {
	plan    *rowproto.Plan
	key     []string // the key columns
	encoder *rowproto.Encoder
	old     *rowproto.Encoder // of before images, so that each remembers one order of columns

	enricher *enrich.Rows // where the rule's steps rename or mask a column of the key; nil else

	descriptor int // bytes of the plan's; 0 before they are asked for

	changes        []rowChange
	newKey, oldKey []byte
	columns        []change.Column
}

func newKeyer(plan *rowproto.Plan) *keyer {
	return &keyer{plan: plan, key: plan.Table().PrimaryKey, encoder: plan.NewEncoder(), old: plan.NewEncoder()}
}

// described is about the size of what a connection's first request has besides its
// rows, in bytes. What fits by some hundred bytes too little, the writer refuses.
func (k *keyer) described() int {
	if k.descriptor == 0 {
		k.descriptor = proto.Size(k.plan.Descriptor())
	}
	return k.descriptor
}

// split returns the row changes that an event makes: one, or, where it changes
// the row's key, a DELETE of the old key and an UPSERT of the new one. ordinal
// says that the sequence's last bit is free to put the one before the other. The
// errors are refusals.
func (k *keyer) split(e *change.Event, sequence change.Sequence, ordinal bool, receipts []change.Receipt) ([]rowChange, error) {
	k.changes = k.changes[:0]
	var err error
	switch e.Op {
	case change.OpCreate, change.OpUpdate, change.OpSnapshot:
		image, err := k.keyImage(e.After)
		if err != nil {
			return nil, err
		}
		if k.newKey, err = k.encoder.AppendKey(k.newKey[:0], image); err != nil {
			return nil, refuseValue(StageKey, err)
		}
		if e.Op == change.OpUpdate && k.keyBefore(e) {
			first, second := deadletter.Halves(receipts)
			before := sequence
			if ordinal {
				// The old key's DELETE comes before the new key's UPSERT, whichever the two
				// keys turn out to be in BigQuery. A sequence of the user's own is left as it
				// is: a lower one could be that of an earlier change of the old key.
				before = sequence.WithLast(sequence.Last() &^ 1)
			}
			k.changes = append(k.changes, rowChange{
				kind: change.Delete, key: k.oldKey, columns: k.columns, sequence: before, receipts: first,
			})
			receipts = second
		}
		k.changes = append(k.changes, rowChange{kind: change.Upsert, key: k.newKey, columns: e.After, sequence: sequence, receipts: receipts})
	case change.OpDelete:
		if err := k.keyOfDelete(e); err != nil {
			return nil, err
		}
		if k.newKey, err = k.old.AppendKey(k.newKey[:0], k.columns); err != nil {
			return nil, refuseValue(StageKey, err)
		}
		k.changes = append(k.changes, rowChange{kind: change.Delete, key: k.newKey, columns: k.columns, sequence: sequence, receipts: receipts})
	case change.OpTruncate:
		return nil, refuse(StageKey, ReasonTruncate, "the source's table was truncated at %.100s: BigQuery takes no TRUNCATE in a change stream; `truncates: delete_keys` deletes the rows", e.Position)
	default:
		return nil, refuse(StageKey, ReasonBadOperation, "operation %v", e.Op)
	}
	return k.changes, nil
}

// keyOfDelete puts the deleted row's key into k.columns: from the before image,
// which has the same types as other images, else from the message's key.
func (k *keyer) keyOfDelete(e *change.Event) error {
	k.columns = k.columns[:0]
	for i := range k.key {
		name, image := k.source(i), e.Before
		v, ok := k.trusted(e, name)
		if !ok {
			image = e.Key
			v, ok = find(e.Key, name)
		}
		if ok && isRepeated(image, name) {
			return refuse(StageKey, rowproto.ReasonAmbiguous,
				"column %s of the key of %s is there twice: BigQuery's names know no case", name, k.plan.Table().Name)
		}
		if !ok {
			return refuse(StageKey, rowproto.ReasonMissingKey,
				"column %s of the key of %s is neither in the message's key nor, as one of the source's key, in the deleted row's image", name, k.plan.Table().Name)
		}
		c, err := k.masked(i, v)
		if err != nil {
			return err
		}
		k.columns = append(k.columns, c)
	}
	return nil
}

// keyBefore reports whether the row had another key before, and leaves its
// columns in k.columns and its bytes in k.oldKey. A key that BigQuery can't hold
// (NULL, a bad value) has no row there to be deleted.
func (k *keyer) keyBefore(e *change.Event) bool {
	if len(e.Before) == 0 {
		return false
	}
	k.columns = k.columns[:0]
	known := false
	for i := range k.key {
		name := k.source(i)
		v, ok := k.trusted(e, name)
		if ok && v.Kind() != change.KindUnavailable {
			known = true
		} else if v, ok = find(e.After, name); !ok { // an image that lacks it says that it did not change
			return false
		}
		c, err := k.masked(i, v)
		if err != nil {
			return false
		}
		k.columns = append(k.columns, c)
	}
	if !known {
		return false
	}
	var err error
	if k.oldKey, err = k.old.AppendKey(k.oldKey[:0], k.columns); err != nil {
		return false
	}
	return !bytes.Equal(k.oldKey, k.newKey)
}

// trusted returns a key column's value from the before image, where the source
// can be trusted to have filled it in. In an image that is not complete, a column
// that is not of the source's own key may be NULL, or its type's zero value,
// whatever the row holds.
func (k *keyer) trusted(e *change.Event, name string) (change.Value, bool) {
	v, ok := find(e.Before, name)
	if !ok || v.IsNull() {
		return v, false
	}
	if e.BeforeComplete || e.Key == nil || !zeroLike(v) {
		return v, true
	}
	_, ok = find(e.Key, name)
	return v, ok
}

// zeroLike reports whether the value could be what a source puts where it knows
// no value: false, 0, 1970-01-01, an empty text.
func zeroLike(v change.Value) bool {
	switch v.Kind() {
	case change.KindBool, change.KindInt64, change.KindUint64, change.KindFloat64,
		change.KindDate, change.KindTime, change.KindDateTime, change.KindTimestamp:
		return v.Uint() == 0
	case change.KindDecimal, change.KindNumber, change.KindString, change.KindText, change.KindBytes:
		return strings.Trim(v.Text(), "0.-") == "" || strings.Trim(v.Text(), "A=") == "" // "AA==" is 0 too
	default:
		return true
	}
}

// sameName reports whether BigQuery takes two names for one.
func sameName(a, b string) bool { return a == b || strings.EqualFold(a, b) }

// find returns a column by its name, without regard to case, as BigQuery matches names.
func find(columns []change.Column, name string) (change.Value, bool) {
	for i := range columns {
		if sameName(columns[i].Name, name) {
			return columns[i].Value, true
		}
	}
	return change.Value{}, false
}

// isRepeated reports whether more than one column has the name, as BigQuery matches
// names. An UPSERT's encoder refuses such a row.
func isRepeated(columns []change.Column, name string) bool {
	n := 0
	for i := range columns {
		if sameName(columns[i].Name, name) {
			n++
		}
	}
	return n > 1
}
