package keyed

import (
	"hash/fnv"
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// order gives the changes of one rule their sequences.
type order struct {
	expression *expression.Sequence // the rule's own; nil for none
	// byArrival is set where the user accepts the order of arrival: for changes
	// without a position, or, where tombstones delete, for all. A tombstone has no
	// position, and one sequence by arrival among others by position would win over
	// rows that were written after it (invariant 2).
	arrivalForMissing, arrivalForAll bool
	truncates                        bool   // truncates are ordered like any change, not refused
	epoch                            uint64 // leads the sequences by arrival; the others have it from their decoder
}

func newOrder(rule *table.Rule, epoch uint64) (order, error) {
	o := order{
		arrivalForMissing: rule.MissingPositions == "arrival",
		arrivalForAll:     rule.Tombstones == "delete",
		truncates:         catalog.Follows(rule),
		epoch:             epoch,
	}
	if rule.Sequence == "" {
		return o, nil
	}
	var err error
	o.expression, err = expression.CompileSequence(rule.Sequence)
	return o, err
}

// of returns the change's sequence, and whether its last bit is the ordinal that
// puts the DELETE of a changed key before its UPSERT. The error is a refusal.
func (o *order) of(e *change.Event) (sequence change.Sequence, ordinal bool, err error) {
	switch {
	case e.Op == change.OpTruncate && !o.truncates:
		return e.Sequence, true, nil
	case o.arrivalForAll:
		return arrival(e, o.epoch), true, nil
	case o.expression != nil:
		if sequence, err = o.expression.Eval(e); err != nil {
			return sequence, false, &refusal{StageKey, ReasonBadSequence, err}
		}
		return sequence, false, nil
	case !e.Sequence.IsZero():
		return e.Sequence, true, nil
	case o.arrivalForMissing:
		return arrival(e, o.epoch), true, nil
	}
	// Invariant 3: a change without a position never gets a made-up sequence.
	return sequence, false, refuse(StageKey, ReasonNoPosition, "it has no position to order it by (%.300s)", e.Position)
}

// arrival returns a sequence by the time at which Pub/Sub took the message: the
// epoch, microseconds since 1970, the message's ID, and the place among the
// message's changes with the ordinal that tells a DELETE from an UPSERT. The
// same message has the same sequence whenever it is delivered. Pub/Sub publishes
// the messages of one ordering key one after the other; which of two that it
// took in one microsecond is the later only their IDs can tell, which count up
// though Google doesn't promise it.
func arrival(e *change.Event, epoch uint64) change.Sequence {
	var micros uint64
	if !e.Message.PublishTime.IsZero() {
		micros = uint64(max(0, e.Message.PublishTime.UnixMicro()))
	}
	ordinal := uint64(1)
	if e.Op == change.OpDelete {
		ordinal = 0
	}
	return change.NewSequence(epoch, micros, idNumber(e.Message.ID), uint64(e.Part)<<1|ordinal)
}

// idNumber returns the number that a message's ID ends with, as Google's and the
// emulators' do, else one that depends on nothing but the ID.
func idNumber(id string) uint64 {
	digits := id[len(strings.TrimRight(id, "0123456789")):]
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return n
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum64()
}
