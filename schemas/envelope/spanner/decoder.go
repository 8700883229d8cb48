package spanner

import (
	"slices"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// Options configures a Decoder.
type Options struct {
	Epoch uint64 // the first section of every sequence
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	options Options
	scan    *scan.Scanner
	rows    rows.Rows
	tables  cache
	columns []column // of the message at hand
	next    int      // the column whose type was asked for last
	mods    []mod
	place   string // the message's position, for people to read
	msg     message
	isAvro  bool // the message is the template's in Avro
}

// message is what was read of the message at hand. Members come in any order, so
// nothing is judged before the end.
type message struct {
	commit            string // as it is written, or ""
	record            string
	transaction       string
	table             string
	modType, captured string
	columns, mods     string // arrays as they are written, or ""
}

// mod is one row's change.
type mod struct {
	keys, news, olds   string // as they are written, or ""
	key, before, after rows.Image
	isBeforeWhole      bool
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{options: o, scan: s, rows: rows.New(s)}
}

// Typed says that messages are in Avro, unless types is nil.
func (d *Decoder) Typed(types *connect.Schema) { d.isAvro = types != nil }

// Is reports whether a message is one of Spanner's, by its outline.
func Is(o *scan.Outline) bool {
	n := o.Top.Names
	return n.Has(scan.Mods|scan.ModType) && n.Any(scan.TableName|scan.Table)
}

// Decode appends the message's changes to dst. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	op, err := d.op()
	if err == nil {
		d.readMods(op)
		err = d.rows.Fault()
	}
	if err == nil && len(d.mods) == 0 {
		err = outcome.Errorf(outcome.MissingImage, "mods is empty")
	}
	if err != nil {
		return dst, "", outcome.InTable(err, d.msg.table)
	}
	d.rows.Keep()
	e := change.Event{
		Message: *m, Parts: uint32(len(d.mods)), Table: d.msg.table, Op: op, Transaction: d.msg.transaction,
		AbsentUnavailable: op == change.OpUpdate && !d.isWhole(), Partial: !d.isWhole(),
	}
	nanos, why := d.commit(&e)
	dst = slices.Grow(dst, len(d.mods))
	for i := range d.mods {
		in := &d.mods[i]
		e.Part = uint32(i)
		e.Key, e.Before, e.After, e.BeforeComplete = d.rows.Of(in.key), d.rows.Of(in.before), d.rows.Of(in.after), in.isBeforeWhole
		e.Sequence, e.Position = d.sequence(nanos, why, uint64(i), op)
		dst = append(dst, e)
	}
	return dst, "", nil
}

// read reads the message's own members.
func (d *Decoder) read(text string) error {
	d.msg, d.mods = message{}, d.mods[:0]
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
		case "commitTimestamp", "commit_timestamp":
			d.msg.commit = s.Value()
		case "recordSequence", "record_sequence":
			d.msg.record = s.Scalar()
		case "serverTransactionId", "server_transaction_id":
			d.msg.transaction = s.Scalar()
		case "tableName", "table_name", "table":
			d.msg.table = s.Scalar()
		case "modType", "mod_type":
			d.msg.modType = s.Scalar()
		case "valueCaptureType", "value_capture_type":
			d.msg.captured = s.Scalar()
		case "rowType", "row_type", "columnTypes", "column_types", "columnMetadata", "column_metadata":
			d.msg.columns = d.array(name)
		case "mods":
			d.msg.mods = d.array(name)
		default:
			s.Pass(name)
		}
	}
}

// array returns an array as it is written, "" for null. Anything else is a fault.
func (d *Decoder) array(name string) string {
	raw := d.scan.Value()
	switch raw[0] {
	case '[':
		return raw
	case 'n':
	default:
		d.rows.Fail(outcome.BadEnvelope, "%s is neither an array nor null", name)
	}
	return ""
}

// op returns what happened.
func (d *Decoder) op() (change.Op, error) {
	switch d.msg.modType {
	case "INSERT":
		return change.OpCreate, nil
	case "UPDATE":
		return change.OpUpdate, nil
	case "DELETE":
		return change.OpDelete, nil
	case "":
		return 0, outcome.Errorf(outcome.BadEnvelope, "the message has no modType")
	}
	return 0, outcome.Errorf(outcome.UnknownOp, "modType is none of INSERT, UPDATE and DELETE")
}

// isWhole reports whether new values are those of all columns that are watched.
func (d *Decoder) isWhole() bool {
	return d.msg.captured == "NEW_ROW" || d.msg.captured == "NEW_ROW_AND_OLD_VALUES"
}
