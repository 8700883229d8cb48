package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/expression"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Enrichment is what a rule's steps make of a source's row, as far as the row alone
// tells: it is done to the source's rows before they are compared. What else goes into
// a column is known when its change comes, and later by nobody.
type Enrichment struct {
	enricher *enrichment.Enricher
	// Left are the columns of the result that are not compared, by why.
	Left map[string]string

	columns []origin // of the result
}

// origin is a column of the result, and of the source's the one that it was; "" for one
// that a step makes.
type origin struct {
	name, source string
	masked       bool
}

// NewEnrichment returns what the rule's steps do to rows of a source with these columns,
// nil where it has no steps. rows is compiled for the table; key reads a mask's key.
func NewEnrichment(rule *table.Rule, rows *rowproto.Plan, columns []string, key func(table.SecretKey) ([]byte, error)) (*Enrichment, error) {
	if len(rule.Enrich) == 0 {
		return nil, nil //nolint:nilnil // documented
	}
	e := &Enrichment{Left: map[string]string{}}
	for _, name := range columns {
		e.columns = append(e.columns, origin{name: name, source: name})
	}
	var steps []table.Step
	for i := range rule.Enrich {
		s, err := e.step(&rule.Enrich[i], key)
		if err != nil {
			return nil, fmt.Errorf("enrich[%d].%s: %w", i, rule.Enrich[i].Kind(), err)
		}
		if s.Kind() != "" {
			steps = append(steps, s)
		}
	}
	plan, problems := enrichment.Compile(steps, rows, true)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	var secrets [][]byte
	for _, where := range plan.Secrets() {
		secret, err := key(*where)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	var err error
	e.enricher, err = plan.NewEnricher(nil, secrets)
	return e, err
}

// step returns what of a step the row alone decides, and notes what it does to the columns.
func (e *Enrichment) step(s *table.Step, key func(table.SecretKey) ([]byte, error)) (pure table.Step, err error) {
	switch {
	case s.Lookup != nil:
		for _, pair := range s.Lookup.Columns {
			e.leave(pair.Column, "a lookup's reference may be another by now")
		}
	case s.Set != nil:
		return e.set(s.Set)
	case s.Where != "":
		if why, err := e.impure(s.Where); err != nil || why != "" {
			return pure, cmp.Or(err, fmt.Errorf("%s: which of the source's rows belong into the table can't be told from them, so that it can't be compared", why))
		}
		pure.Where = s.Where
	case s.Metadata != nil:
		for _, m := range s.Metadata {
			if m.Of == table.MetadataTable {
				pure.Metadata = append(pure.Metadata, m)
				e.make(m.Column)
				continue
			}
			e.leave(m.Column, "it tells of the change")
		}
	case s.Rename != nil:
		pure.Rename = s.Rename
		e.rename(s.Rename)
	case s.Drop != nil:
		pure.Drop = s.Drop
		for _, name := range s.Drop {
			e.forget(name)
		}
	case s.Mask != nil:
		pure.Mask = e.mask(s.Mask, key)
	}
	return pure, nil
}

func (e *Enrichment) set(assignments []table.Assignment) (pure table.Step, err error) {
	reasons := make([]string, len(assignments)) // all see the row as it was before the step
	for i, a := range assignments {
		if reasons[i], err = e.impure(a.Expression); err != nil {
			return pure, err
		}
	}
	for i, a := range assignments {
		if reasons[i] != "" {
			e.leave(a.Column, reasons[i])
			continue
		}
		pure.Set = append(pure.Set, a)
		e.make(a.Column)
	}
	return pure, nil
}

// impure says why an expression's value doesn't follow from a source's row, "" where it does.
func (e *Enrichment) impure(text string) (string, error) {
	x, err := expression.CompileRow(text, &expression.Scope{Open: true})
	if err != nil {
		return "", err
	}
	for _, name := range x.Variables() {
		if name != "row" && name != "table" {
			return "its expression reads " + name + ", which is the change's", nil
		}
	}
	for _, name := range x.Columns() {
		if why, ok := e.Left[strings.ToLower(name)]; ok {
			return "its expression reads " + name + ", of which " + why, nil
		}
	}
	return "", nil
}

// mask returns the mask, nil where its key can't be read.
func (e *Enrichment) mask(m *table.Mask, key func(table.SecretKey) ([]byte, error)) *table.Mask {
	var unreadable error
	if m.Key != nil {
		_, unreadable = key(*m.Key)
	}
	for _, name := range m.Columns {
		at := e.find(name)
		switch {
		case at < 0: // the source lacks it, or it is not compared anyway
		case unreadable != nil:
			e.leave(name, fmt.Sprintf("the key of its mask can't be read here: %v", unreadable))
		default:
			e.columns[at].masked = true
		}
	}
	if unreadable != nil {
		return nil
	}
	return m
}

func (e *Enrichment) find(name string) int {
	return slices.IndexFunc(e.columns, func(c origin) bool { return strings.EqualFold(c.name, name) })
}

// make notes that a step gives a column a value that follows from the row.
func (e *Enrichment) make(name string) {
	e.forget(name)
	e.columns = append(e.columns, origin{name: name})
}

// leave notes that a step gives a column a value that doesn't.
func (e *Enrichment) leave(name, why string) {
	e.forget(name)
	e.Left[strings.ToLower(name)] = why
}

func (e *Enrichment) forget(name string) {
	delete(e.Left, strings.ToLower(name))
	if at := e.find(name); at >= 0 {
		e.columns = slices.Delete(e.columns, at, at+1)
	}
}

// rename gives columns their names, all at once: two may change places.
func (e *Enrichment) rename(renamings []table.Renaming) {
	places := make([]int, len(renamings))
	left := make([]string, len(renamings))
	for i, r := range renamings {
		places[i], left[i] = e.find(r.From), e.Left[strings.ToLower(r.From)]
		delete(e.Left, strings.ToLower(r.From))
	}
	for i, r := range renamings {
		if places[i] >= 0 {
			e.columns[places[i]].name = r.To
		}
		if left[i] != "" {
			e.Left[strings.ToLower(r.To)] = left[i]
		}
	}
}

// NewEnrichedTable is [NewTable] for a source whose rows the steps are done to; without
// steps it is the same. sourceColumns are the source's own.
func NewEnrichedTable(source string, destination *table.Table, sourceColumns []string, e *Enrichment) (*Table, error) {
	if e == nil {
		return NewTable(source, destination, sourceColumns)
	}
	compared := *destination
	compared.Columns = slices.Clone(destination.Columns)
	left := map[string]string{}
	compared.Columns = slices.DeleteFunc(compared.Columns, func(c table.Column) bool {
		why, ok := e.Left[strings.ToLower(c.Name)]
		if ok {
			left[c.Name] = why
		}
		return ok
	})
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.name
	}
	for _, name := range destination.PrimaryKey {
		why := e.Left[strings.ToLower(name)]
		if at := e.find(name); at >= 0 && e.columns[at].masked {
			why = "it is masked, so that rows of the source and of BigQuery can't be walked in one order"
		} else if at >= 0 && e.columns[at].source == "" {
			why = "a step of enrich makes it"
		}
		if why != "" {
			return nil, fmt.Errorf("%v can't be compared by column %s of its primary key: %s", destination.Name, name, why)
		}
	}
	t, err := NewTable(source, &compared, names)
	if err != nil {
		return nil, err
	}
	t.enrichment, t.Left, t.others = e, left, nil
	for i := range t.Columns {
		t.Columns[i].Source = e.columns[e.find(t.Columns[i].Name)].source
	}
	for _, name := range sourceColumns {
		input := Column{Column: table.Column{Name: name}, Source: name}
		if at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Source == name }); at >= 0 { // what its values are sent as
			input.Type, input.From = t.Columns[at].Type, t.Columns[at].From
		}
		t.inputs = append(t.inputs, input)
	}
	return t, nil
}

// enrichedRow takes a source's row, by the source's names, through the steps. It reports
// false for a row that a where leaves out.
func (t *Table) enrichedRow(columns []change.Column) (row Row, stays bool, err error) {
	event := change.Event{Table: t.Source, Op: change.OpSnapshot, After: columns}
	made, stays, err := t.enrichment.enricher.Row(&event, columns, anySequence)
	if bad, ok := errors.AsType[*enrichment.Error](err); ok {
		row, err = t.row(t.source, t.keyOf(columns))
		row.Columns, row.fields = nil, nil
		row.Refused = &rowproto.ValueError{Table: t.Name.String(), Column: bad.Column, Reason: bad.Reason, Err: bad}
		row.raw = columns
		return row, true, err
	}
	if err != nil {
		return Row{}, false, err
	}
	if !stays {
		row, err = t.row(t.source, t.keyOf(columns))
		row.Refused, row.raw = nil, columns
		return row, false, err
	}
	compared := make([]change.Column, 0, len(t.Columns))
	for i := range t.Columns {
		name := t.Columns[i].Name
		if at := slices.IndexFunc(made, func(c change.Column) bool { return strings.EqualFold(c.Name, name) }); at >= 0 {
			compared = append(compared, change.Column{Name: name, Value: made[at].Value})
		} else {
			compared = append(compared, change.Column{Name: name, Value: change.Null()})
		}
	}
	row, err = t.SourceRow(compared)
	row.raw = columns
	return row, true, err
}

// keyOf returns the key's columns of a source's row, by BigQuery's names.
func (t *Table) keyOf(columns []change.Column) []change.Column {
	key := make([]change.Column, 0, len(t.Key))
	for _, at := range t.Key {
		for _, c := range columns {
			if c.Name == t.Columns[at].Source {
				key = append(key, change.Column{Name: t.Columns[at].Name, Value: c.Value})
			}
		}
	}
	return key
}
