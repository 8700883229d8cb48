package deadletter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *rowsFn) dofn.Func { return dofn.Func3x1(f.ProcessElement) })
	register.Emitter1[change.Row]()
	dofn.Register(func(f *refusedFn) dofn.Func { return dofn.Func1x1(f.ProcessElement) })
}

// tableSource is what the rule of the dead letters' table calls its source.
const tableSource = "dead_letters"

// TableRule returns the rule by which the dead letters' table is created and
// written. It is a CDC table, keyed by the letter, so that a letter that is made
// again, from a redelivered message, replaces itself.
func TableRule(destination string) table.Rule {
	required := func(name string, t table.Type, description string) table.Column {
		return table.Column{Name: name, Type: t, Mode: table.Required, Description: description}
	}
	column := func(name string, t table.Type, description string) table.Column {
		return table.Column{Name: name, Type: t, Description: description}
	}
	return table.Rule{
		Source: tableSource, Destination: destination,
		PrimaryKey: []string{"id", "piece"},
		Columns: []table.Column{
			required("id", table.String, "message ID, stage, and a number that tells the message's letters apart"),
			required("piece", table.Int64, "which piece of the data this row holds, from 1"),
			column("pieces", table.Int64, "how many pieces the data is in"),
			column("stage", table.String, "where the message could not be processed"),
			column("reason", table.String, "why, as a word"),
			column("error", table.String, "why, as a text"),
			column("source_table", table.String, "the source's name of the table"),
			column("message_id", table.String, "Pub/Sub's message ID"),
			column("part", table.Int64, "which of the message's changes it is, from 0"),
			column("publish_time", table.Timestamp, "when Pub/Sub took the message"),
			column("failed_at", table.Timestamp, "when the letter was made, last"),
			column("ordering_key", table.String, "the message's ordering key"),
			column("attributes", table.JSON, "the message's attributes"),
			column("data", table.Bytes, "the message's data as it was published, or this piece of it"),
		},
		ClusterBy: []string{"id"},
	}
}

// Rows turns a PCollection<Letter> into a PCollection<change.Row> of the table
// that TableRule describes, which must be the catalog's only rule. The rows carry
// the letters' receipts: they are released when the writer has written them.
func Rows(s beam.Scope, c catalog.Config, p Protection, letters beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("deadletter.Rows"), &rowsFn{Catalog: c, Protection: p}, letters)
}

// Refused takes the writer's dead letters of what Rows returned and fails the
// bundle: a dead letter that its own table refuses must not be lost.
func Refused(s beam.Scope, letters beam.PCollection) {
	beam.ParDo0(s.Scope("deadletter.Refused"), &refusedFn{}, letters)
}

type refusedFn struct{}

// ProcessElement fails.
func (*refusedFn) ProcessElement(l Letter) error {
	return fmt.Errorf("storing the dead letter of message %s: %s: %s", l.Message.ID, l.Reason, l.Error)
}

// rowsFn makes a row of each piece of a letter.
type rowsFn struct {
	Catalog    catalog.Config
	Protection Protection

	catalog   *catalog.Catalog
	protector protector
	sharing   sharing
}

// Setup finds the process's catalog.
func (f *rowsFn) Setup(ctx context.Context) (err error) {
	if f.protector, err = newProtector(ctx, f.Protection); err != nil {
		return err
	}
	f.catalog, err = catalog.Open(ctx, f.Catalog)
	return err
}

// StartBundle forgets what a failed bundle left.
func (f *rowsFn) StartBundle(_ func(change.Row)) { f.sharing = sharing{} }

// ProcessElement makes the letter's rows.
func (f *rowsFn) ProcessElement(ctx context.Context, l Letter, emit func(change.Row)) error {
	match, ok := f.catalog.Route(tableSource)
	if !ok {
		return fmt.Errorf("storing a dead letter: the catalog has no rule for %s", tableSource)
	}
	destination, err := f.catalog.Destination(ctx, match)
	if err != nil {
		return fmt.Errorf("storing a dead letter: %w", err)
	}
	f.sharing.complete(&l)
	rows, err := tableRows(&l, &f.protector, destination.Plan, time.Now())
	if err != nil {
		return fmt.Errorf("storing the dead letter of message %s: %w", l.Message.ID, err)
	}
	count(ctx, &l)
	for i := range rows {
		emit(rows[i])
	}
	return nil
}

// tableRows returns the letter's rows: one for each piece of its data and, where
// that is stored by itself, one more.
func tableRows(l *Letter, p *protector, plan *rowproto.Plan, now time.Time) ([]change.Row, error) {
	var rows []change.Row
	items, err := l.items(p)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		more, err := itemRows(&item, plan, now)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	for i, share := range shares(l.Receipts, l.Message.Token, len(rows)) {
		rows[i].Receipts = share
	}
	return rows, nil
}

func itemRows(l *Letter, plan *rowproto.Plan, now time.Time) ([]change.Row, error) {
	attributes := change.Null()
	own := l.Message.Attributes
	if l.DataForm != "" { // tables that were made before have no column for it
		own = map[string]string{AttributeData: l.DataForm}
	}
	if len(own) > 0 {
		encoded, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		attributes = change.JSON(string(encoded))
	}
	text := func(text string) change.Value { return change.String(strings.ToValidUTF8(text, "\uFFFD")) }
	publishTime := change.Null()
	if !l.Message.PublishTime.IsZero() {
		publishTime = change.Timestamp(l.Message.PublishTime.UnixMicro())
	}
	count := pieceCount(len(l.Message.Data))
	rows := make([]change.Row, count)
	for i := range rows {
		start, end := i*MaxPieceBytes, min((i+1)*MaxPieceBytes, len(l.Message.Data))
		data, pieces := change.Bytes(string(l.Message.Data[start:end])), int64(count)
		if l.Message.DataLeftOut {
			data, pieces = change.Null(), 0
		}
		key := []change.Column{{Name: "id", Value: text(l.ID())}, {Name: "piece", Value: change.Int64(int64(i + 1))}}
		columns := append(slices.Clip(key),
			change.Column{Name: "pieces", Value: change.Int64(pieces)},
			change.Column{Name: "stage", Value: text(l.Stage)},
			change.Column{Name: "reason", Value: text(l.Reason)},
			change.Column{Name: "error", Value: text(clip(l.Error, maxErrorBytes))},
			change.Column{Name: "source_table", Value: text(clip(l.Table, maxErrorBytes))},
			change.Column{Name: "message_id", Value: text(l.Message.ID)},
			change.Column{Name: "part", Value: change.Int64(int64(l.Part))},
			change.Column{Name: "publish_time", Value: publishTime},
			change.Column{Name: "failed_at", Value: change.Timestamp(now.UnixMicro())},
			change.Column{Name: "ordering_key", Value: text(l.Message.OrderingKey)},
			change.Column{Name: "attributes", Value: attributes},
			change.Column{Name: "data", Value: data},
		)
		row, err := newRow(plan, change.Upsert, key)
		if err != nil {
			return nil, err
		}
		if l.Message.DataLeftOut {
			// Who made the letter again when its message had ended doesn't replace what
			// was stored with the data, see restore.
			row.Sequence = change.NewSequence(0, 0, 0, 0)
		}
		row.Message.ID = l.Message.ID // no more of it: nobody makes a letter of a letter
		if row.Data, err = plan.AppendUpsert(nil, columns, row.Sequence, rowproto.RowOptions{}); err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}

// newRow returns a row of the letters' table that has no data yet.
func newRow(plan *rowproto.Plan, kind change.Type, key []change.Column) (change.Row, error) {
	row := change.Row{
		Table: plan.Table().Name.String(), Schema: plan.Fingerprint(), Type: kind,
		// Invariant 3. A letter has no place in the source's order: all that have their
		// data are equal, and of equal sequences BigQuery keeps the row that came last.
		Sequence: change.NewSequence(0, 0, 0, 1),
	}
	var err error
	row.Key, err = plan.AppendKey(nil, key)
	return row, err
}

// DeleteRows returns the rows that delete a letter's rows from the table that is the
// catalog's only rule, by the letter's ID and the number of its pieces. A letter that
// comes again, from a subscription that was seeked back, replaces them.
func DeleteRows(ctx context.Context, c catalog.Config, id string, pieces int) ([]change.Row, error) {
	destination, err := tableDestination(ctx, c)
	if err != nil {
		return nil, err
	}
	rows := make([]change.Row, max(1, pieces)) // 0 pieces are a row without data
	for i := range rows {
		key := []change.Column{{Name: "id", Value: change.String(id)}, {Name: "piece", Value: change.Int64(int64(i + 1))}}
		if rows[i], err = newRow(destination.Plan, change.Delete, key); err != nil {
			return nil, err
		}
		if rows[i].Data, err = destination.Plan.AppendDelete(nil, key, rows[i].Sequence); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// maxErrorBytes bounds the texts that come out of messages, so that a piece and
// all around it fit into a request.
const maxErrorBytes = 64 << 10

// CheckTable reports at start-up why letters can't be stored in the table that is
// the catalog's only rule. It creates the table where the catalog may.
func CheckTable(ctx context.Context, c catalog.Config) error {
	destination, err := tableDestination(ctx, c)
	if err != nil {
		return err
	}
	// A table that someone else made must take every column.
	_, err = tableRows(&Letter{Message: change.Message{ID: "0", Attributes: map[string]string{"a": ""}}}, &protector{}, destination.Plan, time.Unix(0, 0))
	return err
}

// TableForm takes what became of a message out of the attributes of a row of the table,
// where no other could have put it: a message that isn't as it was published has none.
func TableForm(s *Stored) {
	if form := s.Attributes[AttributeData]; len(s.Attributes) == 1 && (form == FormRedacted || form == FormEncrypted) {
		s.DataForm, s.Attributes = form, nil
	}
}

func tableDestination(ctx context.Context, c catalog.Config) (*catalog.Destination, error) {
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	match, ok := tables.Route(tableSource)
	if !ok {
		return nil, fmt.Errorf("the catalog has no rule for %s", tableSource)
	}
	return tables.Destination(ctx, match)
}
