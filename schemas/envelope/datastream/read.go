package datastream

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// read reads the message. The error is that it is no JSON; whatever else is
// wrong with it is msg.fault.
func (d *Decoder) read(text string) error {
	d.msg = message{}
	d.columns, d.keys, d.index = d.scan.Arena.Columns(d.usual), d.keys[:0], d.index[:0]
	s := d.scan
	s.Outline = scan.Outline{}
	if err := s.Reset(text); err != nil {
		return err
	}
	if !s.Object() {
		d.fault("the message is no JSON object")
		return nil
	}
	for {
		name, more := s.Member()
		if !more {
			return nil
		}
		s.Note(name)
		switch name {
		case "read_method":
			d.msg.readMethod = s.Scalar()
		case "source_timestamp":
			d.msg.timestamp = s.Scalar()
		case "sort_keys":
			d.sortKeys()
		case "source_metadata":
			d.metadata()
		case "payload":
			d.payload()
		default:
			s.Pass(name)
		}
	}
}

// fault keeps the first of what is wrong with the message. The reading goes on,
// for the outline's sake.
func (d *Decoder) fault(what string) {
	if d.msg.fault == nil {
		d.msg.fault = outcome.Errorf(outcome.BadEnvelope, "%s", what)
	}
}

// metadata reads source_metadata.
func (d *Decoder) metadata() {
	s := d.scan
	if !s.Object() {
		d.fault("source_metadata is no object")
		return
	}
	d.msg.hasMeta = true
	for {
		name, more := s.Member()
		if !more {
			return
		}
		switch field := d.msg.field(name); {
		case name == "primary_keys":
			d.keys = d.names(d.keys)
		case name == "replication_index":
			d.index = d.names(d.index)
		case name == "cluster_time":
			d.clusterTime()
		case name == "collection":
			d.msg.table, d.msg.isCollection = s.Scalar(), true
		case field != nil:
			*field = s.Scalar()
		default:
			s.Skip()
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
	case "tx_id":
		return &m.txID
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
	case "scn":
		return &m.scn
	case "rs_id":
		return &m.rsID
	case "ssn":
		return &m.ssn
	}
	return nil
}

// clusterTime reads {"t": seconds, "i": increment}. It wins over the sort_keys.
func (d *Decoder) clusterTime() {
	s := d.scan
	if !s.Object() {
		return
	}
	for {
		name, more := s.Member()
		switch {
		case !more:
			return
		case name == "t":
			d.msg.seconds = s.Scalar()
		case name == "i":
			d.msg.increment = s.Scalar()
		default:
			s.Skip()
		}
	}
}

// sortKeys keeps the sort_keys for a source that has no other position.
func (d *Decoder) sortKeys() {
	if raw := d.scan.Value(); raw[0] == '[' {
		d.msg.sortKeys = raw
	}
}

// names appends a list of columns' names to dst; what is no list of names is none.
func (d *Decoder) names(dst []string) []string {
	raw := d.scan.Value()
	if raw[0] != '[' {
		return dst
	}
	scan.EachElement(raw, func(element string) bool {
		name, err := "", error(nil)
		if element[0] == '"' {
			name, err = d.scan.Arena.Unquote(element)
		}
		if element[0] != '"' || err != nil {
			dst = dst[:0]
			return false
		}
		dst = append(dst, name)
		return true
	})
	return dst
}

// payload reads the row, or null. Its members are in the outline too: a format
// with an envelope around its changes calls that so.
func (d *Decoder) payload() {
	s := d.scan
	kind := s.Peek()
	if !s.Object() {
		if kind != 'n' {
			d.fault("payload is neither an object nor null")
		}
		return
	}
	d.msg.hasPayload = true
	row := d.types.Field("payload", 0)
	for {
		name, more := s.Member()
		if !more {
			return
		}
		s.Outline.Payload.Note(name, s.Peek())
		var (
			raw    = s.Value()
			schema = row.Field(name, len(d.columns))
			v      change.Value
			err    error
		)
		if schema == nil && raw[0] == '"' {
			v = change.Text(s.Unquote(raw))
		} else {
			v, err = schema.Value(raw, &s.Arena)
		}
		if err != nil && d.msg.fault == nil {
			d.msg.fault = outcome.Errorf(outcome.BadValue, "column %.100q (%s): the value %w", name, schema, err)
		}
		d.columns = append(d.columns, change.Column{Name: name, Value: v})
	}
}
