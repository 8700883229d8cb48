package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// Load jobs.
//
// Behavior:
//   - CSV and NEWLINE_DELIMITED_JSON, from an uploaded file or from gs:// where
//     Options.Buckets has a folder for it; other formats are 501.
//   - The schema is the request's, or the table's, or what autodetect finds. A schema for
//     a table that is there names its columns, in the file's order; with
//     ALLOW_FIELD_ADDITION or ALLOW_FIELD_RELAXATION in schemaUpdateOptions it changes
//     the table first.
//   - WRITE_APPEND is the default. WRITE_TRUNCATE deletes the rows that are there as the
//     new ones come, once the file is read without errors; where the schema changes the
//     table is replaced, and is empty for a moment.
//   - All rows are stored, or none. maxBadRecords rows may be wrong, and are left out.

func (s *Service) startLoad(j *query.Job, c *bq.JobConfigurationLoad, configuration map[string]any, content []byte) error {
	to, err := refOf(c.DestinationTable, j.Project, "destinationTable")
	if err != nil {
		return err
	}
	if err := checkDispositions(c.WriteDisposition, c.CreateDisposition); err != nil {
		return err
	}
	if err := checkLoad(c); err != nil {
		return err
	}
	switch {
	case content == nil && len(c.SourceUris) == 0:
		return engine.Invalid("Required parameter is missing: sourceUris, or an uploaded file")
	case content != nil && len(c.SourceUris) > 0:
		return engine.Invalid("A load job takes an uploaded file, or sourceUris, not both")
	}
	for _, uri := range c.SourceUris {
		if err := s.checkURI(uri); err != nil {
			return err
		}
	}
	j.Destination = &to
	return s.start(j, configuration, func(ctx context.Context) (outcome, error) {
		contents := [][]byte{content}
		if content == nil {
			var err error
			if contents, err = s.readURIs(c.SourceUris); err != nil {
				return outcome{}, err
			}
		}
		l := load{Service: s, to: to, c: c, contents: contents}
		for {
			statistics, err := l.run(ctx)
			if errors.Is(err, engine.ErrSchemaChanged) { // between reading the rows and storing them
				continue
			}
			return outcome{statistics: statistics}, err
		}
	})
}

// checkLoad refuses what isn't implemented, by name.
func checkLoad(c *bq.JobConfigurationLoad) error {
	switch c.SourceFormat {
	case "", "CSV", "NEWLINE_DELIMITED_JSON":
	default:
		return engine.Unimplemented("load jobs of sourceFormat %s are not implemented by this emulator", engine.Clip(c.SourceFormat))
	}
	for name, set := range map[string]bool{
		"encoding other than UTF-8":      c.Encoding != "" && !strings.EqualFold(c.Encoding, "UTF-8"),
		"quote other than \"":            c.Quote != nil && *c.Quote != `"`,
		"hivePartitioningOptions":        c.HivePartitioningOptions != nil,
		"jsonExtension":                  c.JsonExtension != "",
		"schemaInline":                   c.SchemaInline != "",
		"sourceColumnMatch by name":      c.SourceColumnMatch == "NAME",
		"dateFormat and the like":        c.DateFormat != "" || c.DatetimeFormat != "" || c.TimeFormat != "" || c.TimestampFormat != "" || c.TimeZone != "",
		"columnNameCharacterMap":         c.ColumnNameCharacterMap != "" && c.ColumnNameCharacterMap != "STRICT" && c.ColumnNameCharacterMap != "COLUMN_NAME_CHARACTER_MAP_UNSPECIFIED",
		"preserveAsciiControlCharacters": c.PreserveAsciiControlCharacters,
	} {
		if set {
			return engine.Unimplemented("%s of load jobs is not implemented by this emulator", name)
		}
	}
	return nil
}

// load is a load job's work.
type load struct {
	*Service
	to       engine.TableRef
	c        *bq.JobConfigurationLoad
	contents [][]byte
}

func (l *load) isJSON() bool { return l.c.SourceFormat == "NEWLINE_DELIMITED_JSON" }

func (l *load) run(ctx context.Context) (*bq.JobStatistics3, error) {
	t, err := l.engine.Table(l.to)
	if e, ok := errors.AsType[*engine.Error](err); ok && (e.Code != 404 || l.c.CreateDisposition == "CREATE_NEVER") {
		return nil, err
	}
	if err != nil {
		t = nil
	}
	if t != nil && t.IsView() {
		return nil, engine.Invalid("%s is not allowed for this operation because it is currently a VIEW.", l.to)
	}
	if t != nil && l.c.WriteDisposition == "WRITE_EMPTY" {
		empty, err := l.isEmpty(ctx, l.to)
		if err != nil {
			return nil, err
		}
		if !empty {
			return nil, engine.Duplicate("Already Exists: Table %s", l.to)
		}
	}
	schema, skip, err := l.schema(t)
	if err != nil {
		return nil, err
	}
	truncates := t != nil && l.c.WriteDisposition == "WRITE_TRUNCATE"
	replaces := t == nil || truncates && !sameSchema(schema, t.Resource().Schema)
	if !replaces && len(l.c.SchemaUpdateOptions) > 0 && l.c.Schema != nil {
		if err := l.extend(ctx, t); err != nil {
			return nil, err
		}
	}
	columns, err := l.columns(t, schema, replaces)
	if err != nil {
		return nil, err
	}
	rows, err := l.read(columns, skip)
	if err != nil {
		return nil, err
	}
	if replaces {
		if t, err = l.create(ctx, t, schema); err != nil {
			return nil, err
		}
	}
	return rows.statistics, l.store(ctx, t, columns, rows, truncates && !replaces)
}

// loaded is the rows of a load job's files.
type loaded struct {
	values     [][]any
	missing    [][]bool // which columns a row doesn't have; nil for none
	statistics *bq.JobStatistics3
	firstBad   error
}

// bad counts a row that is wrong: too many are an error.
func (r *loaded) bad(c *bq.JobConfigurationLoad, row int, err error) error {
	if r.firstBad == nil {
		r.firstBad = fmt.Errorf("row %d: %w", row, err)
	}
	if r.statistics.BadRecords++; r.statistics.BadRecords <= c.MaxBadRecords {
		return nil
	}
	return engine.Invalid("Error while reading data, error message: %s processing encountered too many errors, giving up. Errors: %d; max bad: %d. First error: %v",
		cmp.Or(c.SourceFormat, "CSV"), r.statistics.BadRecords, c.MaxBadRecords, r.firstBad)
}

func (l *load) read(columns []*engine.Column, skip int64) (*loaded, error) {
	rows := &loaded{statistics: &bq.JobStatistics3{
		InputFiles: int64(len(l.contents)), ForceSendFields: []string{"BadRecords", "OutputRows", "OutputBytes", "InputFileBytes"},
	}}
	for _, content := range l.contents {
		rows.statistics.InputFileBytes += int64(len(content))
		read := l.readCSV
		if l.isJSON() {
			read = l.readJSON
		}
		if err := read(rows, columns, withoutMark(content), skip); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// store puts the rows into the table, all of them or none; overwrite deletes those that
// are there, at the same instant.
func (l *load) store(ctx context.Context, t *engine.Table, columns []*engine.Column, rows *loaded, overwrite bool) error {
	schema := t.Schema()
	at := make([]int, len(columns)) // the file's columns in the table
	for i, c := range columns {
		at[i] = slices.IndexFunc(schema.Columns, func(o *engine.Column) bool { return strings.EqualFold(o.Name, c.Name) })
		if at[i] < 0 {
			return engine.ErrSchemaChanged
		}
	}
	batch := l.engine.NewBatch(t, schema, false, len(rows.values))
	batch.Loaded()
	stored := int64(0)
	for n, row := range rows.values {
		values, missing := make([]any, len(schema.Columns)), make([]bool, len(schema.Columns))
		for i := range missing {
			missing[i] = true
		}
		for i, v := range row {
			values[at[i]], missing[at[i]] = v, rows.missing[n] != nil && rows.missing[n][i]
		}
		batch.UseDefaults(missing)
		if err := batch.Add(values, engine.Sequence{}, false); err != nil {
			if err := rows.bad(l.c, n+1, err); err != nil {
				return err
			}
			continue
		}
		stored++
	}
	rows.statistics.OutputRows, rows.statistics.OutputBytes = stored, rows.statistics.InputFileBytes
	var stream *engine.Stream
	if overwrite {
		var err error
		if stream, err = l.engine.CreateStream(ctx, t.Ref(), engine.Pending); err != nil {
			return err
		}
		batch.To(stream, -1)
	}
	var err error
	if stored > 0 {
		if err = l.engine.Append(ctx, batch); err == nil {
			err = batch.Wait(ctx)
		}
	}
	if err == nil && overwrite {
		if _, err = l.engine.Finalize(ctx, stream); err == nil {
			_, err = l.engine.OverwriteByStreams(ctx, t.Ref(), []string{stream.ID()})
		}
	}
	if errors.Is(err, engine.ErrTableDropped) {
		return engine.NotFound("Not found: Table %s", l.to)
	}
	return err
}

// isEmpty says whether a table has no rows.
func (s *Service) isEmpty(ctx context.Context, ref engine.TableRef) (bool, error) {
	found := errors.New("a row")
	err := s.engine.Scan(ctx, ref, func([]*engine.Column, []any) error { return found })
	if errors.Is(err, found) {
		return false, nil
	}
	return true, err
}
