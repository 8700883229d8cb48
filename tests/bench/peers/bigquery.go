package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"beamcdc/emulator"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/counting"
	"beamcdc/tests/internal/orders"
)

// bigquery is a counting server or an emulator.
type bigquery struct {
	grpc, rest string
	rows       func() int64 // acknowledged
	close      func()
}

func startBigQuery(ctx context.Context, real bool) (*bigquery, error) {
	if !real {
		rules := pipeline.Parse("peers.yaml", []byte(orders.Config))
		server, err := counting.Start(func(string, string) *table.Rule { return &rules.Tables[0] })
		if err != nil {
			return nil, err
		}
		return &bigquery{server.GRPCAddr, server.RESTAddr, server.Rows.Load, server.Close}, nil
	}
	server, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		return nil, err
	}
	server.HoldApplies(true) // an apply would fall into anybody's turn
	b := &bigquery{server.GRPCAddr(), server.RESTAddr(), func() int64 { return server.Stats().Rows }, func() { _ = server.Close() }}
	if err := errors.Join(server.CreateDataset(ctx, "shop"), b.query(ctx, ordersTable)); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

const ordersTable = "CREATE TABLE shop.orders (order_id INT64 NOT NULL, customer_id INT64, status STRING, currency STRING, " +
	"total NUMERIC(12,2), tax NUMERIC(12,2), placed_at TIMESTAMP, paid_at DATETIME, shipped_at DATETIME, note STRING, address JSON, " +
	"tags ARRAY<STRING>, priority INT64, is_gift BOOL, weight FLOAT64, email STRING, updated_at TIMESTAMP, PRIMARY KEY (order_id) NOT ENFORCED)"

// query runs a statement.
func (b *bigquery) query(ctx context.Context, statement string) error {
	body, err := json.Marshal(map[string]any{"query": statement, "useLegacySql": false})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.rest+"/bigquery/v2/projects/demo/queries", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("creating the table: %s: %s", response.Status, text)
	}
	return err
}
