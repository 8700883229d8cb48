package cloudevents

import (
	"encoding/base64"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/debezium"
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

	// Of the message at hand.
	event event
}

// event is what is read of an event's attributes, but for Debezium's extensions.
type event struct {
	contentType  string
	data, base64 string // JSON as it is written; "" for none
	isBinary     bool   // the attributes are the message's
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{Reader: captured.New(o.Epoch, o.Placeholder, s)}
}

// Is reports whether a message is a CloudEvent of Debezium's, by its outline.
func Is(o *scan.Outline) bool { return o.Top.Names.Has(scan.SpecVersion | scan.DebeziumExtension) }

// IsBinary reports whether a message is a CloudEvent of Debezium's in binary
// mode, by its attributes. Anyone on the way may add CloudEvents' own to a
// message that is something else.
func IsBinary(m *change.Message) bool {
	if len(m.Attributes) == 0 {
		return false
	}
	_, isEvent := m.Attributes[binaryPrefix+"specversion"]
	_, hasOp := m.Attributes[binaryPrefix+extensionPrefix+"op"]
	return isEvent && hasOp
}

const binaryPrefix = "ce-"

// Decode appends the message's change to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m); err != nil {
		return dst, "", err
	}
	if d.Fault != nil {
		return dst, "", outcome.InTable(d.Fault, d.Table())
	}
	switch {
	case d.Op == "" && !Is(&d.Scan.Outline) && !d.event.isBinary:
		if c := debezium.Control(&d.Scan.Outline); c != "" {
			return dst, c, nil
		}
		return dst, "", outcome.Errorf(outcome.BadEnvelope, "the message is no CloudEvent of Debezium's: it lacks specversion or the extensions that begin with iodebezium")
	case d.Op == "m":
		return dst, outcome.LogicalMessage, nil
	}
	if d.Op != "t" {
		if err := d.data(); err != nil {
			return dst, "", outcome.InTable(err, d.Table())
		}
		if d.Fault != nil {
			return dst, "", outcome.InTable(d.Fault, d.Table())
		}
	}
	dst, err := d.Append(m, dst)
	return dst, "", err
}

// read reads the event's attributes. The error is that the message is no JSON;
// whatever else is wrong with it is d.Fault.
func (d *Decoder) read(m *change.Message) error {
	d.Reset()
	d.event = event{}
	if err := d.Scan.Reset(m.Text()); err != nil {
		return err
	}
	if IsBinary(m) {
		d.event.isBinary = true
		for name, value := range m.Attributes {
			switch {
			case strings.EqualFold(name, "content-type"):
				d.event.contentType = value
			case strings.HasPrefix(name, binaryPrefix) && name != binaryPrefix+"datacontenttype": // it is content-type
				d.attribute(name[len(binaryPrefix):], value)
			}
		}
		d.event.data = d.Scan.Value()
		return nil
	}
	if !d.Scan.Object() {
		d.Fail(outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object"))
		return nil
	}
	d.attributes()
	return nil
}

// attributes reads the members of an event.
func (d *Decoder) attributes() {
	s := d.Scan
	for {
		name, more := s.Member()
		if !more {
			return
		}
		s.Note(name)
		switch {
		case name == "data":
			if d.event.data = s.Value(); d.event.data == "null" {
				d.event.data = ""
			}
		case name == "data_base64":
			d.event.base64 = s.Value()
		case name == "datacontenttype" || strings.HasPrefix(name, extensionPrefix):
			d.attribute(name, s.Scalar())
		default:
			s.Pass(name)
		}
	}
}

const extensionPrefix = "iodebezium"

// attribute reads one attribute of an event.
func (d *Decoder) attribute(name, value string) {
	switch name {
	case "datacontenttype":
		d.event.contentType = value
	case extensionPrefix + "op":
		d.Op = value
	default:
		if field, ok := strings.CutPrefix(name, extensionPrefix); ok {
			if to := d.Source.Field(sourceField(field)); to != nil {
				*to = value
			} else if field == "txtotalorder" {
				d.Source.TotalOrder = value
			}
		}
	}
}

// sourceField returns the source block's name of an extension's field.
func sourceField(field string) string {
	switch field {
	case "tsms":
		return "ts_ms"
	case "tsus":
		return "ts_us"
	case "tsns":
		return "ts_ns"
	case "commitlsn":
		return "commit_lsn"
	case "changelsn":
		return "change_lsn"
	case "eventserialno":
		return "event_serial_no"
	case "commitscn":
		return "commit_scn"
	case "rsid":
		return "rs_id"
	case "txseq":
		return "txSeq"
	case "lcrposition":
		return "lcr_position"
	case "recordsequence":
		return "record_sequence"
	case "modnumber":
		return "mod_number"
	case "valuecapturetype":
		return "value_capture_type"
	}
	return field
}

// data reads the images.
func (d *Decoder) data() error {
	if !isJSON(d.event.contentType) {
		return outcome.Errorf(outcome.BadEnvelope, "the event's data is %q, which is not supported: let the converter's data.serializer.type be json", clip(d.event.contentType))
	}
	data := d.event.data
	if data == "" && d.event.base64 != "" {
		var err error
		if data, err = d.decoded(); err != nil {
			return err
		}
	}
	switch {
	case data == "":
		return nil // Append finds that the image is missing
	case data[0] != '{':
		return outcome.Errorf(outcome.BadEnvelope, "the event's data is no JSON object")
	}
	schema, payload, err := d.Wrapped(data)
	if err != nil {
		return err
	}
	if schema == nil {
		schema = d.Types().Field("data", 0)
	}
	s := d.Scan
	s.Walk(payload)
	s.Object()
	for {
		name, more := s.Member()
		switch {
		case !more:
			return nil
		case name == "op" || name == "source" || !d.Member(name, schema): // the extensions tell these
			s.Skip()
		}
	}
}

// decoded returns the JSON of data_base64.
func (d *Decoder) decoded() (string, error) {
	var text string
	if raw := d.event.base64; raw[0] == '"' {
		text, _ = d.Scan.Arena.Unquote(raw) // jsontext took it
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 {
		return "", outcome.Errorf(outcome.BadEnvelope, "the event's data_base64 is not in base64")
	}
	text = scan.TrimSpace(string(b))
	if err := d.Scan.Reset(text); err != nil {
		return "", outcome.Errorf(outcome.BadEnvelope, "the event's data_base64: %w", err)
	}
	return d.Scan.Value(), nil
}

// isJSON reports whether a media type is JSON's. None is: the default.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "" || kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

// clip bounds what a hostile message can put into an error.
func clip(text string) string {
	const limit = 100
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
