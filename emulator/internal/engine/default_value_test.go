package engine

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

func TestParseDefault(t *testing.T) {
	now := time.Date(2026, 11, 30, 1, 2, 3, 4_005_006, time.FixedZone("east", 2*3600))
	for _, test := range []struct {
		kind       Kind
		expression string
		want       string // JSON as Rows writes it, "" where it is refused
	}{
		{KindString, "'none'", `"none"`},
		{KindString, `"none"`, `"none"`},
		{KindString, "NULL", `null`},
		{KindString, "none", ""},
		{KindString, `'a\n'`, ""}, // escapes aren't read, so they aren't guessed at
		{KindString, "CONCAT('a', 'b')", ""},
		{KindInt64, "-5", `"-5"`},
		{KindInt64, "5.0", ""},
		{KindBool, "TRUE", `true`},
		{KindBool, "1", ""},
		{KindFloat64, "1e3", `1000`},
		{KindNumeric, "1.50", `"1.5"`},
		{KindNumeric, "NUMERIC '1.50'", `"1.5"`},
		{KindBigNumeric, "BIGNUMERIC '-2'", `"-2"`},
		{KindDate, "DATE '2026-11-30'", `"2026-11-30"`},
		{KindDate, "'2026-11-30'", `"2026-11-30"`},
		{KindDate, "CURRENT_DATE()", `"2026-11-29"`},
		{KindDate, "current_date", `"2026-11-29"`},
		{KindTime, "CURRENT_TIME()", `"23:02:03.004005"`},
		{KindTime, "TIME '1:2:3'", `"01:02:03.000000"`},
		{KindDateTime, "CURRENT_DATETIME()", `"2026-11-29T23:02:03.004005"`},
		{KindDateTime, "DATETIME '2026-11-30 01:02:03'", `"2026-11-30T01:02:03.000000"`},
		{KindTimestamp, "CURRENT_TIMESTAMP()", `"2026-11-29T23:02:03.004005Z"`},
		{KindTimestamp, "TIMESTAMP '2026-11-30 01:02:03+00'", `"2026-11-30T01:02:03.000000Z"`},
		{KindTimestamp, "CURRENT_DATE()", ""},
		{KindJSON, `JSON '{}'`, `"{}"`},
		{KindBytes, "b'x'", ""},
	} {
		c := &Column{Kind: test.kind}
		d, err := parseDefault(c, test.expression)
		if err != nil {
			if test.want != "" {
				t.Errorf("%s DEFAULT %s: %v", c.Kind, test.expression, err)
			}
			continue
		}
		value, err := d.at(now)
		if got := string(AppendValue(nil, c, value)); err != nil || got != test.want {
			t.Errorf("%s DEFAULT %s: %s, error %v, want %s", c.Kind, test.expression, got, err, test.want)
		}
	}
	d, err := parseDefault(&Column{Kind: KindString}, "GENERATE_UUID()")
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.at(now)
	b, errB := d.at(now)
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if err != nil || errB != nil || a == b || !form.MatchString(fmt.Sprint(a)) {
		t.Errorf("GENERATE_UUID(): %v, %v", a, b)
	}
	if d, err := parseDefault(&Column{Kind: KindInt64, Repeated: true}, "[]"); err != nil || d.value == nil {
		t.Errorf("[]: %v, %v", d, err)
	}
}
