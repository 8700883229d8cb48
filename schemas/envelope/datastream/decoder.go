package datastream

import (
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
)

// Options configures a Decoder.
type Options struct {
	Epoch uint64 // the first section of every sequence
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	options Options
	scan    *scan.Scanner
	types   *connect.Schema // of the message, from outside of it; nil for none

	// Of the message at hand.
	columns []change.Column // the payload's, and then the key's, in the arena's room
	usual   int             // how many columns the message before had, to ask room for
	keys    []string        // the key columns' names
	index   []string        // those of SQL Server's replication index, which stands in for them
	msg     message
}

// message is what was read of the message at hand; metadata comes before the
// payload or after it.
type message struct {
	fault                 error // the first thing that is wrong with it
	readMethod, timestamp string
	hasPayload, hasMeta   bool
	changeType, isDeleted string
	schema, database      string
	table                 string // MongoDB's collection too
	isCollection          bool
	txID                  string // PostgreSQL, SQL Server, Oracle
	lsn                   string // PostgreSQL, SQL Server
	logFile, logPosition  string // MySQL
	binFile, binPosition  string
	scn, rsID, ssn        string // Oracle
	seconds, increment    string // MongoDB: cluster_time
	sortKeys              string // a JSON array
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder { return &Decoder{options: o, scan: s} }

// Typed sets what types the messages; nil is nothing.
func (d *Decoder) Typed(types *connect.Schema) { d.types = types }

// Is reports whether a message is one of Datastream's, by its outline.
func Is(o *scan.Outline) bool { return o.Top.Names.Has(scan.SourceMetadata) }

// Decode appends the message's change to dst. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	if d.msg.fault != nil {
		return dst, "", outcome.InTable(d.msg.fault, d.table())
	}
	n := len(dst)
	dst = append(dst, change.Event{Message: *m, Parts: 1})
	if err := d.fill(&dst[n]); err != nil {
		return dst[:n], "", outcome.InTable(err, d.table())
	}
	return dst, "", nil
}

// fill makes the change of what was read.
func (d *Decoder) fill(e *change.Event) (err error) {
	e.Table, e.CommitTime, e.Transaction = d.table(), commitTime(d.msg.timestamp), d.msg.txID
	if !d.msg.hasMeta {
		return outcome.Errorf(outcome.BadEnvelope, "the message has no source_metadata")
	}
	if e.Op, err = d.op(); err != nil {
		return err
	}
	e.Sequence, e.Position = d.sequence(e.Op)
	if !d.msg.hasPayload {
		return outcome.Errorf(outcome.MissingImage, "the change has no payload (position: %s)", e.Position)
	}
	row := len(d.columns)
	d.findKey()
	d.scan.Arena.KeepColumns(d.columns)
	d.usual = min(len(d.columns), slab.Usual)
	e.Key = part(d.columns, row, len(d.columns))
	if image := part(d.columns, 0, row); e.Op == change.OpDelete {
		e.Before = image
	} else {
		e.After = image
	}
	return nil
}

// op returns what happened, by change_type and is_deleted, which must agree.
func (d *Decoder) op() (change.Op, error) {
	var op change.Op
	switch strings.ToUpper(d.msg.changeType) {
	case "INSERT":
		op = change.OpCreate
	case "UPDATE", "UPDATE-INSERT":
		op = change.OpUpdate
	case "DELETE", "UPDATE-DELETE":
		op = change.OpDelete
	case "":
		switch {
		case d.msg.isDeleted == "true":
			op = change.OpDelete
		case d.isBackfill():
			op = change.OpSnapshot
		default:
			return 0, outcome.Errorf(outcome.UnknownOp, "source_metadata has no change_type")
		}
	default:
		return 0, outcome.Errorf(outcome.UnknownOp, "source_metadata.change_type is none of INSERT, UPDATE, UPDATE-INSERT, UPDATE-DELETE and DELETE")
	}
	if deleted := d.msg.isDeleted; deleted != "" && (deleted == "true") != (op == change.OpDelete) {
		return 0, outcome.Errorf(outcome.ConflictingOps, "source_metadata.change_type and is_deleted contradict each other")
	}
	if d.isBackfill() && op != change.OpDelete {
		op = change.OpSnapshot
	}
	return op, nil
}

// isBackfill reports whether the row was read from its table, not from the log.
func (d *Decoder) isBackfill() bool {
	return strings.Contains(d.msg.readMethod, "backfill") || strings.Contains(d.msg.readMethod, "dump")
}

// The sources, as read_method begins with them.
const (
	mysql     = "mysql"
	postgres  = "postgres" // "postgres-cdc-wal", "postgresql-backfill"
	sqlServer = "sqlserver"
	oracle    = "oracle"
	mongoDB   = "mongodb"
)

// source returns which of the sources it is, "" for any other; where read_method
// doesn't tell, by what source_metadata holds.
func (m *message) source() string {
	for _, source := range [...]string{mysql, postgres, sqlServer, oracle, mongoDB} {
		if strings.HasPrefix(m.readMethod, source) {
			return source
		}
	}
	switch {
	case m.isCollection: // "cdc" and "backfill" too
		return mongoDB
	case m.readMethod != "":
		return ""
	case m.scn != "":
		return oracle
	case m.lsn != "" && strings.Contains(m.lsn, ":"):
		return sqlServer
	case m.lsn != "" && m.schema != "":
		return postgres
	case m.schema == "" && m.lsn == "":
		return mysql
	}
	return ""
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	space := d.msg.schema
	if space == "" || d.msg.source() == mysql {
		space = d.msg.database
	}
	if d.msg.table == "" || space == "" {
		return d.msg.table
	}
	return d.scan.Arena.Table(space, d.msg.table)
}

// part returns some of the columns, nil for none. Appending to them copies them.
func part(columns []change.Column, start, end int) []change.Column {
	if start == end {
		return nil
	}
	return columns[start:end:end]
}

// findKey appends to the payload's columns those that source_metadata.primary_keys
// names, or else replication_index; none unless the payload holds them all. Names
// may differ in case from the payload's, as SQL Server's do. More names than any
// source's key has are none.
func (d *Decoder) findKey() {
	const most = 64
	row, names := d.columns, d.keys
	if len(names) == 0 {
		names = d.index
	}
	if len(names) > most {
		return
	}
	for _, name := range names {
		c, ok := find(row, name)
		if !ok {
			d.columns = row
			return
		}
		d.columns = append(d.columns, c)
	}
}

func find(columns []change.Column, name string) (change.Column, bool) {
	if v, ok := change.Find(columns, name); ok {
		return change.Column{Name: name, Value: v}, true
	}
	for _, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return change.Column{}, false
}

// commitTime reads source_timestamp: ISO 8601 with T or a blank, with a zone or
// without, which is UTC, or milliseconds since the epoch; zero when unknown, or
// outside the years 1 to 9999.
func commitTime(text string) time.Time {
	var t time.Time
	if micros, _, err := connect.ParseTimestamp(text); err == nil {
		t = time.UnixMicro(micros).UTC()
	} else if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		t = time.UnixMilli(ms).UTC()
	} else {
		return time.Time{}
	}
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
