package debezium

import (
	"strings"

	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// reset forgets the message before.
func (d *Decoder) reset() {
	d.msg = message{}
	d.columns = d.scan.Arena.Columns(d.usual)
	d.doubts = d.doubts[:0]
	d.scan.Outline = scan.Outline{}
}

// readWrapped reads {"schema": {…}, "payload": {…}}. A schema that was used not
// long ago it knows by its bytes, and scans nothing but the payload. It returns
// false when the message is anything else, or something is wrong with it; then
// nothing is known.
func (d *Decoder) readWrapped(text string) bool {
	rest, ok := cutName(strings.TrimLeft(text, " \t\r\n"), '{', `"schema"`)
	if !ok {
		return false
	}
	schema, n := d.schemas.Prefix(rest)
	if n == 0 {
		var err error
		if n, err = d.scan.ResetPrefix(rest); err != nil || rest[0] != '{' {
			return false
		}
		if schema, err = d.schemas.Schema(rest[:n]); err != nil {
			return false
		}
	}
	rest, ok = cutName(scan.TrimSpace(rest[n:]), ',', `"payload"`)
	if !ok || rest == "" || rest[0] != '{' {
		return false
	}
	n, err := d.scan.ResetPrefix(rest)
	if err != nil {
		return false // the error is found again, with its place in the whole message
	}
	if rest = scan.TrimSpace(rest[n:]); rest == "" || rest[0] != '}' || scan.TrimSpace(rest[1:]) != "" {
		return false
	}
	d.reset()
	d.scan.Outline.Top.Note("schema", '{')
	d.scan.Outline.Top.Note("payload", '{')
	d.change(schema)
	return true
}

// cutName cuts a delimiter, a member's quoted name and the colon from the
// beginning of text.
func cutName(text string, delimiter byte, quoted string) (rest string, ok bool) {
	if text == "" || text[0] != delimiter {
		return "", false
	}
	if rest, ok = strings.CutPrefix(scan.TrimSpace(text[1:]), quoted); !ok {
		return "", false
	}
	if rest = scan.TrimSpace(rest); rest == "" || rest[0] != ':' {
		return "", false
	}
	return scan.TrimSpace(rest[1:]), true
}

// read reads any message.
func (d *Decoder) read(text string) error {
	d.reset()
	s := d.scan
	if err := s.Reset(text); err != nil {
		return err
	}
	if !s.Object() {
		d.fault(outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object"))
		return nil
	}
	var (
		schema    *connect.Schema
		schemaErr error
		payload   string // one that came before its schema
		isWrapped bool
	)
	for {
		name, more := s.Member()
		if !more {
			break
		}
		kind := s.Peek()
		s.Note(name)
		switch {
		case name == "schema" && kind == '{':
			schema, schemaErr = d.schemas.Schema(s.Value())
		case name == "payload" && kind == '{':
			isWrapped = true
			if s.Outline.Top.Names.Has(scan.Schema) {
				d.change(schema)
			} else {
				payload = s.Value()
			}
		case name == "metadata":
			s.Pass(name) // another format's
		default:
			d.member(name, nil)
		}
	}
	switch top := s.Outline.Top; {
	case isWrapped && (top.Count > 2 || (top.Count == 2 && !top.Names.Has(scan.Schema))):
		d.fault(outcome.Errorf(outcome.BadEnvelope, "the message has a payload and other members than its schema"))
	case isWrapped && schemaErr != nil:
		d.msg.fault = outcome.Errorf(outcome.BadSchema, "%w", schemaErr) // whatever else there is follows from it
	case payload != "":
		s.Walk(payload)
		d.change(schema)
	}
	return nil
}

// change reads the object that holds the change, inside of an envelope.
func (d *Decoder) change(schema *connect.Schema) {
	s := d.scan
	s.Object()
	for {
		name, more := s.Member()
		if !more {
			return
		}
		s.Outline.Payload.Note(name, s.Peek())
		d.member(name, schema)
	}
}

// member reads one member of the object that holds the change.
func (d *Decoder) member(name string, schema *connect.Schema) {
	switch name {
	case "op":
		d.msg.op = d.scan.Scalar()
	case "before":
		d.msg.before = d.image(name, schema.Field(name, 0))
	case "after":
		d.msg.after = d.image(name, schema.Field(name, 1))
	case "source":
		d.readSource()
	default:
		d.scan.Skip()
	}
}

// fault keeps the first of what is wrong with the message. The reading goes on,
// for the outline's sake.
func (d *Decoder) fault(err error) {
	if d.msg.fault == nil {
		d.msg.fault = err
	}
}
