package doctor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	iam "beamcdc/internal/permission"
)

// The permissions that doctor asks for are those that the pipeline is documented to need.
func TestPermissions(t *testing.T) {
	always := iam.Of(iam.Pipeline, iam.Always)
	for on, asked := range map[string][]permission{
		iam.Subscription: subscriptionPermissions,
		iam.Dataset:      tablePermissions,
	} {
		got := names(asked)
		slices.Sort(got)
		if diff := cmp.Diff(iam.On(always, on), got); diff != "" {
			t.Errorf("permissions on %s, -documented +asked:\n%s", on, diff)
		}
	}
}
