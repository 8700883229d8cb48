package position

import "beamcdc/schemas/change"

// MongoDB returns the sequence of a change by the cluster time of its oplog
// entry, in seconds and an increment within the second, and its number within
// its transaction, 0 outside of one.
//
// Cluster time is the order of commits for each document: each oplog entry of a
// replica set has its own, and so has, on a sharded cluster, each that touches
// one document, since one shard holds it. The trap is a transaction of several
// documents: its changes share the entry's time. They are told apart by the
// connector's transaction metadata alone; where that is off and a transaction
// changes one document twice, the two tie. A snapshot's row has the time at
// which the snapshot began, and sorts below all changes since.
func MongoDB(epoch, seconds, increment, within uint64, op change.Op) change.Sequence {
	if op == change.OpSnapshot {
		return change.NewSequence(epoch, seconds, increment, 0)
	}
	return change.NewSequence(epoch, seconds, increment, (within+1)<<1|Ordinal(op))
}
