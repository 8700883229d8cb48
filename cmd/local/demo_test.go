package main

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"
)

// The demo, in this process: its story holds together, and nothing but the result
// is said.
func TestDemo(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"-output", "json"}, make(chan os.Signal), strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("it exited with %d: %s", code, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("it said: %s", stderr.String())
	}
	var out struct {
		Tables      map[string][]map[string]any `json:"tables"`
		DeadLetters []map[string]string         `json:"dead_letters"`
		Counts      struct {
			Messages, Superseded, Control int64
			DeadLetters                   int64 `json:"dead_letters"`
		} `json:"counts"`
	}
	if err := json.Unmarshal([]byte(stdout.String()), &out); err != nil {
		t.Fatal(err)
	}

	// The total of each order is the sum of its lines, exactly.
	sums := map[string]*big.Rat{}
	for _, line := range out.Tables["shop.order_lines"] {
		id := line["order_id"].(string)
		if sums[id] == nil {
			sums[id] = new(big.Rat)
		}
		sums[id].Add(sums[id], new(big.Rat).Mul(rational(t, line["quantity"]), rational(t, line["unit_price"])))
	}
	statuses := map[string]string{}
	customers := map[any]bool{}
	for _, customer := range out.Tables["shop.customers"] {
		customers[customer["customer_id"]] = true
	}
	for _, order := range out.Tables["shop.orders"] {
		id := order["order_id"].(string)
		statuses[id] = order["status"].(string)
		if total := rational(t, order["total"]); sums[id] == nil || total.Cmp(sums[id]) != 0 {
			t.Errorf("order %s: the total is %s, the sum of its lines %v", id, total.FloatString(2), sums[id])
		}
		if !customers[order["customer_id"]] {
			t.Errorf("order %s is of a customer that is not there", id)
		}
		delete(sums, id)
	}
	if len(sums) > 0 {
		t.Errorf("there are lines of orders that are not there: %v", sums)
	}
	// The guide's orders: cancelled, placed, absent.
	if _, there := statuses["3"]; statuses["1"] != "cancelled" || statuses["2"] != "placed" || there {
		t.Errorf("statuses: %v", statuses)
	}
	if len(customers) != 3 || customers["104"] || !customers["204"] {
		t.Errorf("customers: %v", customers)
	}
	if len(out.DeadLetters) != 2 || out.DeadLetters[0]["stage"] != "decode" || out.DeadLetters[1]["stage"] != "encode" {
		t.Errorf("dead letters: %v", out.DeadLetters)
	}
	if c := out.Counts; c.Messages != 48 || c.Control != 4 || c.DeadLetters != 2 {
		t.Errorf("counts: %+v", c)
	}
}

func rational(t *testing.T, value any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(value.(string))
	if !ok {
		t.Fatalf("%v is no number", value)
	}
	return r
}
