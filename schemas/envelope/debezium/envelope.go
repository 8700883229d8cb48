package debezium

import (
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// read reads the message. The error is that it is no JSON; whatever else is
// wrong with it is d.Fault.
func (d *Decoder) read(text string) error {
	if schema, ok := d.Unwrap(text); ok {
		d.change(schema)
		return nil
	}
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
			schema, schemaErr = d.Schema(s.Value())
		case name == "payload" && kind == '{':
			isWrapped = true
			if s.Outline.Top.Names.Has(scan.Schema) {
				d.change(schema)
			} else {
				payload = s.Pass(name)
			}
		case !d.Member(name, d.Types()):
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
		s.Outline.Payload = scan.Members{} // Pass has noted them
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
