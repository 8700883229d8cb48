package emulator

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	bq "google.golang.org/api/bigquery/v2"
)

// datasets: insert, list, get, patch, update, delete
//
// Behavior:
//   - Names are checked as BigQuery does. An absent dataset is 404 notFound, one
//     that exists already 409 duplicate.
//   - Every change gives a new ETag; If-Match that names another one is 412.
//   - A dataset without a location is in US.
//   - delete refuses a dataset with tables (400 resourceInUse) unless deleteContents is true.
//   - list shows all of a project's datasets on one page; filter and all are ignored.
//   - Access entries, encryption, default expirations and the like are kept and
//     shown, and change nothing.

var datasetName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// maxNameLen is the most characters of a dataset's ID, and bytes of a table's.
const maxNameLen = 1024

func validDatasetName(name string) bool {
	return len(name) <= maxNameLen && datasetName.MatchString(name)
}

func datasetOf(r *http.Request) datasetRef {
	return datasetRef{r.PathValue("project"), r.PathValue("dataset")}
}

func (s *Server) createDataset(r *http.Request) (any, error) {
	resource := &bq.Dataset{}
	if err := decodeBody(r, resource); err != nil {
		return nil, err
	}
	if resource.DatasetReference == nil || !validDatasetName(resource.DatasetReference.DatasetId) {
		return nil, invalid("Invalid dataset ID. Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 characters long.")
	}
	return s.addDataset(r.Context(), datasetRef{r.PathValue("project"), resource.DatasetReference.DatasetId}, resource)
}

// CreateDataset creates an empty dataset of Options.Project; one that exists
// already is left as it is. For the command line and tests.
func (s *Server) CreateDataset(ctx context.Context, name string) error {
	if !validDatasetName(name) {
		return invalid("invalid dataset name %q: it must be letters, digits and underscores", clip(name))
	}
	ref := datasetRef{s.options.Project, name}
	if _, err := s.catalog.dataset(ref); err == nil {
		return nil
	}
	_, err := s.addDataset(ctx, ref, &bq.Dataset{})
	return err
}

func (s *Server) addDataset(ctx context.Context, ref datasetRef, resource *bq.Dataset) (*bq.Dataset, error) {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	if _, err := s.catalog.dataset(ref); err == nil {
		return nil, duplicate("Already Exists: Dataset %s", ref)
	}
	now := s.options.Now().UnixMilli()
	resource.CreationTime = now
	if resource.Location == "" {
		resource.Location = "US"
	}
	return resource, s.saveDataset(ctx, ref, resource)
}

// saveDataset fills in what the server decides, and puts the resource in place.
func (s *Server) saveDataset(ctx context.Context, ref datasetRef, resource *bq.Dataset) error {
	resource.Kind, resource.Id, resource.Etag = "bigquery#dataset", ref.String(), newETag()
	resource.DatasetReference = &bq.DatasetReference{ProjectId: ref.project, DatasetId: ref.dataset}
	resource.SelfLink = s.RESTAddr() + fmt.Sprintf("/bigquery/v2/projects/%s/datasets/%s", ref.project, ref.dataset)
	resource.LastModifiedTime, resource.Type = s.options.Now().UnixMilli(), "DEFAULT"
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling dataset %s: %w", ref, err)
	}
	err = s.store.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM emulator_datasets WHERE project = ? AND dataset = ?", ref.project, ref.dataset); err != nil {
			return fmt.Errorf("saving dataset %s: %w", ref, err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO emulator_datasets VALUES (?, ?, ?)", ref.project, ref.dataset, string(text)); err != nil {
			return fmt.Errorf("saving dataset %s: %w", ref, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	s.catalog.datasets[ref] = &dataset{resource}
	return nil
}

func (s *Server) getDataset(r *http.Request) (any, error) {
	d, err := s.catalog.dataset(datasetOf(r))
	if err != nil {
		return nil, err
	}
	return d.resource, nil
}

func (s *Server) listDatasets(r *http.Request) (any, error) {
	list := &bq.DatasetList{Kind: "bigquery#datasetList"}
	for _, d := range s.catalog.listDatasets(r.PathValue("project")) {
		list.Datasets = append(list.Datasets, &bq.DatasetListDatasets{
			DatasetReference: d.DatasetReference, Id: d.Id, Kind: d.Kind, Labels: d.Labels, Location: d.Location, FriendlyName: d.FriendlyName,
		})
	}
	return list, nil
}

func (s *Server) patchDataset(r *http.Request) (any, error) {
	return s.changeDataset(r, func(current *bq.Dataset) (*bq.Dataset, error) {
		var patch map[string]any
		if err := decodeBody(r, &patch); err != nil {
			return nil, err
		}
		changed := &bq.Dataset{}
		return changed, patched(current, patch, changed)
	})
}

func (s *Server) updateDataset(r *http.Request) (any, error) {
	return s.changeDataset(r, func(*bq.Dataset) (*bq.Dataset, error) {
		changed := &bq.Dataset{}
		return changed, decodeBody(r, changed)
	})
}

func (s *Server) changeDataset(r *http.Request, change func(*bq.Dataset) (*bq.Dataset, error)) (any, error) {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	ref := datasetOf(r)
	d, err := s.catalog.dataset(ref)
	if err != nil {
		return nil, err
	}
	if err := checkETag(r, d.resource.Etag); err != nil {
		return nil, err
	}
	changed, err := change(d.resource)
	if err != nil {
		return nil, err
	}
	changed.CreationTime, changed.Location = d.resource.CreationTime, d.resource.Location
	return changed, s.saveDataset(r.Context(), ref, changed)
}

func (s *Server) deleteDataset(r *http.Request) (any, error) {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	ref := datasetOf(r)
	if _, err := s.catalog.dataset(ref); err != nil {
		return nil, err
	}
	tables := s.catalog.listTables(ref)
	if len(tables) > 0 && r.URL.Query().Get("deleteContents") != "true" {
		return nil, &apiError{code: http.StatusBadRequest, reason: "resourceInUse", status: "FAILED_PRECONDITION", message: fmt.Sprintf("Dataset %s is still in use", ref)}
	}
	for _, t := range tables {
		if err := s.dropTable(r.Context(), t); err != nil {
			return nil, err
		}
	}
	if _, err := s.store.db.ExecContext(r.Context(), "DELETE FROM emulator_datasets WHERE project = ? AND dataset = ?", ref.project, ref.dataset); err != nil {
		return nil, fmt.Errorf("deleting dataset %s: %w", ref, err)
	}
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	delete(s.catalog.datasets, ref)
	return nil, nil
}
