package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/expression"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// inspector looks at messages as the pipeline's stages would: decode, key, order, encode.
type inspector struct {
	x       *examination
	decoder *envelope.Decoder
	router  *table.Router
	tables  map[table.Name]*sampled

	messages, changes, control, letters int
	dead                                bool // the change at hand would be a dead letter; it is one, whatever else is wrong with it
	problems                            []*problem
	byPlace                             map[string]*problem
}

// sampled is what a destination's changes are looked at with.
type sampled struct {
	rule     *table.Rule
	encoder  *rowproto.Encoder // nil: there is no table to encode for
	sequence *expression.Sequence
	latest   map[string]change.Sequence // by key
}

// problem is something that is wrong with some of the messages.
type problem struct {
	Finding
	count   int
	example string // the first message's ID
}

func newInspector(x *examination) (*inspector, error) {
	decoder, err := x.options.Decoder()
	if err != nil {
		return nil, fmt.Errorf("making a decoder: %w", err)
	}
	c := x.options.CatalogConfig()
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		return nil, err
	}
	i := &inspector{x: x, decoder: decoder, router: router, tables: make(map[table.Name]*sampled), byPlace: make(map[string]*problem)}
	for _, d := range x.tables {
		s, err := newSampled(x, d)
		if err != nil {
			return nil, err
		}
		i.tables[d.match.Name] = s
	}
	return i, nil
}

func newSampled(x *examination, d *destination) (*sampled, error) {
	s := &sampled{rule: d.match.Rule, latest: make(map[string]change.Sequence)}
	plan := planOf(d, x.options.CreateTables)
	if plan != nil {
		s.encoder = plan.NewEncoder()
	}
	if s.rule.Sequence == "" {
		return s, nil
	}
	var err error
	s.sequence, err = expression.CompileSequence(s.rule.Sequence)
	return s, err
}

// planOf returns the plan of the table as it is, or as it is going to be created.
func planOf(d *destination, create bool) *rowproto.Plan {
	if d.ready != nil {
		return d.ready.Plan
	}
	if d.resource != nil || !create {
		return nil
	}
	t, err := table.FromRule(d.match.Name, d.match.Rule)
	if err != nil {
		return nil // destinations has said so
	}
	plan, err := rowproto.Compile(t)
	if err != nil {
		return nil
	}
	return plan
}

// inspect looks at one message.
func (i *inspector) inspect(m *change.Message) {
	i.messages++
	events, control, err := i.decoder.Decode(*m, nil)
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		i.letters++
		i.report(m, Warning, "messages", "decode: "+e.Reason, e.Error(), mends[e.Reason])
		return
	} else if err != nil {
		i.report(m, Unknown, "messages", "decode", err.Error(), "")
		return
	}
	if control != "" {
		i.control++
		return
	}
	for k := range events {
		i.changes++
		i.dead = false
		i.event(&events[k])
		if i.dead {
			i.letters++
		}
	}
}

func (i *inspector) event(e *change.Event) {
	about := "changes of " + clip(e.Table)
	match, ok := i.router.Route(e.Table)
	switch {
	case ok && match.Err != nil:
		i.letter(e, about, "key: bad_destination", match.Err.Error(), "")
		return
	case ok:
	case i.x.options.UnlistedTables == "filter":
		return
	default:
		near := ""
		if rule := i.router.Nearest(e.Table); rule != "" {
			near = fmt.Sprintf("; the closest rule is %q", rule)
		}
		i.letter(e, about, "key: unlisted_table", "no rule matches this table"+near, "list it under tables, or set unlisted_tables: filter")
		return
	}
	s := i.sampledOf(match)
	if e.Tombstone && s.rule.Tombstones != "delete" {
		return
	}
	if e.Op == change.OpTruncate {
		if s.rule.Truncates == "" || s.rule.Truncates == "reject" {
			i.letter(e, about, "truncate", "the source's table was truncated, which becomes a dead letter", "set the rule's truncates")
		}
		return
	}
	sequence, ok := i.order(s, e, about)
	if s.encoder == nil {
		return
	}
	key, err := s.encoder.AppendKey(nil, keyOf(e))
	if err != nil {
		i.value(e, about, "key", err)
		return
	}
	if ok {
		i.increasing(s, e, about, string(key), sequence)
	}
	if e.Op != change.OpDelete {
		i.encode(s, e, about, sequence)
	}
}

// sampledOf returns what a destination that only messages name is looked at with.
func (i *inspector) sampledOf(m catalog.Match) *sampled {
	s, ok := i.tables[m.Name]
	if !ok {
		s = &sampled{rule: m.Rule, latest: make(map[string]change.Sequence)}
		i.tables[m.Name] = s
	}
	return s
}

// order finds the change's sequence.
func (i *inspector) order(s *sampled, e *change.Event, about string) (change.Sequence, bool) {
	switch {
	case s.sequence != nil:
		sequence, err := s.sequence.Eval(e)
		if err != nil {
			i.letter(e, about, "key: bad_sequence", err.Error(), "mend the rule's sequence expression")
			return change.Sequence{}, false
		}
		return sequence, true
	case !e.Sequence.IsZero():
		return e.Sequence, true
	case s.rule.MissingPositions == "arrival" || s.rule.Tombstones == "delete":
		return change.Sequence{}, false
	}
	i.letter(e, about, "key: no_position", fmt.Sprintf("it has no position to order it by (%s)", clip(e.Position)),
		"let the source send it (docs/sources.md says how, by format), or set the rule's sequence or missing_positions")
	return change.Sequence{}, false
}

// increasing notices changes of one row whose positions run against their publishing.
func (i *inspector) increasing(s *sampled, e *change.Event, about, key string, sequence change.Sequence) {
	if before, ok := s.latest[key]; ok && sequence.Compare(before) < 0 {
		i.report(&e.Message, Warning, about, "order", "a row's later message has a lower position than one before it: either they came out of order, which is harmless, or the source's positions started again",
			"after a failover, a recreated slot or a restored server raise source.epoch")
		return
	}
	s.latest[key] = sequence
}

// encode looks whether the row fits its table. Rows that another stage would change
// first are left to it.
func (i *inspector) encode(s *sampled, e *change.Event, about string, sequence change.Sequence) {
	if sequence.IsZero() {
		sequence = change.NewSequence(0)
	}
	_, err := s.encoder.AppendUpsert(nil, e.After, sequence, rowproto.RowOptions{
		AbsentUnavailable: e.AbsentUnavailable && s.rule.UnavailableValues != "fill",
		IgnoreUnknown:     s.rule.UnknownColumns == "ignore" || s.rule.UnknownColumns == "add",
	})
	if v, ok := errors.AsType[*rowproto.ValueError](err); ok && v.Reason == rowproto.ReasonUnavailable && s.rule.UnavailableValues == "fill" {
		return
	}
	if err != nil {
		i.value(e, about, "encode", err)
	}
}

// value reports what rowproto refuses, for each column and reason once.
func (i *inspector) value(e *change.Event, about, stage string, err error) {
	v, ok := errors.AsType[*rowproto.ValueError](err)
	if !ok {
		i.report(&e.Message, Fatal, about, stage, err.Error(), "")
		return
	}
	i.letter(e, about, stage+": "+v.Reason+" "+v.Column, v.Error(), mends[v.Reason])
}

// mends say what to do about a reason of dead letters.
var mends = map[string]string{
	envelope.UnknownFormat:       "set source.format to what the messages are",
	envelope.UnknownSchema:       "set source.schema_registry or source.avro_schema",
	rowproto.ReasonUnknownColumn: "add the column to the table, or set the rule's unknown_columns",
	rowproto.ReasonUnavailable:   "set the source table's REPLICA IDENTITY FULL, or the rule's unavailable_values: fill",
	rowproto.ReasonMissingKey:    "let the source send the key's columns, or mend the rule's primary_key",
	rowproto.ReasonNullRequired:  "make the column NULLABLE in BigQuery",
	rowproto.ReasonBadValue:      "mend the column's type or from, or set bad_values",
}

// letter notes a change that would be a dead letter, for which it is counted once.
// That is fatal only where most changes would be: findings tells.
func (i *inspector) letter(e *change.Event, about, kind, text, mend string) {
	i.dead = true
	i.report(&e.Message, Warning, about, kind, text, mend)
}

// report notes a problem; what is of the same kind is counted.
func (i *inspector) report(m *change.Message, level Level, about, kind, text, mend string) {
	place := string(level) + "\x00" + about + "\x00" + kind
	p := i.byPlace[place]
	if p == nil {
		p = &problem{Finding: Finding{level, about, kind + ": " + text, mend}, example: m.ID}
		i.byPlace[place] = p
		i.problems = append(i.problems, p)
	}
	p.count++
}

// findings are the problems, each once. What would be a dead letter for most of the
// messages is no accident: the pipeline as configured can't do its work.
func (i *inspector) findings() []Finding {
	found := make([]Finding, 0, len(i.problems))
	for _, p := range i.problems {
		f := p.Finding
		if f.Level == Warning && strings.Contains(f.Problem, ": ") && !strings.HasPrefix(f.Problem, "order") && 2*p.count > max(i.messages, i.changes) {
			f.Level = Fatal
		}
		f.Problem = fmt.Sprintf("%s\n%d of %d messages, message %s the first", f.Problem, p.count, i.messages, clip(p.example))
		found = append(found, f)
	}
	return found
}

func (i *inspector) summary() string {
	return fmt.Sprintf("%s of %s, %s, %d that would be dead letters",
		counted(i.changes, "change"), counted(len(i.tables), "table"), counted(i.control, "control message"), i.letters)
}

// keyOf returns the columns that hold the key of the row that the change leaves, or deletes.
func keyOf(e *change.Event) []change.Column {
	if e.Op != change.OpDelete {
		return e.After
	}
	columns := slices.Clone(e.Before)
	for _, k := range e.Key {
		if !slices.ContainsFunc(columns, func(c change.Column) bool { return strings.EqualFold(c.Name, k.Name) }) {
			columns = append(columns, k)
		}
	}
	return columns
}

func clip(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}
