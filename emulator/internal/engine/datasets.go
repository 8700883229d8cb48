package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	bq "google.golang.org/api/bigquery/v2"
)

var datasetName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// maxNameLen is the most characters of a dataset's ID, and bytes of a table's.
const maxNameLen = 1024

func validDatasetName(name string) bool {
	return len(name) <= maxNameLen && datasetName.MatchString(name)
}

func newETag() string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return base64.StdEncoding.EncodeToString(b[:])
}

// CreateDataset creates an empty dataset from its resource, whose reference it
// ignores. It returns the resource as it is kept.
func (e *Engine) CreateDataset(ctx context.Context, ref DatasetRef, resource *bq.Dataset) (*bq.Dataset, error) {
	if !validDatasetName(ref.Dataset) {
		return nil, Invalid("Invalid dataset ID. Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 characters long.")
	}
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	if _, err := e.catalog.dataset(ref); err == nil {
		return nil, Duplicate("Already Exists: Dataset %s", ref)
	}
	resource.CreationTime = e.now().UnixMilli()
	if resource.Location == "" {
		resource.Location = "US"
	}
	return resource, e.saveDataset(ctx, ref, resource)
}

// saveDataset fills in what the engine decides, and puts the resource in place.
func (e *Engine) saveDataset(ctx context.Context, ref DatasetRef, resource *bq.Dataset) error {
	resource.Kind, resource.Id, resource.Etag, resource.SelfLink = "bigquery#dataset", ref.String(), newETag(), ""
	resource.DatasetReference = &bq.DatasetReference{ProjectId: ref.Project, DatasetId: ref.Dataset}
	resource.LastModifiedTime, resource.Type = e.now().UnixMilli(), "DEFAULT"
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling dataset %s: %w", ref, err)
	}
	err = e.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM emulator_datasets WHERE project = ? AND dataset = ?", ref.Project, ref.Dataset); err != nil {
			return fmt.Errorf("saving dataset %s: %w", ref, err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO emulator_datasets VALUES (?, ?, ?)", ref.Project, ref.Dataset, string(text)); err != nil {
			return fmt.Errorf("saving dataset %s: %w", ref, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.catalog.mu.Lock()
	defer e.catalog.mu.Unlock()
	e.catalog.datasets[ref] = resource
	return nil
}

// Dataset returns a dataset's resource. Nobody may modify it.
func (e *Engine) Dataset(ref DatasetRef) (*bq.Dataset, error) { return e.catalog.dataset(ref) }

// Datasets returns a project's datasets by name.
func (e *Engine) Datasets(project string) []*bq.Dataset { return e.catalog.listDatasets(project) }

// ChangeDataset replaces a dataset's resource by what change makes of it; an error
// of change leaves it as it is.
func (e *Engine) ChangeDataset(ctx context.Context, ref DatasetRef, change func(current *bq.Dataset) (*bq.Dataset, error)) (*bq.Dataset, error) {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	current, err := e.catalog.dataset(ref)
	if err != nil {
		return nil, err
	}
	changed, err := change(current)
	if err != nil {
		return nil, err
	}
	changed.CreationTime, changed.Location = current.CreationTime, current.Location
	return changed, e.saveDataset(ctx, ref, changed)
}

// DeleteDataset deletes a dataset. One that has tables is refused unless they are
// to be deleted too.
func (e *Engine) DeleteDataset(ctx context.Context, ref DatasetRef, withTables bool) error {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	if _, err := e.catalog.dataset(ref); err != nil {
		return err
	}
	tables := e.catalog.listTables(ref)
	if len(tables) > 0 && !withTables {
		return &Error{Code: http.StatusBadRequest, Reason: "resourceInUse", Status: "FAILED_PRECONDITION", Message: fmt.Sprintf("Dataset %s is still in use", ref)}
	}
	for _, t := range tables {
		if err := e.drop(ctx, t); err != nil {
			return err
		}
	}
	// What a dataset held goes with it for good.
	var others []droppedTable
	for _, d := range e.catalog.dropped {
		if d.table.ref.In() != ref {
			others = append(others, d)
		} else if err := e.purge(ctx, d.table); err != nil {
			return err
		}
	}
	e.catalog.dropped = others
	if _, err := e.db.ExecContext(ctx, "DELETE FROM emulator_datasets WHERE project = ? AND dataset = ?", ref.Project, ref.Dataset); err != nil {
		return fmt.Errorf("deleting dataset %s: %w", ref, err)
	}
	e.catalog.mu.Lock()
	defer e.catalog.mu.Unlock()
	delete(e.catalog.datasets, ref)
	return nil
}
