package debezium

import "beamcdc/schemas/change"

// key returns the key columns that an ordering key holds. Anything that is no
// JSON object holds none: an empty one, the sink's "default", a fixed text.
func (d *Decoder) key(orderingKey string) ([]change.Column, error) {
	if orderingKey == "" || orderingKey[0] != '{' {
		return nil, nil
	}
	start := len(d.columns)
	d.scan.Reset(orderingKey)
	img, err := d.image("key")
	if err != nil || d.scan.End() != nil {
		d.columns = d.columns[:start]
		return nil, nil //nolint:nilerr // what is no JSON object is no key, and no error
	}
	return d.arena.Columns(d.columns[img.start:img.end]), nil
}
