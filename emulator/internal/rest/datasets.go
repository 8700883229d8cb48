package rest

import (
	"net/http"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
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

func datasetOf(r *http.Request) engine.DatasetRef {
	return engine.DatasetRef{Project: r.PathValue("project"), Dataset: r.PathValue("dataset")}
}

func (s *Service) createDataset(r *http.Request) (any, error) {
	resource := &bq.Dataset{}
	if err := decodeBody(r, resource); err != nil {
		return nil, err
	}
	var name string
	if resource.DatasetReference != nil {
		name = resource.DatasetReference.DatasetId
	}
	return s.engine.CreateDataset(r.Context(), engine.DatasetRef{Project: r.PathValue("project"), Dataset: name}, resource)
}

func (s *Service) getDataset(r *http.Request) (any, error) { return s.engine.Dataset(datasetOf(r)) }

func (s *Service) listDatasets(r *http.Request) (any, error) {
	list := &bq.DatasetList{Kind: "bigquery#datasetList"}
	for _, d := range s.engine.Datasets(r.PathValue("project")) {
		list.Datasets = append(list.Datasets, &bq.DatasetListDatasets{
			DatasetReference: d.DatasetReference, Id: d.Id, Kind: d.Kind, Labels: d.Labels, Location: d.Location, FriendlyName: d.FriendlyName,
		})
	}
	return list, nil
}

func (s *Service) patchDataset(r *http.Request) (any, error) {
	return s.engine.ChangeDataset(r.Context(), datasetOf(r), func(current *bq.Dataset) (*bq.Dataset, error) {
		if err := checkETag(r, current.Etag); err != nil {
			return nil, err
		}
		var patch map[string]any
		if err := decodeBody(r, &patch); err != nil {
			return nil, err
		}
		changed := &bq.Dataset{}
		return changed, patched(current, patch, changed)
	})
}

func (s *Service) updateDataset(r *http.Request) (any, error) {
	return s.engine.ChangeDataset(r.Context(), datasetOf(r), func(current *bq.Dataset) (*bq.Dataset, error) {
		if err := checkETag(r, current.Etag); err != nil {
			return nil, err
		}
		changed := &bq.Dataset{}
		return changed, decodeBody(r, changed)
	})
}

func (s *Service) deleteDataset(r *http.Request) (any, error) {
	return nil, s.engine.DeleteDataset(r.Context(), datasetOf(r), r.URL.Query().Get("deleteContents") == "true")
}
