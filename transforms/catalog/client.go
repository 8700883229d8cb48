package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/googleapi"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/table"
)

// newClient returns a client of BigQuery's REST API. It does not connect.
func newClient(ctx context.Context, c Config) (*bigquery.Client, error) {
	options, err := endpoint.REST(c.RESTEndpoint, c.AllowPlaintext)
	if err != nil {
		return nil, &Error{Permanent: true, Err: fmt.Errorf("creating BigQuery's client: %w", err)}
	}
	project := c.Project
	if project == "" {
		project = "-" // every table is named in full
	}
	client, err := bigquery.NewClient(ctx, project, options...)
	if err != nil {
		return nil, &Error{Permanent: true, Err: fmt.Errorf("creating BigQuery's client: %w", err)}
	}
	return client, nil
}

// read returns the table as BigQuery has it now.
func (c *Catalog) read(ctx context.Context, name table.Name) (*table.Table, error) {
	if c.isView(name) {
		return c.readBehind(ctx, name)
	}
	t, _, err := c.readMetadata(ctx, name)
	return t, err
}

// readMetadata returns it with all that BigQuery says of it.
func (c *Catalog) readMetadata(ctx context.Context, name table.Name) (*table.Table, *bigquery.TableMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	m, err := c.client.DatasetInProject(name.Project, name.Dataset).Table(name.Table).
		Metadata(ctx, bigquery.WithMetadataView(bigquery.BasicMetadataView))
	if err != nil {
		return nil, nil, classify(name, "reading its schema", err)
	}
	t, err := fromMetadata(name, m)
	if err != nil {
		return nil, nil, permanently(name, "table %v: reading its schema: %w", name, err)
	}
	return t, m, nil
}

// create creates the table, and its dataset where that is missing. That someone
// else was faster is no error.
func (c *Catalog) create(ctx context.Context, t *table.Table) error {
	if c.isView(t.Name) {
		return c.createBehind(ctx, t)
	}
	return c.createAs(ctx, t.Name, toMetadata(t))
}

func (c *Catalog) createAs(ctx context.Context, name table.Name, m *bigquery.TableMetadata) error {
	ctx, cancel := context.WithTimeout(ctx, 3*c.config.CallTimeout)
	defer cancel()
	dataset := c.client.DatasetInProject(name.Project, name.Dataset)
	err := dataset.Table(name.Table).Create(ctx, m)
	if hasCode(err, http.StatusNotFound) {
		err = dataset.Create(ctx, &bigquery.DatasetMetadata{Location: c.config.Location})
		if err != nil && !hasCode(err, http.StatusConflict) {
			return classify(name, "creating its dataset", err)
		}
		err = dataset.Table(name.Table).Create(ctx, m)
	}
	if err != nil && !hasCode(err, http.StatusConflict) {
		return classify(name, "creating it", err)
	}
	return nil
}

func hasCode(err error, code int) bool {
	var api *googleapi.Error
	return errors.As(err, &api) && api.Code == code
}
