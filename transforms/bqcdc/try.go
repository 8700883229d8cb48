package bqcdc

import (
	"context"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// append sends rows once and waits for the answer. The stream is nil when none
// could be had. The wait ends when the connection has said nothing for
// AppendTimeout; a long queue of answered requests is no silence, up to RetryFor. If the
// rows may be left to wait aside it ends after FinishFor, which says nothing of the
// connection yet.
func (w *writer) append(ctx context.Context, r *request, rows []pending, alone, leaves bool) (*stream, *storagepb.AppendRowsResponse, time.Duration, error) {
	key := r.key
	if alone {
		key.private = w.streams.privates.Add(1)
	}
	silence, verdict := w.config.AppendTimeout, errSilent
	if leaves && w.config.FinishFor < silence {
		silence, verdict = w.config.FinishFor, errAside
	}
	st, err := w.streams.acquire(ctx, key, r.schema.descriptor, silence, verdict)
	if err != nil {
		return nil, nil, 0, err
	}
	defer w.streams.release(st)
	if alone {
		defer w.streams.retire(st)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sent := time.Now()
	watch := st.line.watch(sent, silence, w.config.RetryFor, verdict, cancel)
	defer watch.Stop()
	appended, err := st.writer.AppendRows(ctx, [][]byte{r.pack(rows)})
	if err != nil {
		return st, nil, 0, causeOf(ctx, err)
	}
	response, err := appended.FullResponse(ctx) // both may be set: the row errors are in the response
	if ctx.Err() != nil && response == nil {
		return st, nil, 0, causeOf(ctx, err)
	}
	st.line.heard.Store(time.Now().UnixNano())
	return st, response, time.Since(sent), err
}

// watch cancels a wait that began at start, with a verdict, once the connection has been silent for
// timeout, and in any case after atMost: answers come in order, so that one which does not
// come while others do is lost.
func (l *line) watch(start time.Time, timeout, atMost time.Duration, verdict error, cancel context.CancelCauseFunc) *time.Timer {
	var timer *time.Timer
	armed := make(chan struct{})
	timer = time.AfterFunc(min(timeout, atMost), func() {
		<-armed
		now := time.Now()
		silent := now.Sub(time.Unix(0, max(start.UnixNano(), l.heard.Load())))
		if rest := min(timeout-silent, atMost-now.Sub(start)); rest > 0 {
			timer.Reset(rest)
			return
		}
		cancel(verdict)
	})
	close(armed)
	return timer
}

// causeOf returns why ctx ended if it has, else err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
