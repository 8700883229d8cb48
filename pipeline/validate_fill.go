package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/keyed"
)

// validateFill checks what a rule says about completing its rows, and what that
// contradicts.
func (o *Options) validateFill(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	fills, soft := r.UnavailableValues == "fill", r.Deletes == "soft"
	if r.Fill != nil {
		o.validateFillSettings(r, at+"fill", report)
	}
	if r.Fill != nil && !fills && !soft {
		report(at+"fill", "it has a meaning with unavailable_values: fill or deletes: soft only")
	}
	if r.SoftDelete != nil && !soft {
		report(at+"soft_delete", "it has a meaning with deletes: soft only")
	}
	if !keyed.Completes(r) {
		return
	}
	asked := "unavailable_values"
	if !fills {
		asked = "deletes"
	}
	if o.CreateTables && len(r.PrimaryKey) == 0 && !strings.Contains(r.Destination, "{") {
		report(at+asked, "%s remembers rows by their key, and the rule names none: give primary_key, since the table may have to be created", asked)
	}
	if r.Sequence != "" {
		report(at+asked, "%s adds a revision to every sequence, and sequence is there to match another writer's: leave one out", asked)
	}
	if o.Source.Epoch > change.MaxRevisedEpoch {
		report("source.epoch", "%d is above %d: %s%s adds a revision to every sequence, and the epoch leaves no room for it",
			o.Source.Epoch, uint64(change.MaxRevisedEpoch), at, asked)
	}
	if f := r.Fill.WithDefaults(); f.FirstSeen == "read" {
		if r.MaxStaleness > 0 {
			report(at+"max_staleness", "a row that fill.first_seen: read reads could be as old as that: leave one out")
		}
		if len(r.Enrich) > 0 {
			report(at+"enrich", "the rows that fill.first_seen: read reads have its results, not what they were made from: set first_seen to hold or reject, or leave one out")
		}
	}
	if own := r.OwnColumns(); len(own) > 0 {
		validateOwnColumns(r, own, at, report)
	}
}

func (o *Options) validateFillSettings(r *table.Rule, at string, report reporter) {
	f := r.Fill
	if f.FirstSeen != "" && !slices.Contains(table.FirstSeenWords, f.FirstSeen) {
		report(at+".first_seen", "%q is none of %s", f.FirstSeen, strings.Join(table.FirstSeenWords, ", "))
	}
	if f.HoldFor < 0 || f.HoldFor == 0 && o.isSet(at+".hold_for") {
		report(at+".hold_for", "it must be more than 0; `first_seen: reject` waits for nothing")
	}
	if f.KeepFor < 0 {
		report(at+".keep_for", "it must not be below 0")
	}
	if f.MaxBytes == 0 && o.isSet(at+".max_bytes") {
		report(at+".max_bytes", "it must be more than 0")
	}
	if f.VersionsColumn != "" && f.FirstSeen != "read" {
		report(at+".versions_column", "it has a meaning with first_seen: read only")
	}
	for j, name := range f.Columns {
		key := fmt.Sprintf("%s.columns[%d]", at, j)
		switch {
		case slices.ContainsFunc(r.PrimaryKey, func(k string) bool { return strings.EqualFold(k, name) }):
			report(key, "column %s is part of the primary key, whose values are never left out", name)
		case o.CreateTables && len(r.Columns) > 0 && findColumn(r.Columns, name) == nil:
			report(key, "column %s is not among the table's columns", name)
		}
	}
}

// validateOwnColumns checks the columns that the settings need themselves.
func validateOwnColumns(r *table.Rule, own []table.Column, at string, report reporter) {
	key := func(c *table.Column) string {
		switch c.Type {
		case table.Bool:
			return at + "soft_delete.flag"
		case table.Timestamp:
			return at + "soft_delete.time"
		default:
			return at + "fill.versions_column"
		}
	}
	for i := range own {
		c := &own[i]
		if j := slices.IndexFunc(own[:i], func(other table.Column) bool { return strings.EqualFold(other.Name, c.Name) }); j >= 0 {
			report(key(c), "column %s is named twice", c.Name)
		}
		if slices.ContainsFunc(r.PrimaryKey, func(k string) bool { return strings.EqualFold(k, c.Name) }) {
			report(key(c), "column %s is part of the primary key", c.Name)
		}
		if listed := findColumn(r.Columns, c.Name); listed != nil && listed.Type != "" && (listed.Type != c.Type || listed.Mode == table.Repeated) {
			report(key(c), "column %s is listed as %s: it must be %s", c.Name, listed.Type, c.Type)
		}
		for _, problem := range columnProblems(*c) {
			report(key(c), "%v", problem)
		}
	}
}
