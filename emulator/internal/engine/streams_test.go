package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// appendRows appends rows of one INTEGER column to a stream, nil for the default one.
func appendRows(t *testing.T, e *Engine, table *Table, s *Stream, offset int64, ids ...int64) (int64, error) {
	t.Helper()
	b := e.NewBatch(table, table.Schema(), false, len(ids))
	if s != nil {
		b.To(s, offset)
	}
	for _, id := range ids {
		if err := b.Add([]any{id}, Sequence{}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	err := b.Wait(t.Context())
	return b.Offset(), err
}

func wantStreamError(t *testing.T, err error, problems ...StreamProblem) {
	t.Helper()
	var got []StreamProblem
	var collect func(err error)
	collect = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				collect(e)
			}
		} else if e, ok := errors.AsType[*StreamError](err); ok {
			got = append(got, e.Problem)
		} else {
			t.Errorf("error %v is no *StreamError", err)
		}
	}
	collect(err)
	if !slices.Equal(got, problems) {
		t.Errorf("error %v, want problems %v", err, problems)
	}
}

func idRows(ids ...int) []string {
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf(`{"id":"%d"}`, id)
	}
	return rows
}

func TestStream_Offsets(t *testing.T) {
	e := newTestEngine(t, Options{})
	table := newTestTable(t, e, "t", "id INTEGER")
	s, err := e.CreateStream(t.Context(), table.Ref(), Committed)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		offset  int64
		ids     []int64
		want    int64
		problem StreamProblem
	}{
		{0, []int64{1, 2}, 0, 0},
		{-1, []int64{3}, 2, 0},
		{2, []int64{9}, 0, OffsetExists},
		{4, []int64{9}, 0, OffsetOutOfRange},
		{3, []int64{4}, 3, 0},
	} {
		got, err := appendRows(t, e, table, s, test.offset, test.ids...)
		if test.problem != 0 {
			wantStreamError(t, err, test.problem)
			if se, ok := errors.AsType[*StreamError](err); ok && (se.Expected != 3 || se.Got != test.offset) {
				t.Errorf("error %+v", se)
			}
		} else if err != nil || got != test.want {
			t.Errorf("offset %d, error %v, want %d", got, err, test.want)
		}
	}
	wantRows(t, e, "t", idRows(1, 2, 3, 4)...)
	for range 2 {
		if rows, err := e.Finalize(t.Context(), s); err != nil || rows != 4 {
			t.Errorf("finalized %d rows, error %v", rows, err)
		}
	}
	_, err = appendRows(t, e, table, s, -1, 5)
	wantStreamError(t, err, StreamFinalized)
	_, err = e.CommitStreams(t.Context(), table.Ref(), []string{s.ID()})
	wantStreamError(t, err, StreamWrongType)
	wantStreamError(t, e.Flush(t.Context(), s, 0), StreamWrongType)
	_, err = e.Stream(table.Ref(), "no")
	wantStreamError(t, err, StreamNotFound)
}

// Pending rows show when they are committed: all streams at once, or none.
func TestStream_Pending(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := newTestTable(t, e, "t", "id INTEGER")
	var ids []string
	var streams []*Stream
	for i := range 3 {
		s, err := e.CreateStream(t.Context(), table.Ref(), Pending)
		if err != nil {
			t.Fatal(err)
		}
		if i < 2 { // the third stays empty
			if _, err := appendRows(t, e, table, s, 0, int64(10*i), int64(10*i+1)); err != nil {
				t.Fatal(err)
			}
		}
		streams, ids = append(streams, s), append(ids, s.ID())
	}
	for _, s := range streams[:2] {
		if _, err := e.Finalize(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	_, err := e.CommitStreams(t.Context(), table.Ref(), append(ids, ids[0], "0123456789abcdef"))
	wantStreamError(t, err, StreamNotFinalized, StreamTwice, StreamNotFound)
	wantRows(t, e, "t")
	if _, err := e.Finalize(t.Context(), streams[2]); err != nil {
		t.Fatal(err)
	}
	at, err := e.CommitStreams(t.Context(), table.Ref(), ids)
	if err != nil || !at.Equal(c.time()) {
		t.Fatalf("committed at %v, error %v", at, err)
	}
	wantRows(t, e, "t", idRows(0, 1, 10, 11)...)
	_, err = e.CommitStreams(t.Context(), table.Ref(), ids[:1])
	wantStreamError(t, err, StreamCommitted)
	if state := streams[0].State(); !state.Finalized || state.Rows != 2 || !state.CommitTime.Equal(c.time()) {
		t.Errorf("state %+v", state)
	}
	c.add(streamLife + time.Hour)
	if err := e.ApplyDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = e.Stream(table.Ref(), ids[0])
	wantStreamError(t, err, StreamNotFound)
}

// A load that overwrites: what was there is deleted as the stream's rows show.
func TestStream_Overwrite(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := historyTable(t, e, true)
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, 1, 'old'", "id", "v")
	c.at(1)
	s, err := e.CreateStream(t.Context(), table.Ref(), Pending)
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch(table, table.Schema(), false, 1)
	b.To(s, -1)
	if err := errors.Join(b.Add([]any{int64(2), "new"}, Sequence{}, false), e.Append(t.Context(), b), b.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Finalize(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	upsert(t, e, table, Sequence{}, int64(3), "change")
	_, err = e.OverwriteByStreams(t.Context(), table.Ref(), []string{s.ID()})
	wantError(t, err, 400, "Overwriting rows is not supported on table p:d.t with active CDC")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	c.at(2)
	if _, err := e.OverwriteByStreams(t.Context(), table.Ref(), []string{s.ID()}); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", `{"id":"2","v":"new"}`)
	wantLines(t, changesOf(t, e, "CHANGES", c.minute(1), time.Time{}), "00:01 INSERT 3 change", "00:02 DELETE 1 old", "00:02 DELETE 3 change", "00:02 INSERT 2 new")
}

func TestStream_Buffered(t *testing.T) {
	e := newTestEngine(t, Options{})
	table := newTestTable(t, e, "t", "id INTEGER")
	s, err := e.CreateStream(t.Context(), table.Ref(), Buffered)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appendRows(t, e, table, s, 0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		offset int64
		rows   []string
	}{{0, idRows(1)}, {0, idRows(1)}, {2, idRows(1, 2, 3)}, {1, idRows(1, 2, 3)}} {
		if err := e.Flush(t.Context(), s, test.offset); err != nil {
			t.Fatal(err)
		}
		wantRows(t, e, "t", test.rows...)
	}
	wantStreamError(t, e.Flush(t.Context(), s, 3), OffsetOutOfRange)
	// A schema change reaches what waits.
	if _, err := appendRows(t, e, table, s, 3, 4); err != nil {
		t.Fatal(err)
	}
	addColumn(t, e, "t", "v", "STRING")
	if err := e.Flush(t.Context(), s, 3); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", `{"id":"1","v":null}`, `{"id":"2","v":null}`, `{"id":"3","v":null}`, `{"id":"4","v":null}`)
	if err := e.DropTable(t.Context(), table.Ref()); err != nil {
		t.Fatal(err)
	}
	wantStreamError(t, e.Flush(t.Context(), s, 3), StreamNotFound)
}

// Streams and what waits in them are there after a restart.
func TestStream_Restart(t *testing.T) {
	db := filepath.Join(t.TempDir(), "e.db")
	e := newTestEngine(t, Options{DB: db})
	table := newTestTable(t, e, "t", "id INTEGER")
	ids := map[StreamType]string{}
	for _, kind := range []StreamType{Committed, Pending, Buffered} {
		s, err := e.CreateStream(t.Context(), table.Ref(), kind)
		if err != nil {
			t.Fatal(err)
		}
		ids[kind] = s.ID()
		if _, err := appendRows(t, e, table, s, 0, int64(kind)*10, int64(kind)*10+1); err != nil {
			t.Fatal(err)
		}
		if kind == Buffered {
			if err := e.Flush(t.Context(), s, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = reopen(t, Options{DB: db})
	table, err := e.Table(table.Ref())
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", idRows(10, 11, 30)...)
	for kind, id := range ids {
		s, err := e.Stream(table.Ref(), id)
		if err != nil {
			t.Fatal(err)
		}
		if offset, err := appendRows(t, e, table, s, -1, int64(kind)*10+2); err != nil || offset != 2 {
			t.Errorf("offset %d, error %v", offset, err)
		}
		if _, err := e.Finalize(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		switch kind {
		case Pending:
			_, err = e.CommitStreams(t.Context(), table.Ref(), []string{id})
		case Buffered:
			err = e.Flush(t.Context(), s, 2)
		default: // shows already
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got := rowsOf(t, e, "t")
	slices.Sort(got)
	if want := idRows(10, 11, 12, 20, 21, 22, 30, 31, 32); !slices.Equal(got, want) {
		t.Errorf("rows %v", got)
	}
}
