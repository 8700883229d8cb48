package rowproto

import (
	"errors"
	"strings"
	"testing"
)

func TestValueError(t *testing.T) {
	cause := errors.New("the number is not whole")
	for _, c := range []struct {
		err  *ValueError
		want string
	}{
		{&ValueError{Table: "p.d.t", Column: "a.b[3]", Reason: ReasonBadValue, Err: cause}, "encoding a row of p.d.t, column a.b[3]: bad_value: the number is not whole"},
		{&ValueError{Table: "p.d.t", Reason: ReasonMissingSequence}, "encoding a row of p.d.t: missing_sequence"},
		{&ValueError{Table: "p.d.t", Column: "a\xFF", Reason: ReasonUnknownColumn}, "encoding a row of p.d.t, column a\\xff: unknown_column"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("error %q, want %q", got, c.want)
		}
	}
	if !errors.Is(&ValueError{Err: cause}, cause) {
		t.Error("the cause is not unwrapped")
	}
	if got := (&ValueError{Column: strings.Repeat("x", 1000)}).Error(); len(got) > 300 {
		t.Errorf("a long name makes an error of %d bytes", len(got))
	}
}
