// Package warehouse reads from BigQuery what commands look at: tables' resources,
// datasets' locations, the account's permissions, and the rows of queries.
package warehouse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// callTime bounds each call.
const callTime = 15 * time.Second

// Client is BigQuery's REST API: the plain service tells more of a table than the
// client that queries.
type Client struct {
	service *bq.Service
	client  *bigquery.Client
}

// Open makes a client for the catalog's address and project. It asks nobody.
func Open(ctx context.Context, c catalog.Config) (*Client, error) {
	options, err := endpoint.REST(c.RESTEndpoint, c.AllowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	service, err := bq.NewService(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, c.Project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	return &Client{service, client}, nil
}

// Close frees what the client holds.
func (c *Client) Close() { _ = c.client.Close() } // nothing is under way

// Table reads a table's resource. A table that is missing is nil without an error.
func (c *Client) Table(ctx context.Context, name table.Name) (*bq.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	t, err := c.service.Tables.Get(name.Project, name.Dataset, name.Table).Context(ctx).Do()
	if code(err) == http.StatusNotFound {
		return nil, nil //nolint:nilnil // documented
	}
	return t, err
}

// Location is where a dataset is; "" where the dataset is missing.
func (c *Client) Location(ctx context.Context, project, dataset string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	d, err := c.service.Datasets.Get(project, dataset).Context(ctx).Do()
	if code(err) == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return d.Location, nil
}

// Granted returns which of the permissions on a table the account has.
func (c *Client) Granted(ctx context.Context, name table.Name, asked []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	resource := fmt.Sprintf("projects/%s/datasets/%s/tables/%s", name.Project, name.Dataset, name.Table)
	answer, err := c.service.Tables.TestIamPermissions(resource, &bq.TestIamPermissionsRequest{Permissions: asked}).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	return answer.Permissions, nil
}

// Query runs a statement at a location, and reads its rows into T's fields by name.
func Query[T any](ctx context.Context, c *Client, location, statement string, parameters ...bigquery.QueryParameter) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*callTime)
	defer cancel()
	q := c.client.Query(statement)
	q.Location, q.Parameters = location, parameters
	rows, err := q.Read(ctx)
	if err != nil {
		return nil, err
	}
	var all []T
	for {
		var row T
		switch err := rows.Next(&row); {
		case errors.Is(err, iterator.Done):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, row)
	}
}

// code is the status of a REST call's error; 0 for others.
func code(err error) int {
	if e, ok := errors.AsType[*googleapi.Error](err); ok {
		return e.Code
	}
	return 0
}

// Quoted is a name as GoogleSQL takes it. Nobody can put a backtick into the name of
// a project, dataset or region, so that none needs an escape.
func Quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "") + "`" }
