package emulator

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

func TestParseDefault(t *testing.T) {
	now := time.Date(2026, 11, 30, 1, 2, 3, 4_005_006, time.FixedZone("east", 2*3600))
	for _, test := range []struct {
		kind       kind
		expression string
		want       string // JSON as Rows writes it, "" where it is refused
	}{
		{kindString, "'none'", `"none"`},
		{kindString, `"none"`, `"none"`},
		{kindString, "NULL", `null`},
		{kindString, "none", ""},
		{kindString, `'a\n'`, ""}, // escapes aren't read, so they aren't guessed at
		{kindString, "CONCAT('a', 'b')", ""},
		{kindInt64, "-5", `"-5"`},
		{kindInt64, "5.0", ""},
		{kindBool, "TRUE", `true`},
		{kindBool, "1", ""},
		{kindFloat64, "1e3", `1000`},
		{kindNumeric, "1.50", `"1.5"`},
		{kindNumeric, "NUMERIC '1.50'", `"1.5"`},
		{kindBigNumeric, "BIGNUMERIC '-2'", `"-2"`},
		{kindDate, "DATE '2026-11-30'", `"2026-11-30"`},
		{kindDate, "'2026-11-30'", `"2026-11-30"`},
		{kindDate, "CURRENT_DATE()", `"2026-11-29"`},
		{kindDate, "current_date", `"2026-11-29"`},
		{kindTime, "CURRENT_TIME()", `"23:02:03.004005"`},
		{kindTime, "TIME '1:2:3'", `"01:02:03.000000"`},
		{kindDateTime, "CURRENT_DATETIME()", `"2026-11-29T23:02:03.004005"`},
		{kindDateTime, "DATETIME '2026-11-30 01:02:03'", `"2026-11-30T01:02:03.000000"`},
		{kindTimestamp, "CURRENT_TIMESTAMP()", `"2026-11-29T23:02:03.004005Z"`},
		{kindTimestamp, "TIMESTAMP '2026-11-30 01:02:03+00'", `"2026-11-30T01:02:03.000000Z"`},
		{kindTimestamp, "CURRENT_DATE()", ""},
		{kindJSON, `JSON '{}'`, `"{}"`},
		{kindBytes, "b'x'", ""},
	} {
		c := &column{kind: test.kind}
		d, err := parseDefault(c, test.expression)
		if err != nil {
			if test.want != "" {
				t.Errorf("%s DEFAULT %s: %v", c.kind, test.expression, err)
			}
			continue
		}
		value, err := d.at(now)
		if got := string(appendValue(nil, c, value)); err != nil || got != test.want {
			t.Errorf("%s DEFAULT %s: %s, error %v, want %s", c.kind, test.expression, got, err, test.want)
		}
	}
	d, err := parseDefault(&column{kind: kindString}, "GENERATE_UUID()")
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.at(now)
	b, errB := d.at(now)
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if err != nil || errB != nil || a == b || !form.MatchString(fmt.Sprint(a)) {
		t.Errorf("GENERATE_UUID(): %v, %v", a, b)
	}
	if d, err := parseDefault(&column{kind: kindInt64, repeated: true}, "[]"); err != nil || d.value == nil {
		t.Errorf("[]: %v, %v", d, err)
	}
}
