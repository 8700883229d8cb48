package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Lag is for how long BigQuery's writers may not know that a table was altered: the
// Write API sees it "on the order of minutes" after tables.get does.
const Lag = 10 * time.Minute

// alteredLabel is the table's label that says when the pipeline altered it last, and
// how many columns it had before: every worker sees it, and the next run of the
// pipeline. Whoever takes it away makes rows wait that need not.
const alteredLabel = "beamcdc_altered"

// alteredNow returns the label of a table that is altered now, with the columns that
// it has before.
func alteredNow(now time.Time, t *table.Table) string {
	columns := len(t.Columns)
	if at, before, ok := readAltered(t.Altered); ok && now.Sub(at) < Lag && before < columns {
		columns = before // the writers may not know that alteration either
	}
	return fmt.Sprintf("%d_%d", now.Unix(), columns)
}

// readAltered reads the label.
func readAltered(label string) (at time.Time, columns int, ok bool) {
	seconds, count, _ := strings.Cut(label, "_")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return at, 0, false
	}
	columns, err = strconv.Atoi(count)
	return time.Unix(unix, 0), columns, err == nil && columns > 0
}

// settle finds out since when a table is as it is, and what it was before: from
// what this process knew of it, else from its label.
func settle(d, known *Destination, now time.Time) {
	at, columns, labelled := readAltered(d.Table.Altered)
	switch {
	case known != nil && sameColumns(known.Table, d.Table):
		d.Since, d.Before = known.Since, known.Before
	case known != nil && slices.Equal(known.Table.PrimaryKey, d.Table.PrimaryKey):
		d.Since = now
		d.Before = known.settled(now)
	case labelled && now.Sub(at) < Lag:
		d.Since = at
		d.Before = cut(d, columns)
	}
}

// settled returns the table as BigQuery's writers know it for sure.
func (d *Destination) settled(now time.Time) *Destination {
	if d.Young(now) && d.Before != nil {
		return d.Before
	}
	old := *d
	old.Before = nil
	return &old
}

// Young reports whether BigQuery's writers may not know the table as it is.
func (d *Destination) Young(now time.Time) bool { return !d.Since.IsZero() && now.Sub(d.Since) < Lag }

// Young reports whether BigQuery's writers may not know the table, by its full name,
// as this process knows it.
func (c *Catalog) Young(name string) bool {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return false
	}
	e := c.entry(parsed)
	return e != nil && e.destination != nil && e.destination.Young(time.Now())
}

// cut returns the destination with its first columns only, nil where there are no
// fewer, or where the key is among the others.
func cut(d *Destination, columns int) *Destination {
	if columns >= len(d.Table.Columns) {
		return nil
	}
	t := *d.Table
	t.Columns = t.Columns[:columns:columns]
	plan, err := rowproto.Compile(&t)
	if err != nil {
		return nil
	}
	return &Destination{Rule: d.Rule, Table: &t, Plan: plan}
}

func sameColumns(a, b *table.Table) bool {
	return reflect.DeepEqual(a.Columns, b.Columns) && slices.Equal(a.PrimaryKey, b.PrimaryKey)
}

// Grows reports whether a table, by its full name, may be altered to follow its
// source. Of a worker that only writes rows it takes every destination with {schema}
// or {table} in it for one, where any such rule's may.
func (c *Catalog) Grows(name string) bool {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return false
	}
	if rule := c.ruleOf(parsed); rule != nil {
		return table.GrowthOf(rule) != nil
	}
	for i := range c.config.Rules {
		if r := &c.config.Rules[i]; table.GrowthOf(r) != nil && strings.Contains(r.Destination, "{") {
			return true
		}
	}
	return false
}
