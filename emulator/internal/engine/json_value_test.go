package engine

import (
	"encoding/json"
	"math"
	"testing"
)

// JSON that a client reads back is what it can parse again.
func TestAppendFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -1.5, 1e21, 1e-7, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1} {
		var back float64
		if err := json.Unmarshal(AppendFloat(nil, f), &back); err != nil || back != f {
			t.Errorf("%v: %s %v", f, AppendFloat(nil, f), err)
		}
	}
}
