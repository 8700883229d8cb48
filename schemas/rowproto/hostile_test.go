package rowproto

import (
	"runtime"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// hostilePlans has a plan of one column "c" for each type, mode and policy.
func hostilePlans(t *testing.T) []*Plan {
	var plans []*Plan
	for _, of := range []table.Type{
		table.Bool, table.Int64, table.Float64, table.Numeric, table.BigNumeric, table.String, table.Bytes, table.Date, table.Time,
		table.DateTime, table.Timestamp, table.JSON, table.Geography, table.Interval, table.Range, table.Struct,
	} {
		for _, mode := range []table.Mode{table.Nullable, table.Repeated} {
			for _, policy := range []table.Policy{table.PolicyReject, table.PolicyClamp} {
				c := table.Column{Name: "c", Type: of, Mode: mode, BadValues: policy}
				switch of {
				case table.Struct:
					c.Fields = []table.Column{{Name: "n", Type: table.Int64}, {Name: "j", Type: table.JSON, Mode: table.Repeated}}
				case table.Range:
					c.Element = table.Timestamp
				default:
				}
				plans = append(plans, compile(t, c))
			}
		}
	}
	return plans
}

// A number of a million digits, a gigantic exponent, text that is nested or escaped
// without end: each is a row or an error, in memory that its size explains. A plan
// that went by the exponent would take gigabytes, and one that went by digits its square.
func TestAppendUpsert_hostileMemory(t *testing.T) {
	const size = 1 << 20
	plans := hostilePlans(t)
	var before, after runtime.MemStats
	for what, text := range map[string]string{
		"a million digits":      strings.Repeat("9", size),
		"a million zeros":       "0." + strings.Repeat("0", size) + "1",
		"a gigantic exponent":   "1e999999999999",
		"a tiny one":            "-1e-999999999999",
		"digits, an exponent":   strings.Repeat("9", 1<<10) + "e2147483647",
		"nested arrays":         strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"nested objects":        strings.Repeat(`{"n":`, 5_000) + "1" + strings.Repeat("}", 5_000),
		"a PostgreSQL array":    strings.Repeat("{", 9_000) + strings.Repeat("}", 9_000),
		"polygons":              strings.Repeat("GEOMETRYCOLLECTION(", 9_000) + strings.Repeat(")", 9_000),
		"binary collections":    strings.Repeat("01070000000100000001", 9_000),
		"a collection's count":  "0107000000FFFFFFFF",
		"years":                 "P" + strings.Repeat("9", size) + "Y",
		"a year of digits":      strings.Repeat("9", size) + "-01-01",
		"fractions of a second": "2025-01-01 00:00:00." + strings.Repeat("9", size),
	} {
		for kind, make := range fuzzKinds {
			v := make(text)
			for _, p := range plans {
				cells := row(change.Column{Name: "c", Value: v})
				runtime.ReadMemStats(&before)
				_, err := p.AppendUpsert(nil, cells, someSequence, RowOptions{})
				runtime.ReadMemStats(&after)
				if took, limit := after.TotalAlloc-before.TotalAlloc, uint64(256*len(text)+1<<20); took > limit {
					t.Errorf("%s, kind %d, to %s: %d bytes of memory for %d, %v", what, kind, p.Table().Columns[1].SQLType(), took, len(text), err != nil)
				}
				if err != nil && len(err.Error()) > 1000 {
					t.Errorf("%s, kind %d: an error of %d bytes", what, kind, len(err.Error()))
				}
			}
		}
	}
}

// No error holds the value that it is about, whatever is wrong with it.
func TestAppendUpsert_noValueInErrors(t *testing.T) {
	const text, digits = "s3ntinel", "8008135"
	plans, errs := hostilePlans(t), 0
	for _, value := range []string{
		text, digits + "008135e99", digits + ".5", `{"a":"` + text + `"`, `{"a":` + digits + `}`, `["` + text + `"]`, "[" + digits + "," + text + "]", "{" + text + "}", "POINT(" + text + " " + digits + ")",
		"POLYGON((" + digits + ".5 1))", "P" + digits + "Y" + text, "[" + text + "," + digits + ")", digits + "-13-41 " + text, "2025-13-" + digits, `{"n":"` + text + `","` + "j" + `":[` + digits + `]}`,
		digits + " years " + text, text + "\x1b[2J", text + "\xff", `{"srid":` + digits + `,"wkb":"` + text + `"}`, "0x" + digits + "zz", `{"scale":` + digits + `,"value":"` + text + `"}`,
	} {
		for kind, make := range fuzzKinds {
			if make("x").Kind() == change.KindStruct {
				continue // whose text is a column's name, too
			}
			for _, p := range plans {
				_, err := p.AppendUpsert(nil, row(change.Column{Name: "c", Value: make(value)}), someSequence, RowOptions{})
				if err == nil {
					continue
				}
				errs++
				if said := err.Error(); strings.Contains(said, text) || strings.Contains(said, digits) {
					t.Errorf("%q, kind %d, to %s: %s", value, kind, p.Table().Columns[1].SQLType(), said)
				}
			}
		}
	}
	if errs < 1000 {
		t.Errorf("%d errors: what is there to be told?", errs)
	}
}
