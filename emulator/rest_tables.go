package emulator

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

// tables: insert, list, get, patch, update, delete
//
// Behavior:
//   - schema (all types and modes, maxLength, precision, scale, defaultValueExpression),
//     tableConstraints.primaryKey, clustering, timePartitioning, rangePartitioning,
//     maxStaleness, labels, description, friendlyName and expirationTime are checked
//     and kept; type names come back as BigQuery's legacy ones. What else a resource
//     holds is kept and shown, and changes nothing.
//   - Every change gives a new ETag; If-Match that names another one is 412.
//   - A schema change may add columns, NULLABLE or REPEATED, and relax REQUIRED; any
//     other is 400 invalid with BigQuery's text. See alter.go.
//   - A primary key may be added, changed and removed; pending changes are applied
//     first, by the key that they were sent for.
//   - delete drops the table at once: there is no time travel.
//   - Views, external tables, models, snapshots and clones are 501: see GAPS.md.
//   - list pages by maxResults and pageToken.

var tableName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]+$`)

func validTableName(name string) bool { return len(name) <= maxNameLen && tableName.MatchString(name) }

func tableOf(r *http.Request) tableRef {
	return tableRef{r.PathValue("project"), r.PathValue("dataset"), r.PathValue("table")}
}

func newETag() string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return base64.StdEncoding.EncodeToString(b[:])
}

func (s *Server) createTable(r *http.Request) (any, error) {
	resource := &bq.Table{}
	if err := decodeBody(r, resource); err != nil {
		return nil, err
	}
	if resource.TableReference == nil || !validTableName(resource.TableReference.TableId) {
		return nil, invalid("Invalid table ID. Table IDs must be alphanumeric (plus underscores, dashes and spaces) and must be at most 1024 characters long.")
	}
	ref := tableRef{r.PathValue("project"), r.PathValue("dataset"), resource.TableReference.TableId}
	t, err := s.addTable(r.Context(), ref, resource)
	if err != nil {
		return nil, err
	}
	return t.resource, nil
}

func (s *Server) addTable(ctx context.Context, ref tableRef, resource *bq.Table) (*table, error) {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	d, err := s.catalog.dataset(ref.in())
	if err != nil {
		return nil, err
	}
	if _, err := s.catalog.table(ref); err == nil {
		return nil, duplicate("Already Exists: Table %s", ref)
	}
	if err := checkTable(resource); err != nil {
		return nil, err
	}
	schema, err := newSchema(resource, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(resource, schema); err != nil {
		return nil, err
	}
	schema.version = 1
	s.catalog.nextID++
	t := &table{ref: ref, id: s.catalog.nextID, schema: schema, resource: resource}
	resource.CreationTime, resource.Location = s.options.Now().UnixMilli(), d.resource.Location
	s.finishTable(t, resource)
	err = s.store.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema.createSQL(baseName(t.id))); err != nil {
			return fmt.Errorf("creating table %s: %w", ref, err)
		}
		return saveTable(ctx, tx, t, resource, schema)
	})
	if err != nil {
		return nil, err
	}
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	s.catalog.tables[ref] = t
	return t, nil
}

// finishTable fills in what the server decides.
func (s *Server) finishTable(t *table, resource *bq.Table) {
	resource.Kind, resource.Id, resource.Etag, resource.Type = "bigquery#table", t.ref.String(), newETag(), "TABLE"
	resource.TableReference = &bq.TableReference{ProjectId: t.ref.project, DatasetId: t.ref.dataset, TableId: t.ref.table}
	resource.SelfLink = s.RESTAddr() + "/bigquery/v2/" + t.ref.path()
	resource.LastModifiedTime = uint64(s.options.Now().UnixMilli())
}

// saveTable writes a table's entry of the catalog.
func saveTable(ctx context.Context, tx *sql.Tx, t *table, resource *bq.Table, schema *schema) error {
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM emulator_tables WHERE id = ?", t.id); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO emulator_tables VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.id, t.ref.project, t.ref.dataset, t.ref.table, string(text), schema.columnIDs(), schema.version); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	return nil
}

// checkTable refuses what this emulator has no tables for.
func checkTable(resource *bq.Table) error {
	switch {
	case resource.View != nil, resource.MaterializedView != nil:
		return unimplemented("views are not implemented by this emulator")
	case resource.ExternalDataConfiguration != nil:
		return unimplemented("external tables are not implemented by this emulator")
	case resource.SnapshotDefinition != nil, resource.CloneDefinition != nil:
		return unimplemented("snapshots and clones are not implemented by this emulator")
	}
	if resource.MaxStaleness != "" {
		if _, err := parseInterval(resource.MaxStaleness); err != nil {
			return invalid("Invalid value for maxStaleness: %s", clip(resource.MaxStaleness))
		}
	}
	return nil
}

// checkLayout checks clustering and partitioning against the schema.
func checkLayout(resource *bq.Table, schema *schema) error {
	if c := resource.Clustering; c != nil {
		if len(c.Fields) == 0 || len(c.Fields) > maxClustering {
			return invalid("Clustering needs 1 to %d fields, not %d.", maxClustering, len(c.Fields))
		}
		for _, name := range c.Fields {
			if i, ok := schema.find(name); !ok {
				return invalid("The field specified for clustering cannot be found in the schema: %s", clip(name))
			} else if schema.columns[i].repeated || schema.columns[i].kind == kindStruct {
				return invalid("Clustering is not supported on the type of field %s.", clip(name))
			}
		}
	}
	if p := resource.TimePartitioning; p != nil {
		if err := checkTimePartitioning(p, schema); err != nil {
			return err
		}
	}
	if p := resource.RangePartitioning; p != nil {
		if i, ok := schema.find(p.Field); !ok || schema.columns[i].kind != kindInt64 || schema.columns[i].repeated {
			return invalid("The field specified for range partitioning must be a column of type INTEGER: %s", clip(p.Field))
		}
	}
	return nil
}

func checkTimePartitioning(p *bq.TimePartitioning, schema *schema) error {
	switch p.Type {
	case "DAY", "HOUR", "MONTH", "YEAR":
	default:
		return invalid("Invalid value for timePartitioning.type: %s", clip(p.Type))
	}
	if p.Field == "" {
		return nil
	}
	i, ok := schema.find(p.Field)
	if !ok {
		return invalid("The field specified for partitioning cannot be found in the schema: %s", clip(p.Field))
	}
	c := schema.columns[i]
	timed := c.kind == kindTimestamp || c.kind == kindDateTime || c.kind == kindDate && p.Type != "HOUR"
	if !timed || c.repeated {
		return invalid("The field specified for partitioning can only be of type TIMESTAMP, DATE or DATETIME. The type found is: %s.", c.kind)
	}
	return nil
}

func (s *Server) getTable(r *http.Request) (any, error) {
	t, err := s.catalog.table(tableOf(r))
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.resource, nil
}

func (s *Server) listTables(r *http.Request) (any, error) {
	ref := datasetOf(r)
	if _, err := s.catalog.dataset(ref); err != nil {
		return nil, err
	}
	tables := s.catalog.listTables(ref)
	first, last, token, err := page(r, len(tables))
	if err != nil {
		return nil, err
	}
	list := &bq.TableList{Kind: "bigquery#tableList", TotalItems: int64(len(tables)), NextPageToken: token}
	for _, t := range tables[first:last] {
		t.mu.RLock()
		resource := t.resource
		t.mu.RUnlock()
		list.Tables = append(list.Tables, &bq.TableListTables{
			Clustering: resource.Clustering, CreationTime: resource.CreationTime, ExpirationTime: resource.ExpirationTime,
			FriendlyName: resource.FriendlyName, Id: resource.Id, Kind: resource.Kind, Labels: resource.Labels,
			RangePartitioning: resource.RangePartitioning, TableReference: resource.TableReference,
			TimePartitioning: resource.TimePartitioning, Type: resource.Type,
		})
	}
	return list, nil
}

// page reads maxResults and pageToken for a list of count items: it has those from
// first up to last, and token continues it.
func page(r *http.Request, count int) (first, last int, token string, err error) {
	query := r.URL.Query()
	if text := query.Get("pageToken"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 0 || first > count {
			return 0, 0, "", invalid("Invalid value for pageToken: %s", clip(text))
		}
	}
	last = count
	if text := query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, 0, "", invalid("Invalid value for maxResults: %s", clip(text))
		}
		if n > 0 && n < count-first {
			last = first + n
			token = strconv.Itoa(last)
		}
	}
	return first, last, token, nil
}

func (s *Server) patchTable(r *http.Request) (any, error) {
	return s.changeTable(r, func(current *bq.Table) (*bq.Table, error) {
		var patch map[string]any
		if err := decodeBody(r, &patch); err != nil {
			return nil, err
		}
		changed := &bq.Table{}
		return changed, patched(current, patch, changed)
	})
}

func (s *Server) updateTable(r *http.Request) (any, error) {
	return s.changeTable(r, func(*bq.Table) (*bq.Table, error) {
		changed := &bq.Table{}
		return changed, decodeBody(r, changed)
	})
}

func (s *Server) deleteTable(r *http.Request) (any, error) {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	t, err := s.catalog.table(tableOf(r))
	if err != nil {
		return nil, err
	}
	return nil, s.dropTable(r.Context(), t)
}

// dropTable drops a table. The caller holds the catalog's ddl lock.
func (s *Server) dropTable(ctx context.Context, t *table) error {
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var statements strings.Builder
	fmt.Fprintf(&statements, "DROP TABLE %s; DELETE FROM emulator_tables WHERE id = %d;", baseName(t.id), t.id)
	for _, g := range t.generations() {
		fmt.Fprintf(&statements, "DROP TABLE %s;", pendingName(t.id, g.number))
	}
	err := s.store.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statements.String()); err != nil {
			return fmt.Errorf("dropping table %s: %w", t.ref, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.dropped = true
	t.dropPending(t.generation)
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	delete(s.catalog.tables, t.ref)
	return nil
}
