package writeapi

import (
	"errors"
	"strings"
	"sync"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"

	"beamcdc/emulator/internal/engine"
)

// batch checks the rows against the table and makes them what is stored.
func (c *connection) batch(t *engine.Table, request *storagepb.AppendRowsRequest, rows []changeRow) (*engine.Batch, error) {
	m, err := c.checkModes(rows)
	if err != nil {
		return nil, err
	}
	if m == modeCDC {
		if err := c.checkCDCTable(t); err != nil {
			return nil, err
		}
	}
	b := c.service.engine.NewBatch(t, c.plan.schema, m == modeCDC, len(rows))
	b.UseDefaults(c.defaults(request.GetMissingValueInterpretations()))
	var failed rowErrors
	for i := range rows {
		if err := c.add(b, &rows[i], m); err != nil {
			failed.add(i, err)
		}
	}
	if err := failed.error(c); err != nil {
		return nil, err
	}
	if c.id == defaultStream { // others take plain rows whatever the connection is for
		c.mode = m
	}
	if m == modeCDC {
		c.holds.hold(c.service.engine, t)
	}
	return b, nil
}

var errPlainSequence = errors.New("a row with a sequence needs a _CHANGE_TYPE of UPSERT or DELETE")

// add adds a row to the batch.
func (c *connection) add(b *engine.Batch, r *changeRow, m mode) error {
	var s engine.Sequence
	if r.hasSequence {
		if m != modeCDC {
			return engine.NewValueError(changeSequenceColumn, errPlainSequence)
		}
		var err error
		if s, err = engine.ParseSequence(r.sequenceText); err != nil {
			return engine.NewValueError(changeSequenceColumn, err)
		}
	}
	return b.Add(r.values, s, m == modeCDC && strings.EqualFold(r.changeType, "DELETE"))
}

// checkCDCTable refuses tables that can't take CDC rows.
func (c *connection) checkCDCTable(t *engine.Table) error {
	if len(c.plan.schema.Key) == 0 {
		return invalidAppend(c.stream, "The primary keys and clustering keys of the table %s are required to create an upsert stream.", c.ref.Dotted())
	}
	if err := t.CheckCDC(); err != nil {
		return invalidAppend(c.stream, "%v", err)
	}
	return nil
}

// upsertHolds are the tables for which a connection is an active upsert stream.
type upsertHolds struct {
	mu       sync.Mutex // the sender reads rows anew too
	ended    bool       // the receiver may outlive its connection
	releases map[*engine.Table]func()
}

func (h *upsertHolds) hold(e *engine.Engine, t *engine.Table) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.releases == nil {
		h.releases = map[*engine.Table]func(){}
	}
	if h.releases[t] == nil && !h.ended {
		h.releases[t] = e.HoldUpserts(t)
	}
}

func (h *upsertHolds) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for _, release := range h.releases {
		release()
	}
}

// defaults returns which columns get their default value where a row lacks one.
func (c *connection) defaults(byColumn map[string]storagepb.AppendRowsRequest_MissingValueInterpretation) []bool {
	use := make([]bool, len(c.plan.schema.Columns))
	for i, column := range c.plan.schema.Columns {
		if column.DefaultValue == nil {
			continue
		}
		interpretation := c.missing
		for name, m := range byColumn {
			if strings.EqualFold(name, column.Name) {
				interpretation = m
			}
		}
		use[i] = interpretation == storagepb.AppendRowsRequest_DEFAULT_VALUE
	}
	return use
}
