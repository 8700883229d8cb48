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
	ctx context.Context, sp state.Provider, tp timers.Provider, _, coded []byte, complete func(change.RowChange), letter func(deadletter.Letter),
) error {
	all := &storedMoves{ctx: ctx, state: &f.Moves, provider: sp}
	w, t, err := readChained(coded)
	if err != nil {
		return err
	}
	id, source := t.move, t.source
	if w != nil {
		id, source = w.from, w.Event.Table
	}
	s, err := f.tables.of(source)
	if err != nil {
		return err
	}
	var made completed
	if now := time.Now(); w == nil {
		made, err = hear(all, t, now)
	} else if made, err = wait(all, *w, s, now); err == nil && s.KeepFor > 0 {
		err = touch(all, id, s.KeepFor, now)
	}
	if err != nil {
		return err
	}
	made.count(ctx)
	for i := range made.rows {
		complete(made.rows[i])
	}
	for i := range made.letters {
		letter(letterOf(ctx, &made.letters[i], s))
	}
	return f.setTimer(all, tp, id, s)
}

// setTimer sets the move's timer for what is due first.
func (f *movesFn) setTimer(all moves, tp timers.Provider, id move, s *settings) error {
	m, err := all.get(id)
	if err != nil {
		return err
	}
	due := m.due(s)
	if due.IsZero() || !m.timer.IsZero() && !due.Before(m.timer) {
		return nil
	}
	m.timer = due
	f.Due.Set(tp, due, timers.WithTag(hex.EncodeToString([]byte(id))), timers.WithNoOutputTimestamp())
	return all.put(id, m)
}

// OnTimer makes dead letters of rows that have waited for too long, and forgets moves
// that nothing has needed.
func (f *movesFn) OnTimer(
	ctx context.Context, _ beam.EventTime, sp state.Provider, tp timers.Provider, _ []byte, timer timers.Context,
	_ func(change.RowChange), letter func(deadletter.Letter),
) error {
	id, err := hex.DecodeString(timer.Tag)
	if err != nil {
		return fmt.Errorf("reading a timer's tag: %w", err)
	}
	all := &storedMoves{ctx: ctx, state: &f.Moves, provider: sp}
	m, err := all.get(move(id))
	if err != nil || m.isEmpty() {
		return err
	}
	s, err := f.tables.of(m.source)
	if err != nil {
		return err
	}
	letters, forget := m.expire(s, time.Now())
	for i := range letters {
		expiredCounter.Inc(ctx, 1)
		letter(letterOf(ctx, &letters[i], s))
	}
	if forget {
		movesForgottenCounter.Inc(ctx, 1)
		return all.put(move(id), new(moveMemory))
	}
	m.timer = time.Time{}
	if err := all.put(move(id), m); err != nil {
		return err
	}
	return f.setTimer(all, tp, move(id), s)
}

// storedMoves are moves in Beam's state.
type storedMoves struct {
	ctx      context.Context //nolint:containedctx // of one element
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
	key := hex.EncodeToString([]byte(id))
	if m.isEmpty() {
		return s.state.Remove(s.provider, key)
	}
	coded := m.append(nil)
	movesBytes.Update(s.ctx, int64(len(coded)))
	return s.state.Put(s.provider, key, coded)
}
