package cost

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// sampled is a row of a sample.
type sampled struct {
	at  time.Time
	key string
	row change.Row
}

// sample is what messages make of each table.
type sample struct {
	tables  map[table.Name][]sampled
	refused map[string]int // changes without a row, by why
	events  int
	timed   bool // all changes have a commit time
}

// take decodes messages, and keys and encodes their changes for the tables, which are
// by the changes' names of them.
func take(messages []*pubsubpb.PubsubMessage, decoder *envelope.Decoder, tables map[string]*table.Table) (*sample, error) {
	s := &sample{tables: map[table.Name][]sampled{}, refused: map[string]int{}, timed: true}
	encoders := map[string]*encoder{}
	for i, m := range messages {
		read := change.Message{ID: fmt.Sprintf("m%d", i+1), Data: m.GetData(), Attributes: m.GetAttributes(), OrderingKey: m.GetOrderingKey()}
		events, _, err := decoder.Decode(read, nil)
		if e, ok := errors.AsType[*envelope.Error](err); ok {
			s.refused["decode: "+e.Reason]++
			continue
		} else if err != nil {
			return nil, fmt.Errorf("decoding message %d: %w", i+1, err)
		}
		for k := range events {
			e := &events[k]
			t := tables[e.Table]
			if t == nil {
				s.refused["no rule is for its table, or no table can be made of its rule"]++
				continue
			}
			if e.Op == change.OpTruncate {
				s.refused["it is a TRUNCATE"]++
				continue
			}
			of := encoders[e.Table]
			if of == nil {
				plan, err := rowproto.Compile(t)
				if err != nil {
					return nil, err
				}
				of = &encoder{plan.NewEncoder()}
				encoders[strings.Clone(e.Table)] = of
			}
			rows, err := of.rows(e, s.events)
			if v, ok := errors.AsType[*rowproto.ValueError](err); ok {
				s.refused["encode: "+v.Reason]++
				continue
			} else if err != nil {
				return nil, err
			}
			s.events++
			s.timed = s.timed && !e.CommitTime.IsZero()
			s.tables[t.Name] = append(s.tables[t.Name], rows...)
		}
	}
	return s, nil
}

type encoder struct{ *rowproto.Encoder }

// rows returns the rows of a change: two where it changed its key. Where the message
// has no position the order of the sample is taken.
func (e *encoder) rows(c *change.Event, place int) ([]sampled, error) {
	sequence := c.Sequence
	if sequence.IsZero() {
		sequence = change.NewSequence(0, 0, 0, uint64(place+1))
	}
	var rows []sampled
	deleted := func(columns []change.Column) error {
		key, err := e.AppendKey(nil, columns)
		if err != nil {
			return err
		}
		data, err := e.AppendDelete(nil, columns, sequence)
		if err == nil {
			rows = append(rows, sampled{c.CommitTime, string(key), change.Row{Type: change.Delete, Sequence: sequence, Data: data}})
		}
		return err
	}
	if c.Op == change.OpDelete {
		columns := slices.Clone(c.Before)
		for _, k := range c.Key {
			if !slices.ContainsFunc(columns, func(b change.Column) bool { return strings.EqualFold(b.Name, k.Name) }) {
				columns = append(columns, k)
			}
		}
		return rows, deleted(columns)
	}
	key, err := e.AppendKey(nil, c.After)
	if err != nil {
		return nil, err
	}
	before := c.Before
	if c.MovedFrom != nil {
		before = c.MovedFrom
	}
	if old, err := e.AppendKey(nil, before); err == nil && string(old) != string(key) && c.Op == change.OpUpdate {
		if err := deleted(before); err != nil {
			return nil, err
		}
	}
	data, err := e.AppendUpsert(nil, c.After, sequence, rowproto.RowOptions{IgnoreUnknown: true})
	if err != nil {
		return nil, err
	}
	return append(rows, sampled{c.CommitTime, string(key), change.Row{Type: change.Upsert, Sequence: sequence, Data: data}}), nil
}

// arrive gives the rows their times of arrival: of their commits, or evenly over a
// span, where that is given. It returns the span.
func (s *sample) arrive(span time.Duration) (time.Duration, error) {
	if span > 0 {
		total := 0
		for _, rows := range s.tables {
			total += len(rows)
		}
		for _, rows := range s.tables { // each table's rows come all the time
			for i := range rows {
				rows[i].at = time.Unix(0, 0).Add(time.Duration(float64(span) * float64(i) / float64(len(rows))))
			}
		}
		return span, nil
	}
	if !s.timed {
		return 0, errors.New("the messages don't tell when their changes were committed; give -span, the time in which they came")
	}
	var first, last time.Time
	for _, rows := range s.tables {
		for i := range rows {
			if at := rows[i].at; first.IsZero() || at.Before(first) {
				first = at
			}
			if at := rows[i].at; at.After(last) {
				last = at
			}
		}
	}
	if span = last.Sub(first); span <= 0 {
		return 0, errors.New("all changes were committed at one time; give -span, the time in which the messages came")
	}
	return span, nil
}

// traffic returns each table's traffic, in the order of their names.
func (s *sample) traffic(span time.Duration) []Traffic {
	names := make([]table.Name, 0, len(s.tables))
	for name := range s.tables {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b table.Name) int { return cmp.Compare(a.String(), b.String()) })
	all := make([]Traffic, 0, len(names))
	for _, name := range names {
		rows := s.tables[name]
		t := Traffic{Table: name.String(), Sampled: len(rows), After: func(window time.Duration) Load { return coalesced(rows, window, span) }}
		for i := range rows {
			t.Before.Rows += 1 / span.Seconds()
			t.Before.Bytes += float64(len(rows[i].row.Data)) / span.Seconds()
		}
		all = append(all, t)
	}
	return all
}

// coalesced is what is left of rows where of each key and window one row is, by the
// pipeline's own rule.
func coalesced(rows []sampled, window, span time.Duration) Load {
	type place struct {
		key    string
		window int64
	}
	last := make(map[place]change.Row)
	for i := range rows {
		at := place{rows[i].key, floorDiv(rows[i].at.UnixNano(), int64(window))}
		row, ok := last[at]
		if ok {
			row = change.Supersede(row, rows[i].row)
		} else {
			row = rows[i].row
		}
		last[at] = row
	}
	var l Load
	for _, row := range last {
		l.Rows += 1 / span.Seconds()
		l.Bytes += float64(len(row.Data)) / span.Seconds()
	}
	return l
}

func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}
