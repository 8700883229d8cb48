package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"
	"golang.org/x/sync/singleflight"

	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Catalog knows the destination tables. It is safe for any number of goroutines.
type Catalog struct {
	config Config
	client *bigquery.Client
	router *table.Router
	flight singleflight.Group // one read of a table at a time, whoever asks

	plains plains // of a catalog of plain tables

	mu     sync.Mutex
	tables map[string]*entry // by "project.dataset.table"
	fences map[string]Fence  // by the same

	altering alterings
}

// entry is what the catalog knows of one table. Its fields are replaced, never changed.
type entry struct {
	name        table.Name
	rule        *table.Rule // nil for a table that no rule was asked for yet
	declared    []string    // the key that a message named, where the rule names none
	destination *Destination
	err         error     // why destination is nil
	readAt      time.Time // when reading it began
	stale       error     // why the read at readAt failed, though destination is known from before

	// versions are the plans of every version of the schema that was seen, and of
	// the older ones that could be told from it, by fingerprint: rows that were
	// encoded before a change are still on their way after it.
	versions map[uint64]*rowproto.Plan
	unknown  map[uint64]time.Time // fingerprints that a read at this time did not explain
}

// Destination is a table that rows can be written to.
type Destination struct {
	Rule  *table.Rule
	Table *table.Table
	Plan  *rowproto.Plan
	// Hides says that the table is a view, and has the columns of the one behind it,
	// those that it hides among them.
	Hides bool

	// Before is the table as BigQuery's writers know it for sure, where that may be
	// another than this one: while it is Young. A row that fits it had better be
	// encoded for it. Since is when the table became what it is; zero for unknown.
	Before *Destination
	Since  time.Time
}

var processCatalogs = struct {
	sync.Mutex
	byConfig map[string]*Catalog
}{byConfig: make(map[string]*Catalog)}

// Open returns the process's catalog of this configuration, made on first use;
// Beam tears nothing down, so that it lives as long as the process. It does not
// connect: an endpoint out of reach shows at the first table, or in
// [Catalog.Check].
func Open(ctx context.Context, c Config) (*Catalog, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, &Error{Permanent: true, Err: fmt.Errorf("marshalling its configuration: %w", err)}
	}
	processCatalogs.Lock()
	defer processCatalogs.Unlock()
	if opened := processCatalogs.byConfig[string(text)]; opened != nil {
		return opened, nil
	}
	opened, err := newCatalog(context.WithoutCancel(ctx), c)
	if err != nil {
		return nil, err
	}
	processCatalogs.byConfig[string(text)] = opened
	return opened, nil
}

func newCatalog(ctx context.Context, c Config) (*Catalog, error) {
	c = c.withDefaults()
	router, err := table.NewRouter(c.Project, c.Rules, c.Reserved...)
	if err != nil {
		return nil, &Error{Permanent: true, Err: err}
	}
	client, err := newClient(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Catalog{config: c, client: client, router: router, tables: make(map[string]*entry), fences: make(map[string]Fence)}, nil
}

func (c *Catalog) entry(name table.Name) *entry {
	var room [128]byte
	key := append(append(append(room[:0], name.Project...), '.'), name.Dataset...)
	key = append(append(key, '.'), name.Table...) // as its String, in no memory of its own
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables[string(key)]
}

// fresh reports whether the table was read less than RefreshEvery ago.
func (c *Catalog) fresh(e *entry) bool { return time.Since(e.readAt) < c.config.RefreshEvery }

// load returns what is known of the table if that is enough, and else reads it,
// creating it where it may. All who ask at one time share one read, which goes on
// when the first of them gives up: its context belongs to a bundle, the answer
// does not. The entry's err is about the table; the other error is ctx's end.
func (c *Catalog) load(ctx context.Context, name table.Name, rule *table.Rule, declared []string, enough func(*entry) bool) (*entry, error) {
	asked := time.Now()
	for {
		if e := c.entry(name); e != nil && (enough(e) || e.readAt.After(asked)) {
			return e, nil
		}
		flight := c.flight.DoChan(name.String(), func() (any, error) {
			// Another read may have ended between the look above and this one's turn.
			if e := c.entry(name); e == nil || !enough(e) {
				c.loadOnce(context.WithoutCancel(ctx), name, rule, declared)
			}
			return nil, nil
		})
		select {
		case <-flight: // someone else's, perhaps, for whom less was enough
		case <-ctx.Done():
			return nil, &Error{Table: name, Err: fmt.Errorf("table %v: reading its schema: %w", name, context.Cause(ctx))}
		}
	}
}

// loadOnce reads the table and keeps what came of it.
func (c *Catalog) loadOnce(ctx context.Context, name table.Name, rule *table.Rule, declared []string) {
	e := c.begin(name, rule, declared, time.Now())
	e.destination, e.err = c.readOrCreate(ctx, name, e.rule, e.declared)
	c.keep(e)
}

// begin returns what is to become the table's entry, read at this time.
func (c *Catalog) begin(name table.Name, rule *table.Rule, declared []string, readAt time.Time) *entry {
	before := c.entry(name)
	e := &entry{name: name, rule: rule, declared: declared, readAt: readAt, versions: make(map[uint64]*rowproto.Plan), unknown: make(map[uint64]time.Time)}
	if e.rule == nil {
		e.rule = c.ruleOf(name)
	}
	if before != nil {
		e.rule = cmp.Or(e.rule, before.rule)
		if len(declared) == 0 {
			e.declared = before.declared
		}
	}
	return e
}

// keep keeps an entry whose destination or err is set, unless the table was read
// again since: an answer that is on its way for long must not undo a later one.
func (c *Catalog) keep(e *entry) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tables[e.name.String()]
	if before != nil && before.readAt.After(e.readAt) {
		return before
	}
	var known *Destination
	if before != nil {
		known = before.destination
		maps.Copy(e.versions, before.versions)
	}
	switch {
	case e.err == nil:
		if known != nil && before.rule == e.rule && reflect.DeepEqual(known.Table, e.destination.Table) {
			e.destination = known
		} else {
			settle(e.destination, known, e.readAt)
		}
		for _, d := range []*Destination{e.destination.Before, e.destination} {
			if d != nil {
				e.versions[d.Plan.Fingerprint()] = d.Plan
			}
		}
	case !IsPermanent(e.err) && known != nil:
		// What is known stays good enough to encode by while BigQuery is out of reach.
		e.destination, e.err, e.stale = known, nil, e.err
	}
	c.tables[e.name.String()] = e
	return e
}

// ruleOf returns the rule whose destination is name whatever its source, or nil:
// a worker that only writes rows has routed none.
func (c *Catalog) ruleOf(name table.Name) *table.Rule {
	for _, m := range c.router.Literals() {
		if m.Name == name {
			return m.Rule
		}
	}
	return nil
}

// errUndeclared says that a table can't be created before a message names its key.
var errUndeclared = errors.New("its rule has no primary_key, and no message has named the key yet; add primary_key to the rule")

// readOrCreate returns the table as it is to be written to.
func (c *Catalog) readOrCreate(ctx context.Context, name table.Name, rule *table.Rule, declared []string) (*Destination, error) {
	t, err := c.read(ctx, name)
	if errors.Is(err, errMissing) && rule != nil {
		if !c.config.CreateTables {
			return nil, permanently(name, "table %v: %w; create it, or set create_tables", name, errMissing)
		}
		keyed := *rule
		if len(keyed.PrimaryKey) == 0 {
			if len(declared) == 0 && len(rule.Columns) > 0 {
				return nil, permanently(name, "table %v: %w, and can't be created: %w", name, errMissing, errUndeclared)
			}
			keyed.PrimaryKey = inOrder(declared, rule.Columns)
		}
		wanted, bad := table.FromRule(name, &keyed)
		if bad != nil {
			return nil, permanently(name, "creating what is missing: %w", bad)
		}
		if err := c.create(ctx, wanted); err != nil {
			return nil, err
		}
		t, err = c.read(ctx, name) // someone else may have created it, in another shape
	}
	if err != nil {
		return nil, err
	}
	d, err := destinationOf(rule, t)
	if err == nil {
		d.Hides = c.isView(name)
	}
	return d, err
}

// destinationOf returns the table as rows are written to it, or why they can't be.
func destinationOf(rule *table.Rule, t *table.Table) (*Destination, error) {
	problems := table.Problems(t)
	if rule != nil {
		problems = append(problems, table.CheckKey(rule.PrimaryKey, t))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, &Error{Table: t.Name, Permanent: true, Err: err}
	}
	if rule != nil {
		hinted, err := table.WithHints(t, rule)
		if err != nil {
			return nil, &Error{Table: t.Name, Permanent: true, Err: err}
		}
		t = hinted
	}
	plan, err := rowproto.Compile(t)
	if err != nil {
		return nil, &Error{Table: t.Name, Permanent: true, Err: err}
	}
	return &Destination{Rule: rule, Table: t, Plan: plan}, nil
}

// inOrder returns the names in the order of the columns: a message names its key
// in no particular order, and the key decides how the table is clustered.
func inOrder(names []string, columns []table.Column) []string {
	place := func(name string) int {
		return slices.IndexFunc(columns, func(c table.Column) bool { return strings.EqualFold(c.Name, name) })
	}
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}
