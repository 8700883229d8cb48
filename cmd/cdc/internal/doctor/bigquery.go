package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/bigquery"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"beamcdc/schemas/table"
)

// bigQuery is BigQuery's REST API: the plain service tells more of a table than the
// client that queries.
type bigQuery struct {
	tables *bq.Service
	client *bigquery.Client
}

func (x *examination) openBigQuery(ctx context.Context) (*bigQuery, error) {
	c := x.options.CatalogConfig()
	var options []option.ClientOption
	if c.RESTEndpoint != "" {
		options = append(options, option.WithEndpoint(c.RESTEndpoint), option.WithoutAuthentication())
	}
	service, err := bq.NewService(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, c.Project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	return &bigQuery{service, client}, nil
}

// get reads a table's resource. A table that is missing is nil without an error.
func (b *bigQuery) get(ctx context.Context, name table.Name) (*bq.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	t, err := b.tables.Tables.Get(name.Project, name.Dataset, name.Table).Context(ctx).Do()
	if code(err) == http.StatusNotFound {
		return nil, nil //nolint:nilnil // documented
	}
	return t, err
}

// location is where a dataset is; "" where the dataset is missing.
func (b *bigQuery) location(ctx context.Context, name table.Name) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	d, err := b.tables.Datasets.Get(name.Project, name.Dataset).Context(ctx).Do()
	if code(err) == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return d.Location, nil
}

// granted returns which of the permissions on a table the account has.
func (b *bigQuery) granted(ctx context.Context, name table.Name, asked []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	resource := fmt.Sprintf("projects/%s/datasets/%s/tables/%s", name.Project, name.Dataset, name.Table)
	answer, err := b.tables.Tables.TestIamPermissions(resource, &bq.TestIamPermissionsRequest{Permissions: asked}).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	return answer.Permissions, nil
}

// query runs a statement at a location, and reads its rows into T's fields by name.
func query[T any](ctx context.Context, b *bigQuery, location, statement string, parameters ...bigquery.QueryParameter) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*callTime)
	defer cancel()
	q := b.client.Query(statement)
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

// quoted is a name as GoogleSQL takes it. Nobody can put a backtick into the name of
// a project, dataset or region, so that none needs an escape.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "") + "`" }
