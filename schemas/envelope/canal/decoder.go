package canal

import (
	"slices"
	"strconv"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// NoPosition is the Position of every change.
const NoPosition = "a Canal flat message has no position: give the table a sequence, or accept the order of arrival with missing_positions: arrival"

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	scan *scan.Scanner
	rows rows.Rows
	keys []string     // the key columns' names
	data []rows.Image // by row
	old  []rows.Image
	key  []rows.Image
	msg  message

	types  []column
	byName map[string]kind // the types after the first few
}

// message is what was read of the message at hand. The rows are read when all
// else is known, since their types may come behind them.
type message struct {
	database, table, kind, isDDL string
	es, gtid                     string
	sqlType, mysqlType           string // objects, or ""
	data, old                    string // as they are written, or ""
}

// New returns a Decoder that reads with s.
func New(s *scan.Scanner) *Decoder { return &Decoder{scan: s, rows: rows.New(s)} }

// Is reports whether a message is one of Canal's, by its outline.
func Is(o *scan.Outline) bool {
	n := o.Top.Names
	return n.Has(scan.Type|scan.Data) && n.Any(scan.IsDDL|scan.MySQLType)
}

// Decode appends the message's changes to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	op, control, err := d.kind()
	if control != "" {
		return dst, control, nil
	}
	parts := 1
	if err == nil && op != change.OpTruncate {
		parts, err = d.readRows(op)
	}
	if err != nil {
		return dst, "", outcome.InTable(err, d.table())
	}
	e := change.Event{
		Message: *m, Parts: uint32(parts), Table: d.table(), Op: op,
		Position: NoPosition, CommitTime: rows.Unix(d.msg.es, time.Millisecond), Transaction: d.msg.gtid,
	}
	if op == change.OpTruncate {
		return append(dst, e), "", nil
	}
	return d.appendRows(dst, e), "", nil
}

// appendRows appends a change for each row.
func (d *Decoder) appendRows(dst []change.Event, e change.Event) []change.Event {
	d.key = d.key[:0]
	for _, row := range d.data {
		d.key = append(d.key, d.rows.Pick(row, d.keys))
	}
	d.rows.Keep() // and no column is added from here
	dst = slices.Grow(dst, len(d.data))
	for i, row := range d.data {
		e.Part, e.Key = uint32(i), d.rows.Of(d.key[i])
		if e.Op == change.OpDelete {
			e.Before, e.BeforeComplete = d.rows.Of(row), true
		} else {
			e.After = d.rows.Of(row)
			if i < len(d.old) {
				e.Before = d.rows.Of(d.old[i])
			}
		}
		dst = append(dst, e)
	}
	return dst
}

// read reads the message, but for its rows.
func (d *Decoder) read(text string) error {
	d.msg, d.keys = message{}, d.keys[:0]
	d.rows.Reset()
	s := d.scan
	if err := s.Open(text); err != nil {
		return err
	}
	for {
		name, more := s.NextMember()
		if !more {
			return nil
		}
		switch name {
		case "database":
			d.msg.database = s.Scalar()
		case "table":
			d.msg.table = s.Scalar()
		case "type":
			d.msg.kind = s.Scalar()
		case "isDdl":
			d.msg.isDDL = s.Scalar()
		case "es":
			d.msg.es = s.Scalar()
		case "gtid":
			d.msg.gtid = s.Scalar()
		case "pkNames":
			d.keys = d.rows.Names(d.keys, s.Value())
		case "sqlType":
			d.msg.sqlType = d.optional(name, '{')
		case "mysqlType":
			d.msg.mysqlType = d.optional(name, '{')
		case "data":
			d.msg.data = d.optional(name, '[')
		case "old":
			d.msg.old = d.optional(name, '[')
		default:
			s.Pass(name)
		}
	}
}

// optional returns a value of the given kind, "" for null. Anything else is a fault.
func (d *Decoder) optional(name string, kind byte) string {
	raw := d.scan.Value()
	switch raw[0] {
	case kind:
		return raw
	case 'n':
	default:
		want := "an array"
		if kind == '{' {
			want = "an object"
		}
		d.rows.Fail(outcome.BadEnvelope, "%s is neither %s nor null", name, want)
	}
	return ""
}

// kind returns what happened.
func (d *Decoder) kind() (change.Op, outcome.Control, error) {
	switch d.msg.kind {
	case "INSERT":
		return d.unlessDDL(change.OpCreate)
	case "UPDATE":
		return d.unlessDDL(change.OpUpdate)
	case "DELETE":
		return d.unlessDDL(change.OpDelete)
	case "TRUNCATE":
		return change.OpTruncate, "", nil
	case "QUERY", "CREATE", "ALTER", "ERASE", "RENAME", "CINDEX", "DINDEX":
		return 0, outcome.SchemaChange, nil
	case "":
		return 0, "", outcome.Errorf(outcome.BadEnvelope, "the message has no type")
	}
	if d.msg.isDDL == "true" {
		return 0, outcome.SchemaChange, nil
	}
	return 0, "", outcome.Errorf(outcome.UnknownOp, "the type is none of INSERT, UPDATE, DELETE and TRUNCATE, and no DDL's")
}

func (d *Decoder) unlessDDL(op change.Op) (change.Op, outcome.Control, error) {
	if d.msg.isDDL == "true" {
		return 0, "", outcome.Errorf(outcome.ConflictingOps, "type and isDdl contradict each other")
	}
	return op, "", nil
}

// readRows reads data and old, and returns how many rows there are.
func (d *Decoder) readRows(op change.Op) (int, error) {
	d.readTypes()
	d.data = d.images(d.data[:0], "data", d.msg.data)
	d.old = d.old[:0]
	if op == change.OpUpdate {
		d.old = d.images(d.old, "old", d.msg.old)
	}
	switch err := d.rows.Fault(); {
	case err != nil:
		return 0, err
	case len(d.data) == 0:
		return 0, outcome.Errorf(outcome.MissingImage, "type %s has no row in data", d.msg.kind)
	case len(d.old) > 0 && len(d.old) != len(d.data):
		return 0, outcome.Errorf(outcome.BadEnvelope, "old has %d rows and data has %d: which belong together can't be told", len(d.old), len(d.data))
	}
	return len(d.data), nil
}

// images reads an array of rows. A null in old is a row without a change.
func (d *Decoder) images(dst []rows.Image, what, raw string) []rows.Image {
	if raw == "" {
		return dst
	}
	s := d.scan
	s.Walk(raw)
	s.Array()
	for s.Element() {
		kind := s.Peek()
		switch {
		case len(dst) == rows.MaxChanges:
			d.rows.FailTooMany()
			return dst
		case s.Object():
			img := d.image(what, len(dst))
			if img.Len() == 0 && what == "data" {
				d.rows.Fail(outcome.MissingImage, "data[%d] has no columns", len(dst))
			}
			dst = append(dst, img)
		case kind == 'n' && what == "old":
			dst = append(dst, rows.Image{})
		default:
			d.rows.Fail(outcome.BadEnvelope, "%s[%d] is no object", what, len(dst))
			dst = append(dst, rows.Image{})
		}
	}
	return dst
}

// image reads a row.
func (d *Decoder) image(what string, index int) rows.Image {
	s := d.scan
	img := d.rows.Begin()
	for hint := 0; ; hint++ {
		name, more := s.Member()
		if !more {
			return d.rows.End(img)
		}
		v := d.rows.Untyped(s.Value())
		if v.Kind() == change.KindText {
			t := d.typeOf(name, hint)
			typed, ok := d.typed(t, v.Text())
			if !ok {
				d.rows.Fail(outcome.BadValue, "%s[%s]: column %s: the value is no %s", what, strconv.Itoa(index), rows.Clip(name), t)
			}
			v = typed
		}
		d.rows.Add(name, v)
	}
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	if d.msg.table == "" || d.msg.database == "" {
		return d.msg.table
	}
	return d.scan.Arena.Table(d.msg.database, d.msg.table)
}
