package writeapi

import (
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"beamcdc/emulator/internal/engine"
)

func tableNotFound(stream string) error {
	return &appendError{
		code: codes.NotFound, storage: storagepb.StorageError_TABLE_NOT_FOUND,
		message: "Requested entity was not found." + entity(stream),
	}
}

// read reads a request's rows for its table.
func (c *connection) read(request *storagepb.AppendRowsRequest) (*engine.Batch, error) {
	limit := c.service.options.MaxRequestBytes
	if size := proto.Size(request); size > limit {
		return nil, invalidAppend(c.stream, "AppendRows request too large: %d limit %d", size, limit)
	}
	if request.GetArrowRows() != nil {
		return nil, invalidAppend(c.stream, "Arrow rows are not supported: this emulator takes protocol buffer rows.")
	}
	if request.GetProtoRows() == nil {
		return nil, invalidAppend(c.stream, "Request failed: data format unspecified")
	}
	t, err := c.service.table(c.ref)
	if err != nil {
		return nil, tableNotFound(c.stream)
	}
	var stream *engine.Stream // nil for the default one
	if c.id != defaultStream {
		if stream, err = c.service.engine.Stream(c.ref, c.id); err != nil {
			return nil, streamError(c.stream, err)
		}
	} else if request.GetOffset() != nil {
		return nil, invalidAppend(c.stream, "Offset is not supported for the default stream.")
	}
	if err := c.compile(t); err != nil {
		return nil, err
	}
	rows, err := c.readRows(request)
	if err != nil {
		return nil, err
	}
	b, err := c.batch(t, request, rows)
	if err == nil && stream != nil {
		offset := int64(-1)
		if o := request.GetOffset(); o != nil {
			if offset = o.GetValue(); offset < 0 {
				return nil, invalidAppend(c.stream, "Invalid offset: %d.", offset)
			}
		}
		b.To(stream, offset)
	}
	return b, err
}

// compile makes the plan for the table's current schema.
func (c *connection) compile(t *engine.Table) error {
	s := t.Schema()
	if c.notified == nil {
		c.notified = map[engine.TableRef]int64{}
	}
	if _, ok := c.notified[c.ref]; !ok {
		c.notified[c.ref] = s.Version
	}
	if c.plan != nil && c.plan.schema == s {
		return nil
	}
	if c.message == nil {
		return invalidAppend(c.stream, "Invalid proto schema: the first request of a stream must have a writer schema.")
	}
	p, err := compilePlan(s, c.message)
	if err == nil {
		err = p.checkKnown(c.service.known(c.ref, s))
	}
	if mismatch, ok := errors.AsType[*schemaError](err); ok {
		return &appendError{code: codes.InvalidArgument, storage: mismatch.code, message: mismatch.message + entity(c.stream)}
	}
	if err != nil {
		return err
	}
	c.plan = p
	if c.compiled == nil || len(c.compiled) >= maxCompiled {
		c.compiled = map[string]compiledSchema{}
	}
	c.compiled[c.stream] = compiledSchema{c.message, p}
	return nil
}

// updatedSchema is the table's schema, if it changed since the client last saw it.
func (c *connection) updatedSchema(b *engine.Batch) *storagepb.TableSchema {
	if c.notified[c.ref] == b.SchemaVersion() || len(c.service.known(c.ref, c.plan.schema)) < len(c.plan.schema.Columns) {
		return nil
	}
	c.notified[c.ref] = b.SchemaVersion()
	return storageSchema(c.plan.schema)
}

// readRows decodes the rows; rows that can't be are errors all at once.
func (c *connection) readRows(request *storagepb.AppendRowsRequest) ([]changeRow, error) {
	encoded := request.GetProtoRows().GetRows().GetSerializedRows()
	rows := make([]changeRow, 0, len(encoded))
	var failed rowErrors
	for i, b := range encoded {
		row, err := c.plan.read(b)
		if err != nil {
			failed.add(i, err)
		}
		rows = append(rows, row)
	}
	return rows, failed.error(c)
}

// rowErrors collects the errors of a request's rows.
type rowErrors []*storagepb.RowError

// maxRowErrors bounds the list: BigQuery's "may not be complete" either.
const maxRowErrors = 1000

func (r *rowErrors) add(index int, err error) {
	if len(*r) < maxRowErrors {
		*r = append(*r, &storagepb.RowError{Index: int64(index), Code: storagepb.RowError_FIELDS_ERROR, Message: engine.Clip(err.Error())})
	}
}

func (r rowErrors) error(c *connection) error {
	if len(r) == 0 {
		return nil
	}
	c.service.counts.rowErrors.Add(int64(len(r)))
	return rowsError(c.stream, r)
}

// rowMode says what a row's change type makes it.
func rowMode(changeType string) mode {
	switch strings.ToUpper(changeType) {
	case "UPSERT", "DELETE":
		return modeCDC
	case "", "INSERT":
		return modeInsert
	}
	return modeUnknown
}

// checkModes finds out which mode the request is of, and refuses what doesn't fit it.
func (c *connection) checkModes(rows []changeRow) (mode, error) {
	m := c.mode
	if c.id != defaultStream {
		m = modeInsert // only the default stream takes changes
	}
	var failed rowErrors
	for i := range rows {
		r := rowMode(rows[i].changeType)
		if m == modeUnknown {
			m = r
		}
		if r == m && r != modeUnknown {
			continue
		}
		given := rows[i].changeType
		if given == "" {
			given = "unspecified"
		}
		text := "The given value is not a valid CHANGE_TYPE"
		if m == modeInsert {
			text += " in insert mode"
		}
		failed.add(i, fmt.Errorf("%s: %s", text, engine.Clip(given)))
	}
	return m, failed.error(c)
}
