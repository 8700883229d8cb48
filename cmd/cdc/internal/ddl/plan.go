package ddl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"beamcdc/internal/printable"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/history"
)

// Statements are what one dataset, table or view needs.
type Statements struct {
	About  string   // what they are for
	SQL    []string // in order
	Notes  []string // what a user should know
	Left   []string // what no statement does
	Err    error    // why there are none
	target table.Name
	rule   *ruled // of rules that are to be written; nil for others
}

// planner finds out what the tables of a configuration need.
type planner struct {
	options *pipeline.Options
	router  *table.Router
	// look returns a table as BigQuery has it, nil for none.
	look func(ctx context.Context, name table.Name) (*table.Table, error)
	// hasDataset says whether a dataset is there.
	hasDataset func(ctx context.Context, project, dataset string) (bool, error)
	told       *told // what was given; nil for nothing
	rules      bool  // rules are to be written, not statements
	plan       []Statements
	datasets   map[string]bool
}

// planFor returns what the configuration's tables need: those that are described by
// the sources, and those that the rules alone describe.
func (p *planner) planFor(ctx context.Context, sources []*Source) error {
	type pair struct {
		match  table.Match
		source *Source
	}
	var pairs []pair
	for _, s := range sources {
		if m, ok := p.router.Route(s.Name); ok {
			pairs = append(pairs, pair{m, s})
		}
	}
	seen := make(map[int]bool)
	for _, q := range pairs {
		seen[q.match.Index] = true
	}
	for _, m := range p.router.Literals() {
		if !seen[m.Index] {
			seen[m.Index] = true
			pairs = append(pairs, pair{m, nil})
		}
	}
	for i := range p.options.Tables {
		if !seen[i] {
			why := p.lacking(p.options.Tables[i].Source)
			p.plan = append(p.plan, Statements{About: "tables[" + fmt.Sprint(i) + "], of " + p.options.Tables[i].Source, Err: errors.New(why)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.match.Index, b.match.Index) })
	for _, q := range pairs {
		if err := p.destination(ctx, q.match, q.source); err != nil {
			return err
		}
		if q.match.History != (table.Name{}) {
			if err := p.history(ctx, q.match.History); err != nil {
				return err
			}
		}
	}
	return p.letters(ctx)
}

// lacking says why nothing is known of a rule's source.
func (p *planner) lacking(source string) string {
	if p.told == nil {
		return fmt.Sprintf("no source is given that has a table for %q; give -source, -schema or -messages", source)
	}
	return p.told.lacking(source)
}

// destination plans a rule's table.
func (p *planner) destination(ctx context.Context, m table.Match, s *Source) error {
	of := m.Rule.Source
	if s != nil && s.Name != "" {
		of = s.Name
	}
	about := m.Name.String() + ", of " + of
	if m.Err != nil { // of this table alone
		bad := m.Err
		if of != m.Rule.Source && !legible(of) {
			bad = fmt.Errorf("%w; give it a rule of its own, with a destination that is spelled out, before this one (%s)", bad, m.Rule.Source)
		}
		p.plan = append(p.plan, Statements{About: "the table of " + of, Err: bad})
		return nil
	}
	t, notes, bad := wanted(m, s, p.lacking, p.rules)
	if bad != nil {
		p.plan = append(p.plan, Statements{About: about, Notes: notes, Err: bad})
		return nil //nolint:nilerr // it is in the plan: the other tables go on
	}
	if p.rules {
		r := &ruled{source: of, destination: m.Rule.Destination, table: t}
		if of != m.Rule.Source { // a pattern's
			r.destination = m.Name.String()
		}
		p.plan = append(p.plan, Statements{About: about, Notes: notes, rule: r})
		return nil
	}
	if m.Rule.Truncates != catalog.Recreate {
		return p.table(ctx, about, t, notes, s != nil)
	}
	first, view := catalog.FirstBehind(t)
	have, err := p.look(ctx, t.Name)
	switch {
	case err != nil:
		return err
	case have == nil:
		return p.create(ctx, about+": a view over one table after the other", t.Name, notes, first.DDL(), table.CreateView(view.Name, view.Query, ""))
	}
	first.Name = have.Name
	p.differ(about+": the table behind the view", have, first, notes, s != nil)
	return nil
}

// legible reports whether a pattern's destination takes the source's name.
func legible(source string) bool {
	for _, r := range source {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r) {
			return false
		}
	}
	return true
}

// table plans a table.
func (p *planner) table(ctx context.Context, about string, t *table.Table, notes []string, complete bool, views ...string) error {
	have, err := p.look(ctx, t.Name)
	if err != nil {
		return err
	}
	if have == nil {
		return p.create(ctx, about, t.Name, notes, append([]string{t.DDL()}, views...)...)
	}
	p.differ(about, have, t, notes, complete)
	return nil
}

// create plans what is missing, with the dataset that it is in.
func (p *planner) create(ctx context.Context, about string, name table.Name, notes []string, statements ...string) error {
	if dataset := name.Project + "." + name.Dataset; !p.datasets[dataset] {
		p.datasets[dataset] = true
		there, err := p.hasDataset(ctx, name.Project, name.Dataset)
		if err != nil {
			return fmt.Errorf("looking whether dataset %s is there: %w", dataset, err)
		}
		if !there {
			p.plan = append(p.plan, Statements{
				About: "dataset " + dataset, target: name,
				SQL: []string{table.CreateDataset(name.Project, name.Dataset, p.options.CatalogConfig().Location)},
			})
		}
	}
	p.plan = append(p.plan, Statements{About: about, SQL: statements, Notes: notes, target: name})
	return nil
}

// differ plans what makes a table that is there the wanted one. complete says that all
// columns of the source are known.
func (p *planner) differ(about string, have, wanted *table.Table, notes []string, complete bool) {
	d := have.Difference(wanted)
	for i := range have.Columns {
		if c := &have.Columns[i]; complete && c.Mode == table.Required && find(wanted.Columns, c.Name) == nil {
			d.Left = append(d.Left, fmt.Sprintf("column %s is REQUIRED, and the source has no such column, so that no row can be written: ALTER TABLE … ALTER COLUMN %[1]s DROP NOT NULL, if nothing else fills it", c.Name))
		}
	}
	if len(d.Statements)+len(d.Left) == 0 {
		about += ": it is as it should be"
	}
	p.plan = append(p.plan, Statements{About: about, SQL: d.Statements, Left: d.Left, Notes: notes, target: have.Name})
}

// history plans the table of every change, and its view.
func (p *planner) history(ctx context.Context, name table.Name) error {
	view := history.View(name)
	return p.table(ctx, name.String()+", a history", history.Table(name), nil, true, table.CreateView(view.Name, view.Query, view.Description))
}

// letters plans the dead letters' table, where they go to one.
func (p *planner) letters(ctx context.Context) error {
	destination := p.options.DeadLetters.Table
	if destination == "" {
		return nil
	}
	name, err := table.ParseName(destination, p.options.CatalogConfig().Project)
	if err != nil {
		return err
	}
	rule := deadletter.TableRule(destination)
	t, err := table.FromRule(name, &rule)
	if err != nil {
		return err
	}
	return p.table(ctx, name.String()+", dead letters", t, nil, true)
}

// comment writes a text as SQL's comments, each line of it: a name that a source has
// chosen must not end one, nor move a terminal's cursor.
func comment(text string) string {
	text = printable.Lines(text)
	return "-- " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n-- ") + "\n"
}
