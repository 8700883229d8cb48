package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/canal"
	"beamcdc/schemas/envelope/cloudevents"
	"beamcdc/schemas/envelope/columns"
	"beamcdc/schemas/envelope/datastream"
	"beamcdc/schemas/envelope/debezium"
	"beamcdc/schemas/envelope/dms"
	"beamcdc/schemas/envelope/flat"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/unavailable"
	"beamcdc/schemas/envelope/maxwell"
	"beamcdc/schemas/envelope/sequin"
	"beamcdc/schemas/envelope/spanner"
	"beamcdc/schemas/envelope/wal2json"
)

// format is one envelope format.
type format struct {
	name string
	is   func(*scan.Outline) bool
	new  func(Options, *unavailable.Placeholder, *scan.Scanner) decoder
}

// formats are the formats in the order in which a message is held against them.
var formats = [...]format{
	{"columns", columns.Is, newColumns},
	{"debezium", debezium.Is, newDebezium},
	{"debezium_flat", flat.Is, newFlat},
	{"cloudevents", cloudevents.Is, newCloudEvents},
	{"datastream", datastream.Is, newDatastream},
	{"spanner", spanner.Is, newSpanner},
	{"canal", canal.Is, newCanal},
	{"maxwell", maxwell.Is, newMaxwell},
	{"wal2json", wal2json.Is, newWal2JSON},
	{"dms", dms.Is, newDMS},
	{"sequin", sequin.Is, newSequin},
}

func newDebezium(o Options, p *unavailable.Placeholder, s *scan.Scanner) decoder {
	return debezium.New(debezium.Options{Epoch: o.Epoch, Placeholder: p}, s)
}

func newFlat(o Options, p *unavailable.Placeholder, s *scan.Scanner) decoder {
	return flat.New(flat.Options{Epoch: o.Epoch, Placeholder: p, Names: o.names}, s)
}

func newCloudEvents(o Options, p *unavailable.Placeholder, s *scan.Scanner) decoder {
	return cloudevents.New(cloudevents.Options{Epoch: o.Epoch, Placeholder: p}, s)
}

func newDatastream(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return datastream.New(datastream.Options{Epoch: o.Epoch}, s)
}

func newColumns(_ Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return columns.New(s)
}

func newSpanner(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return spanner.New(spanner.Options{Epoch: o.Epoch}, s)
}

func newCanal(_ Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return canal.New(s)
}

func newMaxwell(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return maxwell.New(maxwell.Options{Epoch: o.Epoch}, s)
}

func newWal2JSON(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return wal2json.New(wal2json.Options{Epoch: o.Epoch}, s)
}

func newDMS(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return dms.New(dms.Options{Epoch: o.Epoch}, s)
}

func newSequin(o Options, _ *unavailable.Placeholder, s *scan.Scanner) decoder {
	return sequin.New(sequin.Options{Epoch: o.Epoch}, s)
}

// Formats returns the names that Options.Format takes.
func Formats() []string {
	names := []string{Auto}
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// find returns the format that the message just read has, by its attributes or
// its outline, or -1.
func (d *Decoder) find(m *change.Message) int {
	if cloudevents.IsBinary(m) {
		return formatNamed("cloudevents")
	}
	for i := range formats {
		if formats[i].is(&d.scan.Outline) {
			return i
		}
	}
	if flat.HasHeaders(m) {
		return formatNamed("debezium_flat")
	}
	return -1
}

// formatNamed returns the format with a name, or -1.
func formatNamed(name string) int {
	return slices.IndexFunc(formats[:], func(f format) bool { return f.name == name })
}

func isBadJSON(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Reason == outcome.BadJSON
}

// decoding gives an error its path.
func decoding(format string, err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Reason: outcome.BadEnvelope, Err: err}
	}
	return &Error{Reason: e.Reason, Table: e.Table, Err: bounded(fmt.Errorf("decoding %s envelope: %w", format, e.Err))}
}

// bounded bounds what a hostile message can put into an error: a position, or a path of
// many fields. Its end is kept, since it says what is wrong.
func bounded(err error) error {
	const first, last = 700, 300
	if text := err.Error(); len(text) > first+last {
		return errors.New(strings.ToValidUTF8(text[:first]+"…"+text[len(text)-last:], ""))
	}
	return err
}
