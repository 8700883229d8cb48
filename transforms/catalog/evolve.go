package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/internal/logs"
	"beamcdc/schemas/table"
)

// Altered is an alteration that this process made, once, with its statement.
type Altered struct {
	table.Alteration
	DDL string
}

// alterTries bounds how often a table is read anew because someone else altered it
// at the same time: each time someone has got further.
const alterTries = 20

// alterFor bounds a statement that changes a type, in CallTimeouts.
const alterFor = 6

// Evolve makes the table have what is wanted of it, as far as it can: what
// BigQuery refuses to widen is left out, and from then on one of Impossible. It
// returns the table, and what this process did to it.
//
// Columns are added and relaxed by tables.patch, all of one call at once, for the
// table's ETag: of many workers that want the same, one does it, and the others
// find it done. In a process one asks at a time. A type is changed by ALTER TABLE,
// which the API can't.
func (c *Catalog) Evolve(ctx context.Context, m Match, wanted []table.Alteration) (*Destination, []Altered, error) {
	if m.Err != nil {
		return nil, nil, &Error{Permanent: true, Err: m.Err}
	}
	release, err := c.altering.turn(ctx, m.Name)
	if err != nil {
		return nil, nil, &Error{Table: m.Name, Err: fmt.Errorf("table %v: altering it: %w", m.Name, err)}
	}
	defer release()
	if d, err, known := c.evolved(m, wanted); known {
		return d, nil, err
	}
	d, done, err := c.evolve(ctx, m, wanted)
	if IsPermanent(err) {
		c.altering.fail(m.Name, wanted, err)
	}
	return d, done, err
}

// evolved tells what is known already: the table has what is wanted, since another row
// of this process asked for it, or can't have it. What can't be done is not asked of
// BigQuery for every row.
func (c *Catalog) evolved(m Match, wanted []table.Alteration) (*Destination, error, bool) {
	e := c.entry(m.Name)
	if e == nil || e.rule != m.Rule || e.destination == nil {
		return nil, nil, false
	}
	pending := c.pending(e.destination.Table, wanted)
	if len(pending) == 0 {
		return e.destination, nil, true
	}
	if growth := table.GrowthOf(m.Rule); growth != nil && c.fresh(e) {
		if err := table.CheckGrowth(e.destination.Table, pending, growth); err != nil {
			return nil, &Error{Table: m.Name, Permanent: true, Err: err}, true
		}
	}
	err := c.altering.failed(m.Name, wanted, c.config.RefreshEvery)
	return nil, err, err != nil
}

func (c *Catalog) evolve(ctx context.Context, m Match, wanted []table.Alteration) (*Destination, []Altered, error) {
	var done []Altered
	for try := range alterTries {
		if try > 0 {
			if err := sleep(ctx, rand.N(min(time.Duration(try)*20*time.Millisecond, time.Second))); err != nil {
				return nil, done, &Error{Table: m.Name, Err: fmt.Errorf("table %v: altering it: %w", m.Name, err)}
			}
		}
		readAt := time.Now()
		t, metadata, err := c.readMetadata(ctx, m.Name)
		if err != nil {
			return nil, done, err
		}
		pending := c.pending(t, wanted)
		if len(pending) == 0 {
			d, err := c.adopt(m, t, readAt)
			return d, done, err
		}
		if growth := table.GrowthOf(m.Rule); growth != nil {
			if err := table.CheckGrowth(t, pending, growth); err != nil {
				return nil, done, &Error{Table: m.Name, Permanent: true, Err: err}
			}
		}
		made, err := c.alter(ctx, t, metadata, pending)
		if err != nil {
			return nil, done, err
		}
		for i := range made {
			ddl := made[i].DDL(m.Name, t.Columns)
			logs.Warn(ctx, "a table was altered to follow its source", logs.Table.Of(m.Name), logs.DDL.Of(ddl))
			done = append(done, Altered{made[i], ddl})
			t.Columns = table.Altered(t.Columns, made[i:i+1])
		}
	}
	return nil, done, &Error{Table: m.Name, Err: fmt.Errorf("table %v: altering it: others have altered it %d times meanwhile", m.Name, alterTries)}
}

// pending returns what the table lacks of what is wanted and possible.
func (c *Catalog) pending(t *table.Table, wanted []table.Alteration) []table.Alteration {
	impossible := c.Impossible(t.Name)
	var possible []table.Alteration
	for i := range wanted {
		if !impossible[wanted[i].Key()] {
			possible = append(possible, wanted[i])
		}
	}
	return table.Pending(t.Columns, possible)
}

// alter makes those of the alterations that one call makes, and returns them: none
// if someone else was faster, or if BigQuery refuses to widen a column.
func (c *Catalog) alter(ctx context.Context, t *table.Table, m *bigquery.TableMetadata, pending []table.Alteration) ([]table.Alteration, error) {
	var patch []table.Alteration
	for i := range pending {
		if pending[i].Kind != table.WidenColumn {
			patch = append(patch, pending[i])
		}
	}
	if len(patch) == 0 {
		return c.widen(ctx, t, m, pending[0])
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	update := bigquery.TableMetadataToUpdate{Schema: patched(m.Schema, table.Altered(t.Columns, patch))}
	update.SetLabel(alteredLabel, alteredNow(time.Now(), t))
	_, err := c.client.DatasetInProject(t.Name.Project, t.Name.Dataset).Table(t.Name.Table).Update(ctx, update, m.ETag)
	switch {
	case hasCode(err, http.StatusPreconditionFailed):
		return nil, nil
	case err != nil:
		return nil, classify(t.Name, "altering it ("+patch[0].DDL(t.Name, t.Columns)+" …)", err)
	}
	return patch, nil
}

// patched returns BigQuery's schema with the columns that are new and the modes that
// are. What else BigQuery says of a column stays as it is.
func patched(schema bigquery.Schema, columns []table.Column) bigquery.Schema {
	fields := toSchema(columns)
	for i := range schema { // columns are added at the end
		field := *schema[i]
		field.Required = fields[i].Required
		if len(field.Schema) > 0 {
			field.Schema = patched(field.Schema, columns[i].Fields)
		}
		fields[i] = &field
	}
	return fields
}

// widen changes a column's type. What BigQuery refuses is impossible from then on.
func (c *Catalog) widen(ctx context.Context, t *table.Table, m *bigquery.TableMetadata, a table.Alteration) ([]table.Alteration, error) {
	ctx, cancel := context.WithTimeout(ctx, alterFor*c.config.CallTimeout)
	defer cancel()
	q := c.client.Query(a.DDL(t.Name, t.Columns))
	q.ProjectID, q.Location = cmp.Or(c.config.Project, t.Name.Project), m.Location
	err := run(ctx, q)
	if err == nil {
		return []table.Alteration{a}, nil
	}
	if !refuses(err) {
		return nil, classify(t.Name, "altering it ("+a.DDL(t.Name, t.Columns)+")", err)
	}
	_, now, readErr := c.readMetadata(ctx, t.Name)
	if readErr != nil {
		return nil, readErr
	}
	if now.ETag == m.ETag { // no one else's doing
		c.altering.refuse(t.Name, a.Key())
		logs.Warn(ctx, "BigQuery refuses to alter a table; other values get a column beside", logs.Table.Of(t.Name),
			logs.DDL.Of(a.DDL(t.Name, t.Columns)), logs.Error.Of(err))
	}
	return nil, nil
}

func run(ctx context.Context, q *bigquery.Query) error {
	job, err := q.Run(ctx)
	if err != nil {
		return err
	}
	status, err := job.Wait(ctx)
	if err != nil {
		return err
	}
	return status.Err()
}

// refuses reports whether err says that a statement can't be right, rather than that
// it could not be run.
func refuses(err error) bool {
	if job := new(bigquery.Error); errors.As(err, &job) {
		return strings.HasPrefix(job.Reason, "invalid")
	}
	return hasCode(err, http.StatusBadRequest)
}

// adopt keeps the table as it was read after it was altered.
func (c *Catalog) adopt(m Match, t *table.Table, readAt time.Time) (*Destination, error) {
	e := c.begin(m.Name, m.Rule, m.Declared, readAt)
	e.destination, e.err = destinationOf(m.Rule, t)
	e = c.keep(e)
	return e.destination, e.err
}

// Impossible returns the Keys of the alterations that BigQuery has refused to make of
// the table. It is not to be changed.
func (c *Catalog) Impossible(name table.Name) map[string]bool { return c.altering.refused(name) }

// alterings is whose turn it is to alter a table, and what can't be done to it. Its
// zero value is ready to use.
type alterings struct {
	mu         sync.Mutex
	turns      map[table.Name]chan struct{}
	impossible map[table.Name]map[string]bool // the inner maps are replaced, never changed
	failures   map[table.Name]failure         // the last one of each
}

// failure is an attempt that no repetition helps, for a while.
type failure struct {
	wanted string
	err    error
	at     time.Time
}

func wantedKey(wanted []table.Alteration) string {
	var b strings.Builder
	for i := range wanted {
		b.WriteString(wanted[i].Key() + "\n")
	}
	return b.String()
}

func (a *alterings) fail(name table.Name, wanted []table.Alteration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures == nil {
		a.failures = make(map[table.Name]failure)
	}
	a.failures[name] = failure{wantedKey(wanted), err, time.Now()}
}

// failed returns the error of an attempt at the same less than d ago, nil for none.
func (a *alterings) failed(name table.Name, wanted []table.Alteration, d time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.failures[name]; ok && time.Since(f.at) < d && f.wanted == wantedKey(wanted) {
		return f.err
	}
	return nil
}

// turn waits until no one else of the process alters the table.
func (a *alterings) turn(ctx context.Context, name table.Name) (release func(), err error) {
	a.mu.Lock()
	if a.turns == nil {
		a.turns = make(map[table.Name]chan struct{})
	}
	turn := a.turns[name]
	if turn == nil {
		turn = make(chan struct{}, 1)
		a.turns[name] = turn
	}
	a.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (a *alterings) refuse(name table.Name, key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.impossible == nil {
		a.impossible = make(map[table.Name]map[string]bool)
	}
	keys := maps.Clone(a.impossible[name])
	if keys == nil {
		keys = make(map[string]bool)
	}
	keys[key] = true
	a.impossible[name] = keys
}

func (a *alterings) refused(name table.Name) map[string]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.impossible[name]
}
