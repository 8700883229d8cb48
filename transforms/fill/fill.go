package fill

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // of row changes and receipts
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *fillFn) dofn.Func { return dofn.Func8x1(f.ProcessElement) })
	register.Emitter1[change.RowChange]()
	register.Emitter2[[]byte, []byte]()
	register.Emitter1[deadletter.Letter]()
}

// Config says what the stages need. It travels to the workers as JSON.
type Config struct {
	Catalog catalog.Config
	// RetryFor is how long BigQuery is asked again for a row before the bundle fails.
	// Defaults to ten minutes.
	RetryFor time.Duration
}

// Fill takes a PCollection<KV<[]byte, change.RowChange>>, by table and key, and
// returns PCollections<change.RowChange> of complete ones, and PCollections of the dead
// letters of those that can't be completed.
func Fill(s beam.Scope, c Config, changes beam.PCollection) (complete, letters []beam.PCollection) {
	s = s.Scope("fill.Fill")
	if c.reads() {
		changes = beam.ParDo(s, &readFn{Config: c}, changes)
	}
	ofKey, chained, refused := beam.ParDo3(s, newFillFn(c), changes)
	moved, stranded := beam.ParDo2(s, newMovesFn(c), chained)
	return []beam.PCollection{ofKey, moved}, []beam.PCollection{refused, stranded}
}

// reads reports whether any table's rows are read from BigQuery.
func (c *Config) reads() bool {
	for i := range c.Catalog.Rules {
		rule := &c.Catalog.Rules[i]
		if s := settingsOf(rule); (s.fills || s.soft != nil) && s.reads() {
			return true
		}
	}
	return false
}

// tables finds the settings of tables by the source's names.
type tables struct {
	catalog  *catalog.Catalog
	settings map[string]*settings
}

func openTables(ctx context.Context, c Config) (t tables, err error) {
	t.settings = make(map[string]*settings)
	t.catalog, err = catalog.Open(ctx, c.Catalog)
	return t, err
}

// of returns the settings of the source's table. It is one that has a rule: its
// change would not be here without.
func (t *tables) of(source string) (*settings, error) {
	if s, ok := t.settings[source]; ok {
		return s, nil
	}
	match, ok := t.catalog.Route(source)
	if !ok {
		return nil, fmt.Errorf("filling in a row of %.100s: no rule is for it any more", source)
	}
	s := settingsOf(match.Rule)
	t.settings[source] = s
	return s, nil
}

// fillFn completes the rows of one key from its changes.
type fillFn struct {
	Config Config

	Memory state.Value[[]byte]
	Due    timers.ProcessingTime

	tables tables
}

func newFillFn(c Config) *fillFn {
	return &fillFn{Config: c, Memory: state.MakeValueState[[]byte]("memory"), Due: timers.InProcessingTime("due")}
}

// Setup finds the process's catalog.
func (f *fillFn) Setup(ctx context.Context) (err error) {
	f.tables, err = openTables(ctx, f.Config)
	return err
}

// ProcessElement takes one change of the key's row.
func (f *fillFn) ProcessElement(
	ctx context.Context, sp state.Provider, tp timers.Provider, _ []byte, c change.RowChange,
	complete func(change.RowChange), chain func([]byte, []byte), letter func(deadletter.Letter),
) error {
	changesCounter.Inc(ctx, 1)
	s, err := f.tables.of(c.Event.Table)
	if err != nil {
		return err
	}
	m, err := f.read(sp)
	if err != nil {
		return err
	}
	now := time.Now()
	o := m.take(c, s, now)
	o.count(ctx)
	for i := range o.rows {
		complete(o.rows[i])
	}
	for i := range o.waiting {
		chain([]byte(c.Table), o.waiting[i].append(nil))
	}
	for i := range o.told {
		chain([]byte(c.Table), o.told[i].append(nil))
	}
	for i := range o.letters {
		letter(letterOf(ctx, &o.letters[i], s))
	}
	if due := m.due(s); !due.IsZero() && (m.timer.IsZero() || due.Before(m.timer)) {
		m.timer = due
		f.Due.Set(tp, due, timers.WithNoOutputTimestamp())
	}
	return f.write(ctx, sp, &m)
}

// OnTimer makes dead letters of changes that have waited for too long, and forgets
// rows that nothing has come for. It makes no rows: they would be late.
func (f *fillFn) OnTimer(
	ctx context.Context, _ beam.EventTime, sp state.Provider, tp timers.Provider, _ []byte, _ timers.Context,
	_ func(change.RowChange), _ func([]byte, []byte), letter func(deadletter.Letter),
) error {
	m, err := f.read(sp)
	if err != nil || len(m.journal) == 0 {
		return err
	}
	m.timer = time.Time{}
	source := m.source()
	s, err := f.tables.of(source)
	if err != nil {
		return err
	}
	letters, forget, next := m.expire(s, time.Now())
	for i := range letters {
		expiredCounter.Inc(ctx, 1)
		letter(letterOf(ctx, &letters[i], s))
	}
	if forget {
		forgottenCounter.Inc(ctx, 1)
		return f.Memory.Clear(sp)
	}
	if !next.IsZero() {
		m.timer = next
		f.Due.Set(tp, next, timers.WithNoOutputTimestamp())
	}
	return f.write(ctx, sp, &m)
}

func (f *fillFn) read(sp state.Provider) (memory, error) {
	coded, _, err := f.Memory.Read(sp)
	if err != nil {
		return memory{}, err
	}
	return readMemory(coded)
}

func (f *fillFn) write(ctx context.Context, sp state.Provider, m *memory) error {
	coded := m.append(nil)
	memoryBytes.Update(ctx, int64(len(coded)))
	return f.Memory.Write(sp, coded)
}

// source returns the source's name of the row's table.
func (m *memory) source() string {
	for _, e := range m.journal {
		if e.event != nil {
			return e.event.Table
		}
	}
	return ""
}

// letterOf returns the dead letter of a change that can't be completed.
func letterOf(ctx context.Context, h *held, s *settings) deadletter.Letter {
	lettersCounter.Inc(ctx, 1)
	joinedCounter.Inc(ctx, h.joined)
	return deadletter.Letter{
		Message: h.Event.Message, Stage: Stage, Reason: rowproto.ReasonUnavailable, Error: whyLacking(h, s),
		Table: h.Event.Table, Part: h.Event.Part, Receipts: h.Receipts,
	}
}

// whyLacking says of which table and columns values are missing, and what may be done.
func whyLacking(h *held, s *settings) string {
	what := "its earlier changes"
	if len(h.columns) > 0 && h.columns[0] != "" {
		what = "the source left out the unchanged value of column " + strings.Join(h.columns[:min(len(h.columns), 5)], ", ")
	}
	text := fmt.Sprintf("completing a row of %s: %s", h.Table, what)
	if h.again {
		return fmt.Sprintf("completing a row of %s: it was completed %d times by late changes of the key that it had before, and once more is not possible; the table has it as it was the last time",
			h.Table, maxCompletions)
	}
	if what == "its earlier changes" {
		text = fmt.Sprintf("completing a row of %s: its earlier changes are not known", h.Table)
	} else {
		text += ", and no change has come that had it"
	}
	switch s.FirstSeen {
	case "hold":
		return text + fmt.Sprintf(" within %v (fill.hold_for); `first_seen: read` would ask BigQuery for the row", s.HoldFor)
	case "read":
		return text + ", nor does BigQuery have the row with the versions of its values"
	}
	return text + "; `first_seen: hold` would wait for it, `first_seen: read` ask BigQuery for the row"
}
