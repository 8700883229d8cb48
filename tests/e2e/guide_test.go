package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ordersConfig = `
source: {subscription: projects/demo/subscriptions/changes, format: debezium}
create_tables: true
window: %s
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    columns:
      - {name: order_id, type: INT64, mode: REQUIRED}
      - {name: status, type: STRING}
`

// guideChanges are the guide's seven changes, as Debezium would send them; orders
// are numbered from base+1.
func guideChanges(t testing.TB, base int) []message {
	change := func(id int, op, status, at string) message {
		key := fmt.Sprintf(`{"order_id":%d}`, base+id)
		c := pgChange{table: "public.orders", op: op, key: key, lsn: lsn(t, at), lastCommit: lsn(t, at) - 16}
		if op == "d" {
			c.before = fmt.Sprintf(`{"order_id":%d,"status":null}`, base+id)
		} else {
			c.after = fmt.Sprintf(`{"order_id":%d,"status":%q}`, base+id, status)
		}
		return c.message()
	}
	return []message{
		change(1, "c", "placed", "F/FFFF0000"),
		change(2, "c", "placed", "F/FFFF0100"),
		change(1, "u", "cancelled", "10/200"),
		change(1, "u", "shipped", "F/FFFFFF00"),
		change(2, "c", "placed", "F/FFFF0100"),
		change(3, "c", "placed", "10/9A0"),
		change(3, "d", "", "10/1A00"),
	}
}

// The guide's changes leave order 1 cancelled, order 2 placed and order 3 absent
// in any order and with any duplicates. Each order of arrival has its own three
// orders, so that one run tries hundreds; short windows spread a key's changes
// over several, a long one coalesces them.
func TestGuide(t *testing.T) {
	const trials = 400
	random := rand.New(rand.NewPCG(1, 2))
	for _, window := range []string{"5ms", "1m"} {
		t.Run(window, func(t *testing.T) {
			var messages []message
			for trial := range trials {
				changes := guideChanges(t, 10*trial)
				random.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
				for range random.IntN(4) {
					changes = slices.Insert(changes, random.IntN(len(changes)+1), changes[random.IntN(len(changes))])
				}
				messages = append(messages, changes...)
			}
			out := runLocal(t, fmt.Sprintf(ordersConfig, window), messages)
			var want []row
			for trial := range trials {
				want = append(want,
					row{"order_id": strconv.Itoa(10*trial + 1), "status": "cancelled"},
					row{"order_id": strconv.Itoa(10*trial + 2), "status": "placed"})
			}
			if diff := cmp.Diff(want, out.Tables["shop.orders"]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(out.DeadLetters) > 0 {
				t.Errorf("there are dead letters: %v", out.DeadLetters)
			}
		})
	}
}

// The employees of BigQuery's documentation: a table of three, then a delete, an
// update and a new row.
func TestEmployees(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 10ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.employees
    destination: hr.employees
    primary_key: [ID]
    columns:
      - {name: ID, type: INT64, mode: REQUIRED}
      - {name: Name, type: STRING}
      - {name: Salary, type: INT64}
`
	employee := func(op string, id int, rest string, at uint64) message {
		image := fmt.Sprintf(`{"ID":%d%s}`, id, rest)
		c := pgChange{table: "public.employees", op: op, lsn: at}
		switch op {
		case "r":
			c.after, c.snapshot = image, "true"
		case "d":
			c.before, c.lastCommit = image, at-1
		default:
			c.after, c.lastCommit = image, at-1
		}
		return c.message()
	}
	out := runLocal(t, config, []message{
		employee("r", 100, `,"Name":"Charlie","Salary":2000`, 50), employee("r", 101, `,"Name":"Tal","Salary":3000`, 50), employee("r", 102, `,"Name":"Lee","Salary":5000`, 50),
		employee("d", 100, ``, 60), employee("u", 101, `,"Name":"Tal","Salary":8000`, 70), employee("c", 105, `,"Name":"Izumi","Salary":6000`, 80),
	})
	want := []row{
		{"ID": "101", "Name": "Tal", "Salary": "8000"}, {"ID": "102", "Name": "Lee", "Salary": "5000"}, {"ID": "105", "Name": "Izumi", "Salary": "6000"},
	}
	if diff := cmp.Diff(want, out.Tables["hr.employees"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
