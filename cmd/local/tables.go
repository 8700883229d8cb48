package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloud.google.com/go/bigquery"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"beamcdc/schemas/table"
)

// literals returns the destinations that don't depend on a source's name.
func (s *system) literals() []table.Match {
	router, err := table.NewRouter(s.tableProject(), s.options.Tables)
	if err != nil {
		return nil // Validate has seen it
	}
	return router.Literals()
}

// tables returns the rows of every table that the configuration names and, where
// it has destinations with placeholders, of all others that are there.
func (s *system) tables(ctx context.Context) ([]tableResult, error) {
	client, err := bigquery.NewClient(ctx, s.tableProject(), option.WithEndpoint(s.bigquery.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		return nil, fmt.Errorf("connecting to the emulator: %w", err)
	}
	defer func() { _ = client.Close() }()
	matches := s.literals()
	var names []table.Name
	var results []tableResult
	add := func(name table.Name, shown string) error {
		t, err := s.readTable(ctx, client, name, shown)
		if err != nil {
			return err
		}
		names, results = append(names, name), append(results, t)
		return nil
	}
	for _, m := range matches {
		if err := add(m.Name, m.Rule.Destination); err != nil {
			return nil, err
		}
		if m.History != (table.Name{}) {
			if err := add(m.History, m.Rule.History); err != nil {
				return nil, err
			}
		}
	}
	if len(matches) == len(s.options.Tables) {
		return results, nil
	}
	there, err := listTables(ctx, client)
	if err != nil {
		return nil, err
	}
	letters, _ := table.ParseName(s.options.DeadLetters.Table, s.tableProject()) // no name where there is none
	for _, name := range there {
		of := name
		of.Table = strings.TrimSuffix(name.Table, "_distinct") // a history's view has nothing of its own
		if name == letters || slices.Contains(names, name) || of != name && slices.Contains(there, of) {
			continue
		}
		if err := add(name, name.Dataset+"."+name.Table); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// readTable reads a table. One that is not there, because no message has needed
// it yet, has no rows.
func (s *system) readTable(ctx context.Context, client *bigquery.Client, name table.Name, shown string) (tableResult, error) {
	t := tableResult{Name: shown}
	metadata, err := client.DatasetInProject(name.Project, name.Dataset).Table(name.Table).Metadata(ctx)
	var status *googleapi.Error
	switch {
	case errors.As(err, &status) && status.Code == http.StatusNotFound:
		return t, nil
	case err != nil:
		return t, fmt.Errorf("reading table %s: %w", shown, err)
	}
	for _, field := range metadata.Schema {
		t.Columns = append(t.Columns, column{Name: field.Name, Numeric: isNumeric(field)})
	}
	rows, err := s.rows(ctx, name)
	if err != nil {
		return t, err
	}
	t.Rows = make([]jsontext.Value, len(rows))
	for i, row := range rows {
		t.Rows[i] = jsontext.Value(row)
	}
	return t, nil
}

func isNumeric(field *bigquery.FieldSchema) bool {
	return !field.Repeated && slices.Contains([]bigquery.FieldType{
		bigquery.IntegerFieldType, bigquery.FloatFieldType, bigquery.NumericFieldType, bigquery.BigNumericFieldType,
	}, field.Type)
}

// rows reads a table's rows in the contract's form. The emulator tells those of
// its own project directly, others by HTTP.
func (s *system) rows(ctx context.Context, name table.Name) ([]json.RawMessage, error) {
	if name.Project == s.tableProject() {
		return s.bigquery.Rows(ctx, name.Dataset, name.Table)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, rowsURL(s.bigquery.RESTAddr(), name), nil)
	if err != nil {
		return nil, fmt.Errorf("reading table %v: %w", name, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading table %v: %w", name, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading table %v: the emulator answers %s", name, response.Status)
	}
	var body struct {
		Rows []json.RawMessage `json:"rows"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("reading table %v: %w", name, err)
	}
	return body.Rows, nil
}

// rowsURL is where the emulator tells a table's rows.
func rowsURL(endpoint string, name table.Name) string {
	return fmt.Sprintf("%s/emulator/v1/projects/%s/datasets/%s/tables/%s/rows", endpoint,
		url.PathEscape(name.Project), url.PathEscape(name.Dataset), url.PathEscape(name.Table))
}

// listTables lists the tables of the client's project.
func listTables(ctx context.Context, client *bigquery.Client) ([]table.Name, error) {
	var names []table.Name
	datasets := client.Datasets(ctx)
	for {
		dataset, err := datasets.Next()
		if errors.Is(err, iterator.Done) {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("listing datasets: %w", err)
		}
		tables := dataset.Tables(ctx)
		for {
			t, err := tables.Next()
			if errors.Is(err, iterator.Done) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("listing the tables of %s: %w", dataset.DatasetID, err)
			}
			names = append(names, table.Name{Project: t.ProjectID, Dataset: t.DatasetID, Table: t.TableID})
		}
	}
}
