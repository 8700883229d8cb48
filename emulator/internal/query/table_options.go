package query

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// tableOption sets what an option says in a resource; nil resets it.
type tableOption func(t *bq.Table, value any) error

// tableOptions are the options of tables and views. enable_change_history isn't in
// the resource: see changeHistory.
var tableOptions = map[string]tableOption{
	"description":   text(func(t *bq.Table) *string { return &t.Description }),
	"friendly_name": text(func(t *bq.Table) *string { return &t.FriendlyName }),
	"max_staleness": func(t *bq.Table, value any) error {
		interval, ok := value.(googlesql.IntervalValue)
		if !ok && value != nil {
			return wrongType("max_staleness", "INTERVAL")
		}
		t.MaxStaleness = ""
		if interval != (googlesql.IntervalValue{}) {
			t.MaxStaleness = intervalText(interval)
		}
		return nil
	},
	"labels": func(t *bq.Table, value any) error {
		labels, err := labelsOf(value)
		t.Labels = labels
		return err
	},
	"expiration_timestamp": func(t *bq.Table, value any) error {
		at, ok := value.(time.Time)
		if value == nil {
			t.ExpirationTime = 0
			return nil
		}
		if text, isText := value.(string); isText {
			parsed, err := time.Parse(time.RFC3339Nano, strings.Replace(strings.TrimSuffix(text, " UTC"), " ", "T", 1))
			if err != nil {
				parsed, err = time.Parse("2006-01-02T15:04:05.999999", strings.Replace(strings.TrimSuffix(text, " UTC"), " ", "T", 1))
			}
			at, ok = parsed, err == nil
		}
		if !ok {
			return wrongType("expiration_timestamp", "TIMESTAMP")
		}
		t.ExpirationTime = at.UnixMilli()
		return nil
	},
	"require_partition_filter": func(t *bq.Table, value any) error {
		required, ok := value.(bool)
		if !ok && value != nil {
			return wrongType("require_partition_filter", "BOOL")
		}
		t.RequirePartitionFilter = required
		return nil
	},
	"partition_expiration_days": func(t *bq.Table, value any) error {
		days, ok := number(value)
		if !ok && value != nil {
			return wrongType("partition_expiration_days", "FLOAT64")
		}
		if t.TimePartitioning == nil {
			return engine.Invalid("partition_expiration_days is for tables that are partitioned by time")
		}
		partitioning := *t.TimePartitioning
		partitioning.ExpirationMs = int64(days * 24 * 60 * 60 * 1000)
		t.TimePartitioning = &partitioning
		return nil
	},
	"default_rounding_mode": text(func(t *bq.Table) *string { return &t.DefaultRoundingMode }),
}

func text(field func(*bq.Table) *string) tableOption {
	return func(t *bq.Table, value any) error {
		s, ok := value.(string)
		if !ok && value != nil {
			return engine.Invalid("The option must be a STRING")
		}
		*field(t) = s
		return nil
	}
}

func wrongType(option, want string) error {
	return engine.Invalid("The value of option %s must be of type %s", option, want)
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// intervalText is an interval in BigQuery's canonical form, "0-0 0 0:15:0".
func intervalText(v googlesql.IntervalValue) string {
	sign := func(n int64) (string, int64) {
		if n < 0 {
			return "-", -n
		}
		return "", n
	}
	m, months := sign(v.Months)
	u, micros := sign(v.Micros)
	seconds := micros / 1_000_000
	text := fmt.Sprintf("%s%d-%d %d %s%d:%d:%d", m, months/12, months%12, v.Days, u, seconds/3600, seconds/60%60, seconds%60)
	if fraction := micros % 1_000_000; fraction > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%06d", fraction), "0")
	}
	return text
}

// labelsOf reads [("key", "value"), …].
func labelsOf(value any) (map[string]string, error) {
	if value == nil {
		return nil, nil
	}
	pairs, ok := value.([]any)
	if !ok {
		return nil, wrongType("labels", "ARRAY<STRUCT<STRING, STRING>>")
	}
	labels := map[string]string{}
	for _, p := range pairs {
		pair, ok := p.([]any)
		if !ok || len(pair) != 2 {
			return nil, wrongType("labels", "ARRAY<STRUCT<STRING, STRING>>")
		}
		key, ok1 := pair[0].(string)
		text, ok2 := pair[1].(string)
		if !ok1 || !ok2 {
			return nil, wrongType("labels", "ARRAY<STRUCT<STRING, STRING>>")
		}
		labels[key] = text
	}
	return labels, nil
}

// setOptions puts options into a resource. It returns what enable_change_history
// says, nil if nothing.
func (s *run) setOptions(ctx context.Context, t *bq.Table, options []googlesql.Option) (history *bool, err error) {
	for _, o := range options {
		name := strings.ToLower(o.Name)
		value, err := s.evaluate(ctx, o)
		if err != nil {
			return nil, err
		}
		if name == "enable_change_history" {
			on, ok := value.(bool)
			if !ok && value != nil {
				return nil, wrongType(name, "BOOL")
			}
			history = &on
			continue
		}
		set, ok := tableOptions[name]
		if !ok {
			return nil, engine.Invalid("Unknown option: %s", engine.Clip(o.Name))
		}
		if err := set(t, value); err != nil {
			return nil, err
		}
	}
	return history, nil
}

// optionRows lists a table's options as TABLE_OPTIONS shows them.
func optionRows(t *engine.Table) [][3]string {
	r := t.Resource()
	var rows [][3]string
	add := func(name, typeName, value string) { rows = append(rows, [3]string{name, typeName, value}) }
	if r.Description != "" {
		add("description", "STRING", quoted(r.Description))
	}
	if t.ChangeHistory() {
		add("enable_change_history", "BOOL", "true")
	}
	if r.ExpirationTime != 0 {
		add("expiration_timestamp", "TIMESTAMP", "TIMESTAMP "+quoted(time.UnixMilli(r.ExpirationTime).UTC().Format("2006-01-02T15:04:05.000Z")))
	}
	if r.FriendlyName != "" {
		add("friendly_name", "STRING", quoted(r.FriendlyName))
	}
	if len(r.Labels) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
			pairs = append(pairs, "STRUCT("+quoted(key)+", "+quoted(r.Labels[key])+")")
		}
		add("labels", "ARRAY<STRUCT<STRING, STRING>>", "["+strings.Join(pairs, ", ")+"]")
	}
	if r.MaxStaleness != "" {
		add("max_staleness", "INTERVAL", r.MaxStaleness)
	}
	if p := r.TimePartitioning; p != nil && p.ExpirationMs > 0 {
		add("partition_expiration_days", "FLOAT64", fmt.Sprint(float64(p.ExpirationMs)/(24*60*60*1000)))
	}
	if requiresFilter(r) {
		add("require_partition_filter", "BOOL", "true")
	}
	return rows
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}
