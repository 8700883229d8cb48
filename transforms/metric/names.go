package metric

import "strings"

// PrometheusName returns what the metric is called where Prometheus scrapes it: by its
// conventions, in base units, beamcdc_HOP_NAME, and _total for a counter.
func (d *Description) PrometheusName() string {
	name := d.Name
	if rest, ok := strings.CutSuffix(name, "_ms"); ok && d.Unit == Milliseconds {
		name = rest + "_seconds"
	}
	if rest, ok := strings.CutPrefix(name, "bytes_"); ok && d.Unit == Bytes {
		name = rest + "_bytes"
	}
	if d.Kind == Counter || d.Kind == LiveCounter {
		name += "_total"
	}
	return "beamcdc_" + d.Namespace + "_" + name
}

// Base returns a value of the metric in the unit that Prometheus gets it in.
func (d *Description) Base(v int64) float64 {
	if d.Unit == Milliseconds {
		return float64(v) / 1000
	}
	return float64(v)
}

// BeamName returns the name of Beam's counter for these values of the metric's labels.
func (d *Description) BeamName(values ...string) string {
	return strings.Join(append([]string{d.Name}, values...), "/")
}
