package conformance

import (
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// typed opens a connection to a new stream of a table, of a type that isn't the default's.
func (r *run) typed(table string, kind managedwriter.StreamType) *writer {
	return r.open(table, orderColumns, r.toDefault(table), managedwriter.WithType(kind))
}

func (w *writer) finalize(want int64) {
	rows, err := w.stream.Finalize(w.r.ctx)
	w.r.must(err, "finalizing a stream")
	if rows != want {
		w.r.errorf("a stream was finalized with %d rows, want %d", rows, want)
	}
}

// commit commits pending streams of table t together.
func (r *run) commit(writers ...*writer) *storagepb.BatchCommitWriteStreamsResponse {
	var names []string
	for _, w := range writers {
		names = append(names, w.stream.StreamName())
	}
	response, err := r.writer.BatchCommitWriteStreams(r.ctx, &storagepb.BatchCommitWriteStreamsRequest{Parent: r.parent("t"), WriteStreams: names})
	r.must(err, "committing streams")
	return response
}

// streamCases are about write streams other than the default one.
var streamCases = []testCase{
	{
		name: "committed: rows are visible as they are written",
		cites: []string{
			"You create the stream; rows are visible as soon as they are written.",
			"A stream is a server-side object attached to a table; your client opens a long-lived gRPC connection and sends AppendRows requests on it, each carrying a batch of serialized protobuf rows.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.CommittedStream)
			w.append(`{"id":1,"v":"a"}`)
			r.want("t", "1 a")
			w.append(`{"id":2,"v":"b"}`, `{"id":3,"v":"c"}`)
			r.want("t", "1 a", "2 b", "3 c")
		},
	},
	{
		name: "committed: an offset must be the next",
		cites: []string{
			"Appends can carry an offset, and the server only performs the write if the offset equals the next append offset of the stream.",
			"If the server answers that the offset already exists, the earlier attempt succeeded and you should advance as if it had returned normally.",
			"If it answers that the offset is out of range, you skipped rows; that is a bug in your checkpoint logic, so stop rather than guess.",
			"If an append fails with a transient status (Google's samples treat INTERNAL, CANCELLED and ABORTED as retryable), re-send the same rows with the same offset.",
			"That check is what makes retries safe.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.CommittedStream)
			w.appendAt(0, `{"id":1,"v":"a"}`, `{"id":2,"v":"b"}`)
			w.refuseAt(0, storagepb.StorageError_OFFSET_ALREADY_EXISTS, `{"id":1,"v":"a"}`, `{"id":2,"v":"b"}`)
			w.appendAt(2, `{"id":3,"v":"c"}`)
			w.refuseAt(7, storagepb.StorageError_OFFSET_OUT_OF_RANGE, `{"id":4,"v":"d"}`)
			w.appendAt(3, `{"id":4,"v":"d"}`)
			r.want("t", "1 a", "2 b", "3 c", "4 d")
		},
	},
	{
		name: "committed: a stream is reopened after a crash",
		cites: []string{
			"After a crash you reopen the same stream and resume at the saved offset; any rows the dead process appended past that point are rejected as existing offsets.",
			"Committed streams provide the first through offsets.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			dead := r.typed("t", managedwriter.CommittedStream)
			dead.appendAt(0, `{"id":1,"v":"a"}`)
			dead.appendAt(1, `{"id":2,"v":"b"}`) // its offset was never saved
			dead.close()
			w := r.open("t", orderColumns, managedwriter.WithStreamName(dead.stream.StreamName()))
			w.refuseAt(1, storagepb.StorageError_OFFSET_ALREADY_EXISTS, `{"id":2,"v":"b"}`)
			w.appendAt(2, `{"id":3,"v":"c"}`)
			r.want("t", "1 a", "2 b", "3 c")
		},
	},
	{
		name: "committed: offsets don't span streams",
		cites: []string{
			"If you instead create a new stream on restart, the offset protection does not span streams and the replayed rows land twice.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			for range 2 {
				r.typed("t", managedwriter.CommittedStream).appendAt(0, `{"id":1,"v":"a"}`)
			}
			r.want("t", "1 a", "1 a")
		},
	},
	{
		name: "committed: a finalized stream takes no more",
		cites: []string{
			"client.finalizeWriteStream(created.getName()); // no more appends; rows are already visible",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.CommittedStream)
			w.appendAt(0, `{"id":1,"v":"a"}`)
			w.finalize(1)
			r.want("t", "1 a")
			w.refuseAt(1, storagepb.StorageError_STREAM_FINALIZED, `{"id":2,"v":"b"}`)
			r.want("t", "1 a")
		},
	},
	{
		name: "pending: nothing is visible until the commit",
		cites: []string{
			"Rows are buffered invisibly until you finalize the stream and commit it.",
			"Until the commit, nothing is visible; after it, everything is.",
			"A pending stream is the answer when a set of rows must appear all at once or not at all, for example a nightly reconciliation that replaces a day's data, or an export where a half-visible table would mislead dashboards.",
			"Compared with a load job you avoid staging files in Cloud Storage; compared with a committed stream you lose immediate visibility.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.PendingStream)
			w.appendAt(0, `{"id":1,"v":"a"}`)
			w.appendAt(1, `{"id":2,"v":"b"}`)
			r.want("t")
			w.finalize(2)
			r.want("t")
			if response := r.commit(w); response.GetCommitTime() == nil || len(response.GetStreamErrors()) > 0 {
				r.errorf("the commit's answer is %v, want a commit time", response)
			}
			r.want("t", "1 a", "2 b")
		},
	},
	{
		name: "pending: several streams commit together",
		cites: []string{
			"One commit can cover several streams atomically, which makes pending streams a streaming-protocol replacement for load jobs.",
			"Write to one or more pending streams in parallel, finalize each with finalizeWriteStream, then call batchCommitWriteStreams with all their names.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			a, b := r.typed("t", managedwriter.PendingStream), r.typed("t", managedwriter.PendingStream)
			a.append(`{"id":1,"v":"a"}`)
			b.append(`{"id":2,"v":"b"}`)
			a.finalize(1)
			// One isn't finalized, so neither is committed.
			response, err := r.writer.BatchCommitWriteStreams(r.ctx, &storagepb.BatchCommitWriteStreamsRequest{
				Parent: r.parent("t"), WriteStreams: []string{a.stream.StreamName(), b.stream.StreamName()},
			})
			if err == nil && len(response.GetStreamErrors()) == 0 {
				r.errorf("a stream that isn't finalized was committed: %v", response)
			}
			r.want("t")
			b.finalize(1)
			r.commit(a, b)
			r.want("t", "1 a", "2 b")
		},
	},
	{
		name: "pending: a crash before the commit leaves nothing",
		cites: []string{
			"A writer that crashes before the commit leaves nothing visible, and the whole unit must be rewritten.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.PendingStream)
			w.append(`{"id":1,"v":"a"}`)
			w.close()
			r.want("t")
		},
	},
	{
		name: "buffered: rows are visible up to what is flushed",
		cites: []string{
			"Rows become visible only when you flush up to a row offset.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.typed("t", managedwriter.BufferedStream)
			w.appendAt(0, `{"id":1,"v":"a"}`, `{"id":2,"v":"b"}`, `{"id":3,"v":"c"}`)
			r.want("t")
			for _, flush := range []struct {
				offset int64
				want   []string
			}{{0, []string{"1 a"}}, {1, []string{"1 a", "2 b"}}, {2, []string{"1 a", "2 b", "3 c"}}} {
				if _, err := w.stream.FlushRows(r.ctx, flush.offset); err != nil {
					r.fatalf("flushing offset %d: %v", flush.offset, err)
				}
				r.want("t", flush.want...)
			}
			if _, err := w.stream.FlushRows(r.ctx, 7); status.Code(err) == codes.OK {
				r.errorf("an offset beyond the rows was flushed")
			}
		},
	},
	{
		name: "the default stream takes no offset",
		cites: []string{
			"Semantics are at-least-once: if you retry an append whose response you never saw, the rows may land twice.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.plain("t", orderColumns)
			if _, err := w.try(0, `{"id":1,"v":"a"}`); err == nil {
				r.errorf("an append to the default stream with an offset was acknowledged")
			}
		},
	},
}
