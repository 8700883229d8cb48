package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
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
//     other is 400 invalid with BigQuery's text. See the engine's alter.go.
//   - A primary key may be added, changed and removed; pending changes are applied
//     first, by the key that they were sent for.
//   - delete drops the table at once.
//   - A view's schema is that of its query, which is GoogleSQL, whatever the request's
//     says; useLegacySql true is 501. So are materialized views and external tables;
//     snapshots and clones are made by copy jobs and by SQL.
//   - get shows numRows and numBytes of what was applied, and pending changes as the
//     streamingBuffer, unless view is BASIC; plain rows are in no buffer.
//   - list pages by maxResults and pageToken.

func tableOf(r *http.Request) engine.TableRef {
	return engine.TableRef{Project: r.PathValue("project"), Dataset: r.PathValue("dataset"), Table: r.PathValue("table")}
}

func (s *Service) createTable(r *http.Request) (any, error) {
	resource := &bq.Table{}
	if err := decodeBody(r, resource); err != nil {
		return nil, err
	}
	if err := s.checkKind(r, resource); err != nil {
		return nil, err
	}
	var name string
	if resource.TableReference != nil {
		name = resource.TableReference.TableId
	}
	return s.engine.CreateTable(r.Context(), engine.TableRef{Project: r.PathValue("project"), Dataset: r.PathValue("dataset"), Table: name}, resource)
}

// checkKind refuses what is neither a table nor a view, and gives a view its schema.
func (s *Service) checkKind(r *http.Request, resource *bq.Table) error {
	for name, set := range map[string]bool{
		"materialized views": resource.MaterializedView != nil, "external tables": resource.ExternalDataConfiguration != nil,
		"snapshots": resource.SnapshotDefinition != nil, "clones": resource.CloneDefinition != nil, "BigLake tables": resource.BiglakeConfiguration != nil,
	} {
		if set {
			return engine.Unimplemented("%s are not implemented by this emulator", name)
		}
	}
	v := resource.View
	if v == nil {
		return nil
	}
	switch {
	case v.UseLegacySql:
		return engine.Unimplemented("legacy SQL is not implemented by this emulator: set useLegacySql to false")
	case len(v.UserDefinedFunctionResources) > 0:
		return engine.Unimplemented("user-defined functions of views are not implemented by this emulator")
	}
	schema, err := s.options.Executor.ViewSchema(r.Context(), datasetOf(r), v.Query)
	if err != nil {
		return err
	}
	if resource.Schema != nil {
		describe(schema.Fields, resource.Schema.Fields)
	}
	resource.Schema = schema
	return nil
}

// describe takes the descriptions of fields over.
func describe(fields, from []*bq.TableFieldSchema) {
	for _, f := range fields {
		for _, g := range from {
			if g != nil && strings.EqualFold(f.Name, g.Name) {
				f.Description = g.Description
				describe(f.Fields, g.Fields)
			}
		}
	}
}

func (s *Service) getTable(r *http.Request) (any, error) {
	ref := tableOf(r)
	if ref.Dataset == anonymousDataset {
		return s.anonymousResource(ref)
	}
	table, partition, _ := strings.Cut(ref.Table, "$")
	if strings.HasPrefix(partition, "__") { // $__PARTITIONS_SUMMARY__, which isn't the table
		return nil, engine.Unimplemented("%s is not implemented by this emulator", engine.Clip(ref.Table))
	}
	ref.Table = table
	t, err := s.engine.Table(ref)
	if err != nil {
		return nil, err
	}
	resource := *t.Resource()
	if resource.View != nil || r.URL.Query().Get("view") == "BASIC" {
		return &resource, nil
	}
	if err := s.measure(r.Context(), t, &resource); err != nil {
		return nil, err
	}
	return &resource, nil
}

// measure fills in how large a table is.
func (s *Service) measure(ctx context.Context, t *engine.Table, resource *bq.Table) error {
	resource.ForceSendFields = []string{"NumRows", "NumBytes", "NumLongTermBytes"}
	if len(t.Schema().Columns) == 0 {
		return nil
	}
	snapshot, err := s.engine.Snapshot(ctx, []engine.TableRef{t.Ref()})
	if err != nil {
		return err
	}
	defer snapshot.Close()
	applied, err := snapshot.Size(ctx, t.Ref(), engine.ReadOptions{Baseline: true}, nil, "")
	if err != nil {
		return err
	}
	resource.NumRows, resource.NumBytes = uint64(applied.Rows), applied.Bytes
	all, err := snapshot.Size(ctx, t.Ref(), engine.ReadOptions{Everything: true}, nil, "")
	if err != nil {
		return err
	}
	if pending := all.Rows - applied.Rows; pending > 0 {
		resource.StreamingBuffer = &bq.Streamingbuffer{EstimatedRows: uint64(pending), EstimatedBytes: uint64(max(0, all.Bytes-applied.Bytes))}
	}
	return nil
}

func (s *Service) listTables(r *http.Request) (any, error) {
	tables, err := s.engine.Tables(datasetOf(r))
	if err != nil {
		return nil, err
	}
	first, last, token, err := listPage(r, len(tables))
	if err != nil {
		return nil, err
	}
	list := &bq.TableList{Kind: "bigquery#tableList", TotalItems: int64(len(tables)), NextPageToken: token}
	for _, t := range tables[first:last] {
		resource := t.Resource()
		list.Tables = append(list.Tables, &bq.TableListTables{
			Clustering: resource.Clustering, CreationTime: resource.CreationTime, ExpirationTime: resource.ExpirationTime,
			FriendlyName: resource.FriendlyName, Id: resource.Id, Kind: resource.Kind, Labels: resource.Labels,
			RangePartitioning: resource.RangePartitioning, TableReference: resource.TableReference,
			TimePartitioning: resource.TimePartitioning, Type: resource.Type,
		})
	}
	return list, nil
}

// listPage reads maxResults and pageToken for a list of count items: it has those from
// first up to last, and token continues it.
func listPage(r *http.Request, count int) (first, last int, token string, err error) {
	query := r.URL.Query()
	if text := query.Get("pageToken"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 0 || first > count {
			return 0, 0, "", engine.Invalid("Invalid value for pageToken: %s", engine.Clip(text))
		}
	}
	last = count
	if text := query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, 0, "", engine.Invalid("Invalid value for maxResults: %s", engine.Clip(text))
		}
		if n > 0 && n < count-first {
			last = first + n
			token = strconv.Itoa(last)
		}
	}
	return first, last, token, nil
}

func (s *Service) patchTable(r *http.Request) (any, error) {
	var patch map[string]any
	if err := decodeBody(r, &patch); err != nil {
		return nil, err
	}
	return s.changeTable(r, func(current *bq.Table) (*bq.Table, error) {
		changed := &bq.Table{}
		return changed, patched(current, patch, changed)
	})
}

func (s *Service) updateTable(r *http.Request) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	return s.changeTable(r, func(*bq.Table) (*bq.Table, error) {
		changed := &bq.Table{}
		_, err := unmarshal(body, changed)
		return changed, err
	})
}

// changeTable changes a table's resource. A view's schema is found before the view is
// locked, for its query may read any table; it is changed anew if it changes meanwhile.
func (s *Service) changeTable(r *http.Request, change func(current *bq.Table) (*bq.Table, error)) (any, error) {
	for {
		t, err := s.engine.Table(tableOf(r))
		if err != nil {
			return nil, err
		}
		before := t.Resource()
		if err := checkETag(r, before.Etag); err != nil {
			return nil, err
		}
		changed, err := change(before)
		if err != nil {
			return nil, err
		}
		if (before.View != nil) != (changed.View != nil) {
			return nil, engine.Invalid("Table %s can't become a view, nor a view a table.", tableOf(r))
		}
		if err := s.checkKind(r, changed); err != nil {
			return nil, err
		}
		result, err := s.engine.ChangeTable(r.Context(), tableOf(r), func(current *bq.Table) (*bq.Table, error) {
			if current.Etag != before.Etag {
				return nil, errChanged
			}
			return changed, nil
		})
		if !errors.Is(err, errChanged) {
			return result, err
		}
	}
}

var errChanged = errors.New("the table has changed meanwhile")

func (s *Service) deleteTable(r *http.Request) (any, error) {
	return nil, s.engine.DropTable(r.Context(), tableOf(r))
}
