package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"

	"beamcdc/schemas/table"
)

// MaxRange is the longest range that BigQuery's CHANGES takes.
const MaxRange = 24 * time.Hour

// Function is one of BigQuery's functions.
type Function string

// The functions.
const (
	Changes Function = "CHANGES" // every change, where enable_change_history is set
	Appends Function = "APPENDS" // rows that were added, of any table
)

// Lag is how long before BigQuery's time a range must end at the latest.
func (f Function) Lag() time.Duration {
	if f == Changes {
		return 10 * time.Minute
	}
	return 0
}

// Follower follows a table.
type Follower struct {
	Client   *bigquery.Client
	Table    table.Name
	Function Function
	Epoch    uint64        // leads every sequence
	Range    time.Duration // of a range at most; at most MaxRange
	Lag      time.Duration // before BigQuery's time that a range ends
	MaxBytes int64         // that a range may bill; 0 for any number
	Position *Position
	// Planned is told of a range before it is read, with the bytes that it will bill.
	Planned func(from, to time.Time, bytes int64)
	// Write gets a range's rows, some at a time, and returns once they are safe.
	Write func(ctx context.Context, rows [][]byte) error
	// DryRun ends a range before it is read.
	DryRun bool

	schema bigquery.Schema
}

// ErrTooLarge says that a range would bill more than MaxBytes.
var ErrTooLarge = errors.New("the range would bill more than is allowed")

// rowsAtOnce is how many rows Write gets.
const rowsAtOnce = 1000

// Step reads the next range, if there is one, and stores the position. It returns how
// many rows there were, and whether there is more to read by now.
func (f *Follower) Step(ctx context.Context) (rows int64, more bool, err error) {
	now, err := f.now(ctx)
	if err != nil {
		return 0, false, err
	}
	from := f.Position.Time
	if from.IsZero() {
		if from, err = f.created(ctx); err != nil {
			return 0, false, err
		}
	}
	to := now.Add(-f.Lag)
	if last := from.Add(min(f.Range, MaxRange)); to.After(last) {
		to, more = last, true
	}
	if !to.After(from) {
		return 0, false, nil
	}
	// The schema is that of now, as the rows are: a column that came since is NULL in
	// rows from before.
	metadata, err := f.Client.DatasetInProject(f.Table.Project, f.Table.Dataset).Table(f.Table.Table).Metadata(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("reading the schema of %v: %w", f.Table, err)
	}
	f.schema = metadata.Schema
	if err := f.plan(ctx, from, to); err != nil || f.DryRun {
		return 0, false, err
	}
	rows, err = f.read(ctx, from, to)
	if err != nil {
		return rows, false, err
	}
	f.Position.Time = to
	return rows, more, f.Position.store()
}

// now is BigQuery's time: this machine's may be another.
func (f *Follower) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := f.run(ctx, f.Client.Query("SELECT CURRENT_TIMESTAMP()"), func(values []bigquery.Value) error {
		now, _ = values[0].(time.Time)
		return nil
	})
	if err != nil {
		return now, fmt.Errorf("asking BigQuery for its time: %w", err)
	}
	return now, nil
}

func (f *Follower) created(ctx context.Context) (time.Time, error) {
	metadata, err := f.Client.DatasetInProject(f.Table.Project, f.Table.Dataset).Table(f.Table.Table).Metadata(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading when %v was created: %w", f.Table, err)
	}
	return metadata.CreationTime, nil
}

func (f *Follower) query(from, to time.Time) *bigquery.Query {
	columns := make([]string, 0, len(f.schema)+2)
	for _, c := range f.schema {
		column := columnOf(c)
		columns = append(columns, column.Readable("`"+c.Name+"`")) // the client misreads INTERVALs
	}
	// No column of a result may be called _CHANGE_TYPE.
	columns = append(columns, "_CHANGE_TYPE AS cdc_change_type", "_CHANGE_TIMESTAMP AS cdc_change_timestamp")
	const layout = "2006-01-02 15:04:05.999999+00"
	q := f.Client.Query(fmt.Sprintf("SELECT %s FROM %s(TABLE `%v`, TIMESTAMP '%s', TIMESTAMP '%s') ORDER BY cdc_change_timestamp",
		strings.Join(columns, ", "), f.Function, f.Table, from.UTC().Format(layout), to.UTC().Format(layout)))
	q.MaxBytesBilled = f.MaxBytes
	return q
}

// columnOf is a column as far as reading it needs to know it.
func columnOf(f *bigquery.FieldSchema) table.Column {
	c := table.Column{Name: f.Name, Type: table.Type(f.Type)}
	if f.Repeated {
		c.Mode = table.Repeated
	}
	if f.Type == bigquery.RecordFieldType { // which REST calls it
		c.Type = table.Struct
	}
	for _, inner := range f.Schema {
		c.Fields = append(c.Fields, columnOf(inner))
	}
	return c
}

// plan asks what the range will bill.
func (f *Follower) plan(ctx context.Context, from, to time.Time) error {
	q := f.query(from, to)
	q.DryRun, q.MaxBytesBilled = true, 0
	job, err := q.Run(ctx)
	if err != nil {
		return fmt.Errorf("asking what the changes of %v will bill: %w", f.Table, err)
	}
	bytes := job.LastStatus().Statistics.TotalBytesProcessed
	if f.Planned != nil {
		f.Planned(from, to, bytes)
	}
	if f.MaxBytes > 0 && bytes > f.MaxBytes {
		return fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLarge, bytes, f.MaxBytes)
	}
	return nil
}

func (f *Follower) read(ctx context.Context, from, to time.Time) (int64, error) {
	var rows [][]byte
	var total int64
	flush := func() error {
		if err := f.Write(ctx, rows); err != nil {
			return err
		}
		total += int64(len(rows))
		rows = nil
		return nil
	}
	err := f.run(ctx, f.query(from, to), func(values []bigquery.Value) error {
		row, err := f.row(values)
		if err != nil {
			return err
		}
		if rows = append(rows, row); len(rows) < rowsAtOnce {
			return nil
		}
		return flush()
	})
	if err != nil {
		return total, fmt.Errorf("reading the changes of %v: %w", f.Table, err)
	}
	if len(rows) > 0 {
		err = flush()
	}
	return total, err
}

func (f *Follower) run(ctx context.Context, q *bigquery.Query, each func([]bigquery.Value) error) error {
	rows, err := q.Read(ctx)
	if err != nil {
		return err
	}
	for {
		var values []bigquery.Value
		switch err := rows.Next(&values); {
		case errors.Is(err, iterator.Done):
			return nil
		case err != nil:
			return err
		}
		if err := each(values); err != nil {
			return err
		}
	}
}
