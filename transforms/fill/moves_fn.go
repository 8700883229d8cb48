package fill

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *movesFn) dofn.Func { return dofn.Func7x1(f.ProcessElement) })
}

// movesFn completes the rows of changed keys of one table. What it takes is rare, and
// so one key for all of a table's moves does: a chain of moves is in one place then.
type movesFn struct {
	Config Config

	Moves state.Map[string, []byte]
	Due   timers.ProcessingTime

	tables tables
}

func newMovesFn(c Config) *movesFn {
	return &movesFn{Config: c, Moves: state.MakeMapState[string, []byte]("moves"), Due: timers.InProcessingTime("due")}
}

// Setup finds the process's catalog.
func (f *movesFn) Setup(ctx context.Context) (err error) {
	f.tables, err = openTables(ctx, f.Config)
	return err
}

// ProcessElement takes a row that waits, or what a row had that moved.
func (f *movesFn) ProcessElement(
	_ context.Context, sp state.Provider, tp timers.Provider, _, coded []byte, complete func(change.RowChange), _ func(deadletter.Letter),
) error {
	all := &storedMoves{state: &f.Moves, provider: sp}
	w, t, err := readChained(coded)
	if err != nil {
		return err
	}
	var rows []change.RowChange
	if w == nil {
		rows, err = hear(all, t)
	} else {
		rows, err = f.wait(all, tp, *w)
	}
	for i := range rows {
		complete(rows[i])
	}
	return err
}

func (f *movesFn) wait(all moves, tp timers.Provider, w waitingRow) ([]change.RowChange, error) {
	s, err := f.tables.of(w.Event.Table)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	rows, err := wait(all, w, now)
	if err == nil && len(rows) == 0 {
		f.Due.Set(tp, now.Add(s.HoldFor), timers.WithTag(hex.EncodeToString([]byte(w.from))), timers.WithNoOutputTimestamp())
	}
	return rows, err
}

// OnTimer makes dead letters of rows that have waited for too long.
func (f *movesFn) OnTimer(
	ctx context.Context, _ beam.EventTime, sp state.Provider, tp timers.Provider, _ []byte, timer timers.Context,
	_ func(change.RowChange), letter func(deadletter.Letter),
) error {
	id, err := hex.DecodeString(timer.Tag)
	if err != nil {
		return fmt.Errorf("reading a timer's tag: %w", err)
	}
	all := &storedMoves{state: &f.Moves, provider: sp}
	m, err := all.get(move(id))
	if err != nil || len(m.rows) == 0 {
		return err
	}
	s, err := f.tables.of(m.rows[0].Event.Table)
	if err != nil {
		return err
	}
	letters, next := m.expireRows(s, time.Now())
	for i := range letters {
		expiredCounter.Inc(ctx, 1)
		letter(letterOf(ctx, &letters[i], s))
	}
	if !next.IsZero() {
		f.Due.Set(tp, next, timers.WithTag(timer.Tag), timers.WithNoOutputTimestamp())
	}
	return all.put(move(id), m)
}

// storedMoves are moves in Beam's state.
type storedMoves struct {
	state    *state.Map[string, []byte]
	provider state.Provider
}

func (s *storedMoves) get(id move) (*moveMemory, error) {
	coded, _, err := s.state.Get(s.provider, hex.EncodeToString([]byte(id)))
	if err != nil {
		return nil, err
	}
	return readMove(coded)
}

func (s *storedMoves) put(id move, m *moveMemory) error {
	return s.state.Put(s.provider, hex.EncodeToString([]byte(id)), m.append(nil))
}
