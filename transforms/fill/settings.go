package fill

import (
	"slices"
	"strings"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// settings are those of one table.
type settings struct {
	table.Fill
	soft *table.SoftDelete // nil where deletes are hard
	// fills says that what the source left out is filled in. It is false where only
	// deletes need what is remembered.
	fills bool
}

func settingsOf(rule *table.Rule) *settings {
	s := &settings{Fill: rule.Fill.WithDefaults(), fills: rule.UnavailableValues == "fill"}
	if rule.Deletes == "soft" {
		soft := rule.SoftDelete.WithDefaults()
		s.soft = &soft
	}
	return s
}

// reads says that a row which is not remembered is read from BigQuery.
func (s *settings) reads() bool { return s.FirstSeen == "read" }

// remembers reports whether the column's values are remembered at all.
func (s *settings) remembers(name string) bool {
	return s.fills && (len(s.Columns) == 0 || slices.ContainsFunc(s.Columns, func(c string) bool { return strings.EqualFold(c, name) }))
}

// kept returns the columns whose values may be asked for once the row has changed
// again: those that the rule names, or, where it names none, of a source whose updates
// may lack any column all of them; of others those that can be stored out of line,
// which numbers and times never are, and NULL, which hides what was there before.
func (s *settings) kept(columns []change.Column, partial bool) []change.Column {
	kept := make([]change.Column, 0, len(columns))
	for _, c := range columns {
		switch c.Value.Kind() {
		case change.KindUnavailable:
			continue
		case change.KindBool, change.KindInt64, change.KindUint64, change.KindFloat64, change.KindNumber, change.KindDate,
			change.KindTime, change.KindDateTime, change.KindTimestamp, change.KindInterval:
			if !partial && len(s.Columns) == 0 {
				continue
			}
		default:
		}
		if s.remembers(c.Name) {
			kept = append(kept, c)
		}
	}
	return kept
}

// deletedAtColumn is the column that says when a row was deleted; "" where none does.
func (s *settings) deletedAtColumn() string {
	if s.soft == nil {
		return ""
	}
	return s.soft.Time
}

// deletedColumns are what soft deletes add to a row.
func (s *settings) deletedColumns(deleted bool, at time.Time) []change.Column {
	if s.soft == nil {
		return nil
	}
	when := change.Null()
	if deleted && !at.IsZero() {
		when = change.Timestamp(at.UnixMicro())
	}
	return []change.Column{{Name: s.soft.Flag, Value: change.Bool(deleted)}, {Name: s.soft.Time, Value: when}}
}
