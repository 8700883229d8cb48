package debezium

import (
	"strings"

	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/captured"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// readWrapped reads {"schema": {…}, "payload": {…}}. A schema that was used not
// long ago it knows by its bytes, and scans nothing but the payload. It returns
// false when the message is anything else, or something is wrong with it; then
// nothing is known.
func (d *Decoder) readWrapped(text string) bool {
	rest, ok := captured.CutName(strings.TrimLeft(text, " \t\r\n"), '{', `"schema"`)
	if !ok {
		return false
	}
	schema, n := d.schemas.Prefix(rest)
	if n == 0 {
		var err error
		if n, err = d.Scan.ResetPrefix(rest); err != nil || rest[0] != '{' {
			return false
		}
		if schema, err = d.schemas.Schema(rest[:n]); err != nil {
			return false
		}
	}
	rest, ok = captured.CutName(scan.TrimSpace(rest[n:]), ',', `"payload"`)
	if !ok || rest == "" || rest[0] != '{' {
		return false
	}
	n, err := d.Scan.ResetPrefix(rest)
	if err != nil {
		return false // the error is found again, with its place in the whole message
	}
	if rest = scan.TrimSpace(rest[n:]); rest == "" || rest[0] != '}' || scan.TrimSpace(rest[1:]) != "" {
		return false
	}
	d.Reset()
	d.Scan.Outline.Top.Note("schema", '{')
	d.Scan.Outline.Top.Note("payload", '{')
	d.change(schema)
	return true
}

// read reads any message.
func (d *Decoder) read(text string) error {
	d.Reset()
	s := d.Scan
	if err := s.Reset(text); err != nil {
		return err
	}
	if !s.Object() {
		d.Fail(outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object"))
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
		case !d.Member(name, nil):
			s.Pass(name)
		}
	}
	switch top := s.Outline.Top; {
	case isWrapped && (top.Count > 2 || (top.Count == 2 && !top.Names.Has(scan.Schema))):
		d.Fail(outcome.Errorf(outcome.BadEnvelope, "the message has a payload and other members than its schema"))
	case isWrapped && schemaErr != nil:
		d.Fault = outcome.Errorf(outcome.BadSchema, "%w", schemaErr) // whatever else there is follows from it
	case payload != "":
		s.Walk(payload)
		d.change(schema)
	}
	return nil
}

// change reads the object that holds the change, inside of an envelope.
func (d *Decoder) change(schema *connect.Schema) {
	s := d.Scan
	s.Object()
	for {
		name, more := s.Member()
		if !more {
			return
		}
		s.Outline.Payload.Note(name, s.Peek())
		if !d.Member(name, schema) {
			s.Skip()
		}
	}
}
