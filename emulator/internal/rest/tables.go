package rest

import (
	"net/http"
	"strconv"

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
//   - delete drops the table at once: there is no time travel.
//   - Views, external tables, models, snapshots and clones are 501: see GAPS.md.
//   - list pages by maxResults and pageToken.

func tableOf(r *http.Request) engine.TableRef {
	return engine.TableRef{Project: r.PathValue("project"), Dataset: r.PathValue("dataset"), Table: r.PathValue("table")}
}

func (s *Service) createTable(r *http.Request) (any, error) {
	resource := &bq.Table{}
	if err := decodeBody(r, resource); err != nil {
		return nil, err
	}
	if resource.View != nil {
		return nil, engine.Unimplemented("views are not implemented by this emulator")
	}
	var name string
	if resource.TableReference != nil {
		name = resource.TableReference.TableId
	}
	return s.engine.CreateTable(r.Context(), engine.TableRef{Project: r.PathValue("project"), Dataset: r.PathValue("dataset"), Table: name}, resource)
}

func (s *Service) getTable(r *http.Request) (any, error) {
	if ref := tableOf(r); ref.Dataset == anonymousDataset {
		return s.anonymousResource(ref)
	}
	t, err := s.engine.Table(tableOf(r))
	if err != nil {
		return nil, err
	}
	return t.Resource(), nil
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
	return s.engine.ChangeTable(r.Context(), tableOf(r), func(current *bq.Table) (*bq.Table, error) {
		if err := checkETag(r, current.Etag); err != nil {
			return nil, err
		}
		var patch map[string]any
		if err := decodeBody(r, &patch); err != nil {
			return nil, err
		}
		changed := &bq.Table{}
		return changed, patched(current, patch, changed)
	})
}

func (s *Service) updateTable(r *http.Request) (any, error) {
	return s.engine.ChangeTable(r.Context(), tableOf(r), func(current *bq.Table) (*bq.Table, error) {
		if err := checkETag(r, current.Etag); err != nil {
			return nil, err
		}
		changed := &bq.Table{}
		return changed, decodeBody(r, changed)
	})
}

func (s *Service) deleteTable(r *http.Request) (any, error) {
	return nil, s.engine.DropTable(r.Context(), tableOf(r))
}
