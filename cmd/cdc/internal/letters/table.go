package letters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// letterTable is a sink that is a table under CDC: it is read by queries, which see
// the newest rows whatever its max_staleness, and its rows are deleted by CDC rows,
// since BigQuery takes no DML on it.
type letterTable struct {
	name    table.Name
	client  *bigquery.Client
	catalog catalog.Config
	pieces  map[string]int // by the letter's ID
}

func openTable(ctx context.Context, c catalog.Config, destination string) (sink, error) {
	name, err := table.ParseName(destination, c.Project)
	if err != nil {
		return nil, UsageError{err}
	}
	c.Project = name.Project
	if c.GRPCEndpoint == "" && c.RESTEndpoint != "" {
		return nil, usageErrorf("-bigquery_rest_endpoint names an emulator; give its -bigquery_grpc_endpoint, too")
	}
	// The table is reserved for the letters: here it is they that are written.
	c.Rules, c.CreateTables, c.Reserved = []table.Rule{deadletter.TableRule(destination)}, false, nil
	options, err := endpoint.REST(c.RESTEndpoint, c.AllowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, name.Project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	return &letterTable{name: name, client: client, catalog: c, pieces: make(map[string]int)}, nil
}

func (t *letterTable) String() string { return "table " + t.name.String() }

func (t *letterTable) close() error {
	_ = t.client.Close() // nothing is on its way
	return nil
}

// headRow is a row of the table without its message.
type headRow struct {
	ID          string                 `bigquery:"id"`
	Piece       int64                  `bigquery:"piece"`
	Pieces      bigquery.NullInt64     `bigquery:"pieces"`
	Stage       bigquery.NullString    `bigquery:"stage"`
	Reason      bigquery.NullString    `bigquery:"reason"`
	Error       bigquery.NullString    `bigquery:"error"`
	SourceTable bigquery.NullString    `bigquery:"source_table"`
	MessageID   bigquery.NullString    `bigquery:"message_id"`
	Part        bigquery.NullInt64     `bigquery:"part"`
	PublishTime bigquery.NullTimestamp `bigquery:"publish_time"`
	OrderingKey bigquery.NullString    `bigquery:"ordering_key"`
	Size        bigquery.NullInt64     `bigquery:"size"`
}

func (t *letterTable) heads(ctx context.Context) ([]Head, error) {
	rows, err := t.client.Query("SELECT id, piece, pieces, stage, reason, error, source_table, message_id, part, publish_time, ordering_key, " +
		"LENGTH(data) AS size FROM " + t.quoted() + " ORDER BY id, piece").Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters of %s: %w", t.name, err)
	}
	var heads []Head
	there := 0 // pieces of the last one
	incomplete := func() {
		if len(heads) == 0 {
			return
		}
		last := &heads[len(heads)-1]
		if want := max(1, t.pieces[last.key]); there != want {
			last.Broken = fmt.Sprintf("%d of its %d pieces are there", there, want)
		}
	}
	for {
		var row headRow
		err := rows.Next(&row)
		if errors.Is(err, iterator.Done) {
			incomplete()
			return heads, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the dead letters of %s: %w", t.name, err)
		}
		if len(heads) > 0 && heads[len(heads)-1].key == row.ID {
			heads[len(heads)-1].Size += row.Size.Int64
			there++
			continue
		}
		incomplete()
		there = 1
		t.pieces[row.ID] = int(row.Pieces.Int64)
		heads = append(heads, row.head())
	}
}

func (r *headRow) head() Head {
	h := Head{key: r.ID, Size: r.Size.Int64, Stored: deadletter.Stored{
		ID: r.ID, Stage: r.Stage.StringVal, Reason: r.Reason.StringVal, Error: r.Error.StringVal, Table: r.SourceTable.StringVal,
		MessageID: r.MessageID.StringVal, Part: uint32(r.Part.Int64), OrderingKey: r.OrderingKey.StringVal, DataLeftOut: r.Pieces.Valid && r.Pieces.Int64 == 0,
	}}
	if r.PublishTime.Valid {
		h.PublishTime = r.PublishTime.Timestamp.UTC()
	}
	// Which time of replaying it is, only the ID tells: …/STAGE/NUMBER/REPLAYS.
	if rest, ok := strings.CutPrefix(r.ID, h.MessageID+"/"+h.Stage+"/"); ok {
		_, replays, _ := strings.Cut(rest, "/")
		n, _ := strconv.ParseUint(replays, 10, 32) // 0 where there is none
		h.Replays = uint32(n)
	}
	if h.Stage == "" || h.MessageID == "" {
		h.Broken = "it has no stage or no message_id"
	}
	return h
}

func (t *letterTable) load(ctx context.Context, h *Head) (deadletter.Stored, error) {
	fail := func(err error) (deadletter.Stored, error) {
		return deadletter.Stored{}, fmt.Errorf("reading dead letter %s of %s: %w", h.ID, t.name, err)
	}
	q := t.client.Query("SELECT piece, TO_JSON_STRING(attributes) AS attributes, data FROM " + t.quoted() + " WHERE id = @id ORDER BY piece")
	q.Parameters = []bigquery.QueryParameter{{Name: "id", Value: h.key}}
	rows, err := q.Read(ctx)
	if err != nil {
		return fail(err)
	}
	s := h.Stored
	there := 0
	for {
		var row struct {
			Piece      int64               `bigquery:"piece"`
			Attributes bigquery.NullString `bigquery:"attributes"`
			Data       []byte              `bigquery:"data"`
		}
		err := rows.Next(&row)
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return fail(err)
		}
		if there++; int(row.Piece) != there {
			return fail(errBroken)
		}
		if there == 1 && row.Attributes.Valid {
			if err := json.Unmarshal([]byte(row.Attributes.StringVal), &s.Attributes); err != nil {
				return fail(fmt.Errorf("its attributes: %w", err))
			}
		}
		s.DataBase64 = append(s.DataBase64, row.Data...)
	}
	if there != max(1, t.pieces[h.key]) {
		return fail(errBroken)
	}
	deadletter.TableForm(&s)
	return s, nil
}

// done deletes the letters' rows.
func (t *letterTable) done(ctx context.Context, heads []*Head) error {
	var rows []change.Row
	for _, h := range heads {
		more, err := deadletter.DeleteRows(ctx, t.catalog, h.key, t.pieces[h.key])
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	const patience = time.Minute // somebody sits before it
	return bqcdc.Append(ctx, bqcdc.Config{Catalog: t.catalog, TraceID: "replay", RetryFor: patience, FinishFor: patience}, rows)
}

// quoted returns the table's name for a query. ParseName takes no backquote.
func (t *letterTable) quoted() string { return "`" + t.name.String() + "`" }
