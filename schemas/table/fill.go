package table

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Fill says how the rows of a table are completed from their other changes, where
// unavailable_values is fill or deletes is soft. Its zero value has the defaults.
type Fill struct {
	// FirstSeen says what becomes of a change that can't be completed, since its row
	// is met in the middle of its life: hold, read or reject; "" is hold.
	FirstSeen string `json:"first_seen,omitempty"`
	// HoldFor is how long a change waits for what completes it. Defaults to a minute.
	HoldFor time.Duration `json:"hold_for,omitempty"`
	// KeepFor is how long a row is remembered after its last change; 0 is for ever.
	KeepFor time.Duration `json:"keep_for,omitempty"`
	// MaxBytes is how much is remembered of one row. Defaults to 4 MiB.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Columns are those whose values are remembered. Empty: all that can be left out,
	// as far as their values tell.
	Columns []string `json:"columns,omitempty"`
	// VersionsColumn holds, with first_seen: read, which change each value is from.
	// Defaults to beamcdc_versions.
	VersionsColumn string `json:"versions_column,omitempty"`
}

// FirstSeenWords are the words of Fill.FirstSeen; the first is the default.
var FirstSeenWords = []string{"hold", "read", "reject"}

// The defaults of Fill.
const (
	DefaultHoldFor        = time.Minute
	DefaultFillBytes      = 4 << 20
	DefaultVersionsColumn = "beamcdc_versions"
)

// WithDefaults returns f with its zero values replaced; of nil the defaults.
func (f *Fill) WithDefaults() Fill {
	var of Fill
	if f != nil {
		of = *f
	}
	of.FirstSeen = cmp.Or(of.FirstSeen, FirstSeenWords[0])
	of.HoldFor = cmp.Or(of.HoldFor, DefaultHoldFor)
	of.MaxBytes = cmp.Or(of.MaxBytes, DefaultFillBytes)
	of.VersionsColumn = cmp.Or(of.VersionsColumn, DefaultVersionsColumn)
	return of
}

// SoftDelete names the columns that say, where deletes is soft, that a row was
// deleted. Its zero value has the defaults.
type SoftDelete struct {
	Flag string `json:"flag,omitempty"` // BOOL. Defaults to is_deleted
	Time string `json:"time,omitempty"` // TIMESTAMP, of the delete's commit. Defaults to deleted_at
}

// WithDefaults returns d with its zero values replaced; of nil the defaults.
func (d *SoftDelete) WithDefaults() SoftDelete {
	var of SoftDelete
	if d != nil {
		of = *d
	}
	of.Flag, of.Time = cmp.Or(of.Flag, "is_deleted"), cmp.Or(of.Time, "deleted_at")
	return of
}

// Completes reports whether the rule's rows are completed from their other changes
// before they are encoded: what the source left out is filled in, or a delete keeps
// the row. Their sequences then have a revision.
func (r *Rule) Completes() bool { return r.UnavailableValues == "fill" || r.Deletes == "soft" }

// OwnColumns returns the columns that the rule's settings need and no source has.
func (r *Rule) OwnColumns() []Column {
	var own []Column
	if r.Deletes == "soft" {
		names := r.SoftDelete.WithDefaults()
		own = append(own,
			Column{Name: names.Flag, Type: Bool, Description: "Whether the row was deleted at its source."},
			Column{Name: names.Time, Type: Timestamp, Description: "When the row was deleted at its source."})
	}
	if fill := r.Fill.WithDefaults(); (r.UnavailableValues == "fill" || r.Deletes == "soft") && fill.FirstSeen == "read" {
		own = append(own, Column{Name: fill.VersionsColumn, Type: String, Description: "Which change each value of the row is from; the pipeline reads it."})
	}
	if r.Truncates == "recreate" {
		own = append(own,
			Column{Name: SequenceColumn, Type: String, Description: "Of which change the row is; the pipeline reads it."},
			Column{Name: DeletedColumn, Type: Bool, Description: "Whether the row was deleted at its source, and is hidden."})
	}
	return own
}

// SequenceColumn and DeletedColumn are the columns of a table behind a view, with
// `truncates: recreate`, that the view hides.
const (
	SequenceColumn = "beamcdc_sequence"
	DeletedColumn  = "beamcdc_deleted"
)

// withOwn returns columns with those of the rule's own that they lack.
func (r *Rule) withOwn(columns []Column) []Column {
	if len(columns) == 0 {
		return columns // a table without columns is refused, and is to stay so
	}
	for _, c := range r.OwnColumns() {
		if !slices.ContainsFunc(columns, func(other Column) bool { return strings.EqualFold(other.Name, c.Name) }) {
			columns = append(columns, c)
		}
	}
	return columns
}
