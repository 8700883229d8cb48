package pipeline

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"testing"

	"beamcdc/emulator"
	"beamcdc/transforms/deadletter"
)

// Rows go through the shuffle without their messages' data. The letter of one that
// BigQuery refuses has it all the same, as it was published.
func TestBuild_refused(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "dead")
	for name, c := range map[string]struct {
		sink string
		data func(*testing.T, *world) []string
	}{
		"directory": {"{directory: " + directory + "}", func(t *testing.T, _ *world) (data []string) {
			letters, err := deadletter.ReadDirectory(directory)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range letters {
				data = append(data, string(l.DataBase64))
			}
			return data
		}},
		"table": {"{table: ops.dead_letters}", func(t *testing.T, w *world) (data []string) {
			for _, text := range w.rows("ops", "dead_letters") {
				var l struct{ Data string }
				if err := json.Unmarshal([]byte(text), &l); err != nil {
					t.Fatal(err)
				}
				bytes, err := base64.StdEncoding.DecodeString(l.Data)
				if err != nil {
					t.Fatal(err)
				}
				data = append(data, string(bytes))
			}
			return data
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ordersConfig+"dead_letters: "+c.sink)
			refused := debezium("u", nil, order(1, "shipped"), 30, 31)
			w.publish(refused, debezium("c", nil, order(1, "placed"), 10, 11))
			err := w.bigquery.SetFaults([]emulator.Fault{{Table: "shop.orders", Effect: emulator.Effect{RejectRows: []int{0}, RejectMessage: "no"}}})
			if err != nil {
				t.Fatal(err)
			}
			checkCounts(t, w.run(), 2)
			if rows := w.rows("shop", "orders"); len(rows) > 1 {
				t.Errorf("rows: %v", rows)
			}
			// Where a window's end fell between both, both are refused.
			data := c.data(t, w)
			if len(data) == 0 || len(data) > 2 {
				t.Errorf("%d letters, want one", len(data))
			}
			found := false
			for _, data := range data {
				found = found || data == refused.data
			}
			if !found {
				t.Errorf("no letter has the refused row's message: %q", data)
			}
		})
	}
}
