package change_test

import (
	"testing"

	"beamcdc/schemas/change"
)

func TestEventReceipt(t *testing.T) {
	t.Parallel()
	e := change.Event{Message: change.Message{Token: 7}, Part: 1, Parts: 3}
	if got, want := e.Receipt(), (change.Receipt{Token: 7, Part: 1, Parts: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOpNames(t *testing.T) {
	t.Parallel()
	want := []string{"invalid", "create", "update", "delete", "snapshot", "truncate", "invalid"}
	for op, name := range want {
		if got := change.Op(op).String(); got != name {
			t.Errorf("operation %d is %q, want %q", op, got, name)
		}
	}
}
