package monitor

import (
	"github.com/prometheus/client_golang/prometheus"

	"beamcdc/internal/counters"
	"beamcdc/transforms/metric"
)

// collector gives Prometheus the pipeline's metrics, as [metric] declares them and
// [counters] adds them up: what is declared and was never counted is 0, so that an alert
// on its rate works from the first time on.
//
// A distribution is a summary without quantiles, or a histogram where it has bounds,
// and its least and greatest value since the process began are gauges beside it.
type collector struct {
	values func() map[counters.Name]counters.Value
}

// Describe describes nothing: which metrics there are is known to them who collect.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics as they are now.
func (c collector) Collect(out chan<- prometheus.Metric) {
	values := c.values()
	labelled := make(map[counters.Name][]series) // by the metric that has labels
	for name, value := range values {
		if d, labels, ok := metric.Find(name.Namespace, name.Name); ok && len(labels) > 0 {
			family := counters.Name{Namespace: d.Namespace, Name: d.Name}
			labelled[family] = append(labelled[family], series{labels, value.Sum})
		}
	}
	for _, d := range metric.All() {
		name := counters.Name{Namespace: d.Namespace, Name: d.Name}
		switch {
		case d.BucketsOf != "": // part of its histogram
		case len(d.Labels) > 0:
			desc := prometheus.NewDesc(d.PrometheusName(), d.Help, d.Labels, nil)
			for _, s := range labelled[name] {
				out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, d.Base(s.value), s.labels...)
			}
		case d.Kind == metric.Counter:
			out <- prometheus.MustNewConstMetric(plain(&d), prometheus.CounterValue, d.Base(values[name].Sum))
		case d.Kind == metric.Gauge:
			if v, ok := values[name]; ok {
				out <- prometheus.MustNewConstMetric(plain(&d), prometheus.GaugeValue, d.Base(v.Latest))
			}
		case d.Kind == metric.Distribution:
			distribution(out, &d, values[name], labelled[counters.Name{Namespace: d.Namespace, Name: metric.BucketsName(d.Name)}])
		}
	}
	for _, s := range metric.Samples() {
		kind := prometheus.GaugeValue
		if s.Kind == metric.LiveCounter {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(plain(&s.Description), kind, s.Base(s.Value))
	}
}

// series is a counter of a metric with labels.
type series struct {
	labels []string
	value  int64
}

func plain(d *metric.Description) *prometheus.Desc {
	return prometheus.NewDesc(d.PrometheusName(), d.Help, nil, nil)
}

func distribution(out chan<- prometheus.Metric, d *metric.Description, v counters.Value, buckets []series) {
	if d.Bounds == nil {
		out <- prometheus.MustNewConstSummary(plain(d), uint64(v.Count), d.Base(v.Sum), nil)
	} else {
		by := make(map[string]int64, len(buckets))
		for _, b := range buckets {
			by[b.labels[0]] = b.value
		}
		cumulative := make(map[float64]uint64, len(d.Bounds))
		var sum int64
		names := metric.BucketNames(d.Bounds)
		for i, bound := range d.Bounds {
			sum += by[names[i]]
			cumulative[d.Base(bound)] = uint64(sum)
		}
		sum += by[names[len(d.Bounds)]]
		out <- prometheus.MustNewConstHistogram(plain(d), uint64(sum), d.Base(v.Sum), cumulative)
	}
	if v.Count == 0 {
		return // there is no least and no greatest value
	}
	for suffix, extreme := range map[string]int64{"_min": v.Min, "_max": v.Max} {
		desc := prometheus.NewDesc(d.PrometheusName()+suffix, d.Help+" The "+map[string]string{"_min": "least", "_max": "greatest"}[suffix]+" since the process began.", nil, nil)
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, d.Base(extreme))
	}
}
