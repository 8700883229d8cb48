package rest

import (
	"cmp"
	"fmt"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// export writes the file of an EXPORT DATA: see extract.go.
func (s *Service) export(e query.Export) error {
	header := false
	c := &bq.JobConfigurationExtract{PrintHeader: &header}
	var uri string
	var overwrite bool
	into := map[string]any{
		"uri": &uri, "format": &c.DestinationFormat, "compression": &c.Compression, "field_delimiter": &c.FieldDelimiter, "header": &header, "overwrite": &overwrite,
	}
	for name, value := range e.Options {
		ok := value == nil
		switch target := into[strings.ToLower(name)].(type) {
		case *string:
			if text, is := value.(string); is {
				*target, ok = text, true
			}
		case *bool:
			if b, is := value.(bool); is {
				*target, ok = b, true
			}
		default:
			return engine.Unimplemented("option %s of EXPORT DATA is not implemented by this emulator", engine.Clip(name))
		}
		if !ok {
			return engine.Invalid("Invalid value for option %s of EXPORT DATA", name)
		}
	}
	if strings.Count(uri, "*") != 1 {
		return engine.Invalid("Option 'uri' value must be a wild card URI: it has one *")
	}
	switch format := strings.ToUpper(c.DestinationFormat); format {
	case "CSV":
		c.DestinationFormat = format
	case "JSON":
		c.DestinationFormat = "NEWLINE_DELIMITED_JSON"
	case "":
		return engine.Invalid("Option 'format' is missing")
	default:
		return engine.Unimplemented("EXPORT DATA in format %s is not implemented by this emulator", engine.Clip(format))
	}
	compression := strings.ToUpper(cmp.Or(c.Compression, "NONE"))
	if compression != "NONE" && compression != "GZIP" {
		return engine.Unimplemented("compression %s of EXPORT DATA is not implemented by this emulator", engine.Clip(compression))
	}
	uri = strings.Replace(uri, "*", "000000000000", 1)
	if err := s.checkURI(uri); err != nil {
		return err
	}
	w, err := newRowWriter(c, e.Columns)
	if err != nil {
		return err
	}
	for _, row := range e.Rows {
		if err := w.row(e.Columns, row); err != nil {
			return fmt.Errorf("exporting a row: %w", err)
		}
	}
	content, err := w.finish()
	if err == nil && compression == "GZIP" {
		content, err = zipped(content)
	}
	if err != nil {
		return err
	}
	return s.writeURI(uri, content, overwrite)
}
