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

// readKnown reads a message that begins with a schema used not long ago: it
// compares the schema's bytes, and scans nothing but the payload. It returns
// false when the message is anything else; then nothing is known.
func (d *Decoder) readKnown(text string) bool {
	rest, ok := cutName(strings.TrimLeft(text, " \t\r\n"), '{', `"schema"`)
	if !ok {
		return false
	}
	schema, n := d.schemas.Prefix(rest)
	if n == 0 {
		return false
	}
	rest, ok = cutName(scan.TrimSpace(rest[n:]), ',', `"payload"`)
	if !ok || rest == "" || rest[0] != '{' {
		return false
	}
	d.reset()
	d.scan.Reset(rest)
	d.scan.Outline.Top.Note("schema", '{')
	d.scan.Outline.Top.Note("payload", '{')
	if d.change(schema) != nil {
		return false // the error is found again, with its place in the whole message
	}
	if rest = scan.TrimSpace(d.scan.Rest()); rest == "" || rest[0] != '}' {
		return false
	}
	d.scan.Outline.Complete = true
	return scan.TrimSpace(rest[1:]) == ""
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
	s.Reset(text)
	if is, err := s.Object(); err != nil {
		return err
	} else if !is {
		return outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object")
	}
	var (
		schema    *connect.Schema
		schemaErr error
		payload   string // one that came before its schema
		isWrapped bool
	)
	for {
		name, more, err := s.Member()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		kind := s.Peek()
		s.Outline.Top.Note(name, kind)
		switch {
		case name == "schema" && kind == '{':
			var raw string
			if raw, err = s.Value(); err == nil {
				schema, schemaErr = d.schemas.Schema(raw)
			}
		case name == "payload" && kind == '{':
			isWrapped = true
			if s.Outline.Top.Names.Has(scan.Schema) {
				err = d.change(schema)
			} else {
				payload, err = s.Value()
			}
		default:
			err = d.member(name, nil)
		}
		if err != nil {
			return err
		}
	}
	if err := s.End(); err != nil {
		return err
	}
	switch top := s.Outline.Top; {
	case isWrapped && (top.Count > 2 || (top.Count == 2 && !top.Names.Has(scan.Schema))):
		return outcome.Errorf(outcome.BadEnvelope, "the message has a payload and other members than its schema")
	case isWrapped && schemaErr != nil:
		return outcome.Errorf(outcome.BadSchema, "%w", schemaErr)
	}
	if payload != "" {
		s.Reset(payload)
		return d.change(schema)
	}
	return nil
}

// change reads the object that holds the change, inside of an envelope.
func (d *Decoder) change(schema *connect.Schema) error {
	s := d.scan
	if _, err := s.Object(); err != nil {
		return err
	}
	for {
		name, more, err := s.Member()
		if err != nil || !more {
			return err
		}
		s.Outline.Payload.Note(name, s.Peek())
		if err := d.member(name, schema); err != nil {
			return err
		}
	}
}

// member reads one member of the object that holds the change.
func (d *Decoder) member(name string, schema *connect.Schema) (err error) {
	switch name {
	case "op":
		d.msg.op, err = d.scan.Scalar()
	case "before":
		d.msg.before, err = d.image(name, schema.Field(name, 0))
	case "after":
		d.msg.after, err = d.image(name, schema.Field(name, 1))
	case "source":
		err = d.readSource()
	default:
		err = d.scan.Skip()
	}
	return err
}
