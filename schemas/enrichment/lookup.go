package enrichment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// lookup is a lookup, compiled.
type lookup struct {
	config    *table.Lookup
	reference *Reference
	key       []table.Column // the row's columns, as they compare
	places    []int          // by column of the key: in the destination, or -1
	defaults  []change.Value // by column; NULL where there is none
}

// comparable are the types by which keys compare: those with one form for each value.
var comparable = []table.Type{
	table.Bool, table.Int64, table.Numeric, table.BigNumeric, table.String, table.Bytes,
	table.Date, table.Time, table.DateTime, table.Timestamp,
}

func (c *compiler) lookup(config *table.Lookup) *lookup {
	l := &lookup{config: config, reference: new(Reference)}
	c.checkSource(config)
	if len(config.Key) == 0 {
		c.report("lookup.key", errors.New("it is missing; give the columns that must be equal, {customer_id: id}"))
	}
	if len(config.Columns) == 0 {
		c.report("lookup.columns", errors.New("it is missing; give the columns that the row gets, {customer_name: name}"))
	}
	for _, pair := range config.Key {
		c.key(l, pair)
	}
	for i, pair := range config.Columns {
		key := "lookup.columns." + pair.Column
		if slices.ContainsFunc(config.Columns[:i], func(b table.ColumnPair) bool { return strings.EqualFold(pair.Column, b.Column) }) {
			c.report(key, fmt.Errorf("column %s is there twice", pair.Column))
		}
		column, err := c.output(c.step, pair.Column)
		c.report(key, err)
		l.reference.Columns = append(l.reference.Columns, pair.Reference)
		l.defaults = append(l.defaults, c.missed(l, pair.Column, column))
	}
	c.checkMiss(config)
	return l
}

// checkSource reports a lookup without just one place that its reference is in.
func (c *compiler) checkSource(l *table.Lookup) {
	given := 0
	for _, source := range []string{l.CSV, l.JSONLines, l.Parquet, l.Table, l.Query} {
		if source != "" {
			given++
		}
	}
	if given != 1 {
		c.report("lookup", errors.New("give just one of csv, json_lines, parquet, table and query"))
	}
	if l.Nulls != "" && l.CSV == "" {
		c.report("lookup.nulls", errors.New("it has a meaning with csv only"))
	}
	if l.Refresh < 0 {
		c.report("lookup.refresh", fmt.Errorf("%s is no span of time", l.Refresh))
	}
	if parts := strings.Count(l.Table, "."); l.Table != "" && parts != 1 && parts != 2 {
		c.report("lookup.table", errors.New("it is no [project.]dataset.table"))
	}
}

// key adds a pair of columns that must be equal. They compare by the type of the
// row's column, or, where that is not known, by their texts.
func (c *compiler) key(l *lookup, pair table.ColumnPair) {
	key := "lookup.key." + pair.Column
	column, place, isText := table.Column{Type: table.String}, -1, true
	if known := c.column(c.step, pair.Column); known != nil {
		column, place, isText = *known, c.place(c.step, pair.Column), false
		if known.Mode == table.Repeated || !slices.Contains(comparable, known.Type) {
			c.report(key, fmt.Errorf("column %s is %s, and such values have no one form to compare by", pair.Column, known.SQLType()))
			return
		}
	} else if (find(c.after[c.step], pair.Column) == nil || has(c.gone, pair.Column)) && !c.open {
		c.report(key, fmt.Errorf("the row has no column %s", pair.Column))
		return
	}
	if slices.ContainsFunc(l.key, func(k table.Column) bool { return strings.EqualFold(k.Name, pair.Column) }) ||
		slices.ContainsFunc(l.reference.Key, func(k table.Column) bool { return strings.EqualFold(k.Name, pair.Reference) }) {
		c.report(key, fmt.Errorf("column %s is there twice", pair.Column))
		return
	}
	column.Mode, column.BadValues, column.Description = "", "", ""
	column.Name = pair.Column
	l.key = append(l.key, column)
	l.places = append(l.places, place)
	// What a value of the row's messages means is not what one of the reference's does.
	l.reference.Key = append(l.reference.Key, table.Column{Name: pair.Reference, Type: column.Type})
	l.reference.Texts = append(l.reference.Texts, isText)
}

// missed returns what a new column has where the reference lacks the row.
func (c *compiler) missed(l *lookup, name string, column *table.Column) change.Value {
	i := slices.IndexFunc(l.config.Defaults, func(d table.Default) bool { return strings.EqualFold(d.Column, name) })
	if i < 0 {
		if column != nil && column.Mode == table.Required && l.config.OnMiss != table.MissReject {
			c.report("lookup.columns."+name, fmt.Errorf("column %s of the table is REQUIRED; give it a default, or set on_miss: reject", name))
		}
		return change.Null()
	}
	v := change.Text(l.config.Defaults[i].Value)
	if column == nil || c.plan.rows == nil {
		return v
	}
	if _, err := c.plan.rows.NewEncoder().Typed(c.plan.rows.Column(column.Name), v); err != nil {
		if e, ok := errors.AsType[*rowproto.ValueError](err); ok {
			err = e.Err
		}
		c.report("lookup.defaults."+name, fmt.Errorf("column %s is %s: %w", name, column.SQLType(), err))
	}
	return v
}

func (c *compiler) checkMiss(l *table.Lookup) {
	switch l.OnMiss {
	case "", table.MissNull, table.MissReject, table.MissDefaults:
	default:
		c.report("lookup.on_miss", fmt.Errorf("%q is none of null, reject, defaults", l.OnMiss))
		return
	}
	for _, d := range l.Defaults {
		if !slices.ContainsFunc(l.Columns, func(p table.ColumnPair) bool { return strings.EqualFold(p.Column, d.Column) }) {
			c.report("lookup.defaults."+d.Column, fmt.Errorf("column %s is none of the lookup's columns", d.Column))
		}
	}
	word := cmp.Or(l.OnMiss, table.MissNull)
	if len(l.Defaults) > 0 && word != table.MissDefaults {
		c.report("lookup.defaults", fmt.Errorf("on_miss is %s; defaults mean something with on_miss: defaults only", word))
	}
	if len(l.Defaults) == 0 && word == table.MissDefaults {
		c.report("lookup.on_miss", errors.New("it says defaults, and there are none"))
	}
}
