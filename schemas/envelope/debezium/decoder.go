package debezium

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/captured"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/unavailable"
)

// Options configures a Decoder.
type Options struct {
	Epoch       uint64                   // the first section of every sequence
	Placeholder *unavailable.Placeholder // never nil
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	captured.Reader
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{Reader: captured.New(o.Epoch, o.Placeholder, s)}
}

// Is reports whether a message is one of Debezium's, by its outline.
func Is(o *scan.Outline) bool {
	m := o.Change()
	return m.Names.Has(scan.Op|scan.Source) || Control(o) != ""
}

// Control returns what a message without an op is, "" when it is no control
// message of Debezium's. Connectors send the same ones whatever the format of
// their changes. A row whose columns are so called must not be taken for one, for
// it would vanish: so all that a control message always has is asked for.
func Control(o *scan.Outline) outcome.Control {
	m := o.Change()
	switch n := m.Names; {
	case o.Top.Names.Has(scan.Schema|scan.NullPayload) && o.Top.Count == 2:
		return outcome.Tombstone
	case n.Has(scan.Op), n.Any(scan.FlatOp | scan.FlatDeleted):
		return ""
	case n.Has(scan.Status | scan.EventCount | scan.DataCollections):
		return outcome.Transaction
	case n.Has(scan.TSMillis) && m.Count == 1:
		return outcome.Heartbeat
	case n.Any(scan.DDL|scan.TableChanges) && n.Has(scan.Source):
		return outcome.SchemaChange
	case n.Has(scan.AggregateType|scan.AdditionalData|scan.Type) && m.Count == notification(n):
		return outcome.Notification
	}
	return ""
}

// notification returns how many members a notification has: three that an outbox's
// rows may have too, its id, and in newer versions a timestamp.
func notification(n scan.Names) int { return 4 + (n & scan.Timestamp).Count() }

// Decode appends the message's change to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	if d.Fault != nil {
		return dst, "", outcome.InTable(d.Fault, d.Table())
	}
	if c := Control(&d.Scan.Outline); c != "" {
		return dst, c, nil
	}
	if d.Op == "m" {
		return dst, outcome.LogicalMessage, nil
	}
	dst, err := d.Append(m, dst)
	return dst, "", err
}
