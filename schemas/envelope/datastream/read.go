package datastream

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// read reads the message.
func (d *Decoder) read(text string) error {
	d.msg = message{}
	d.columns, d.keys = d.scan.Arena.Columns(d.usual), d.keys[:0]
	s := d.scan
	s.Outline = scan.Outline{}
	s.Reset(text)
	if is, err := s.Object(); err != nil {
		return err
	} else if !is {
		return outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object")
	}
	for {
		name, more, err := s.Member()
		if err != nil {
			return err
		}
		if !more {
			return s.End()
		}
		s.Outline.Top.Note(name, s.Peek())
		switch name {
		case "read_method":
			d.msg.readMethod, err = s.Scalar()
		case "source_timestamp":
			d.msg.timestamp, err = s.Scalar()
		case "source_metadata":
			err = d.metadata()
		case "payload":
			err = d.payload()
		default:
			err = s.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// metadata reads source_metadata.
func (d *Decoder) metadata() error {
	s := d.scan
	if is, err := s.Object(); err != nil {
		return err
	} else if !is {
		return outcome.Errorf(outcome.BadEnvelope, "source_metadata is no object")
	}
	d.msg.hasMeta = true
	for {
		name, more, err := s.Member()
		if err != nil || !more {
			return err
		}
		switch field := d.msg.field(name); {
		case name == "primary_keys":
			err = d.primaryKeys()
		case field != nil:
			*field, err = s.Scalar()
		default:
			err = s.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// field returns where the member of this name goes, nil for nowhere.
func (m *message) field(name string) *string {
	switch name {
	case "table":
		return &m.table
	case "schema":
		return &m.schema
	case "database":
		return &m.database
	case "change_type":
		return &m.changeType
	case "is_deleted":
		return &m.isDeleted
	case "lsn":
		return &m.lsn
	case "log_file":
		return &m.logFile
	case "log_position":
		return &m.logPosition
	case "binlog_file": // so named where the source has GTIDs (DataflowTemplates#3554)
		return &m.binFile
	case "binlog_position":
		return &m.binPosition
	}
	return nil
}

// primaryKeys reads the key columns' names; what is no list of names is none.
func (d *Decoder) primaryKeys() error {
	raw, err := d.scan.Value()
	if err != nil || raw[0] != '[' {
		return err
	}
	scan.EachElement(raw, func(element string) bool {
		if element[0] != '"' {
			d.keys = d.keys[:0]
			return false
		}
		var name string
		if name, err = d.scan.Arena.Unquote(element); err == nil {
			d.keys = append(d.keys, name)
		}
		return err == nil
	})
	return err
}

// payload reads the row.
func (d *Decoder) payload() error {
	s := d.scan
	kind := s.Peek()
	is, err := s.Object()
	switch {
	case err != nil:
		return err
	case kind == 'n':
		return nil
	case !is:
		return outcome.Errorf(outcome.BadEnvelope, "payload is neither an object nor null")
	}
	d.msg.hasPayload = true
	for {
		name, more, err := s.Member()
		if err != nil || !more {
			return err
		}
		s.Outline.Payload.Note(name, s.Peek())
		raw, err := s.Value()
		if err != nil {
			return err
		}
		var v change.Value
		if raw[0] == '"' {
			var text string
			text, err = s.Unquote(raw)
			v = change.Text(text)
		} else {
			v, err = s.Arena.Untyped(raw)
		}
		if err != nil {
			return err
		}
		d.columns = append(d.columns, change.Column{Name: name, Value: v})
	}
}
