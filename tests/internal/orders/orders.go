// Package orders makes realistic messages for tests and benches of speed: changes of
// one PostgreSQL table of 17 columns, as Debezium's server publishes them without a
// schema, about 1 KB each.
package orders

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// Keys is the number of rows that a [Workload] changes.
const Keys = 100_000

const (
	zipfExponent = 1.1
	deletesIn    = 50 // one change in so many deletes its row
	firstOrder   = 70_000_000
)

// FirstLSN is the position of message 0 in PostgreSQL's log.
const FirstLSN = 32_777_618_640

// Workload is what tells messages apart: 5 bytes each, so that millions of them
// take no heap to speak of.
type Workload struct {
	orders []uint32 // the row that message i changes
	ops    []byte   // 'c', 'u' or 'd'
}

// kind tells workloads apart.
type kind struct {
	messages int
	uniform  bool
}

var workloads = struct {
	sync.Mutex
	made map[kind]*Workload
}{made: make(map[kind]*Workload)}

// Of returns the workload of so many messages, always the same one. Its rows are drawn
// by Zipf's law, so that a few change all the time and most seldom.
func Of(messages int) *Workload { return of(kind{messages: messages}) }

// Uniform is [Of] where all rows change alike.
func Uniform(messages int) *Workload { return of(kind{messages, true}) }

func of(k kind) *Workload {
	workloads.Lock()
	defer workloads.Unlock()
	if w := workloads.made[k]; w != nil {
		return w
	}
	w := &Workload{orders: make([]uint32, k.messages), ops: make([]byte, k.messages)}
	random := rand.New(rand.NewPCG(1, 2))
	draw := rand.NewZipf(random, zipfExponent, 1, Keys-1).Uint64
	if k.uniform {
		draw = func() uint64 { return random.Uint64N(Keys) }
	}
	exists := make([]bool, Keys)
	for i := range w.orders {
		order := draw()
		w.orders[i] = uint32(order)
		switch {
		case !exists[order]:
			w.ops[i], exists[order] = 'c', true
		case random.IntN(deletesIn) == 0:
			w.ops[i], exists[order] = 'd', false
		default:
			w.ops[i] = 'u'
		}
	}
	workloads.made[k] = w
	return w
}

// Message returns message i. Beyond the workload's size its rows and operations come
// in the same order again, later in PostgreSQL's log.
func (w *Workload) Message(i int) *pubsubpb.PubsubMessage {
	return Message("orders", int(w.orders[i%len(w.orders)]), w.ops[i%len(w.ops)], i)
}

var statuses = []string{"open", "paid", "packed", "shipped", "delivered", "returned"}

// Message returns the change of a row of a table of these columns: an operation 'c',
// 'u' or 'd' that is number i of PostgreSQL's log.
func Message(table string, row int, op byte, i int) *pubsubpb.PubsubMessage {
	const size = 1200
	order := firstOrder + int64(row)
	b := make([]byte, 0, size)
	if op == 'd' {
		b = append(b, `{"before":{"order_id":`...)
		b = strconv.AppendInt(b, order, 10)
		b = append(b, `,"customer_id":null,"status":null,"currency":null,"total":null,"tax":null,"placed_at":null,"paid_at":null,"shipped_at":null,`+
			`"note":null,"address":null,"tags":null,"priority":null,"is_gift":null,"weight":null,"email":null,"updated_at":null},"after":null`...)
	} else {
		b = append(b, `{"before":null,"after":{"order_id":`...)
		b = strconv.AppendInt(b, order, 10)
		b = append(b, `,"customer_id":`...)
		b = strconv.AppendInt(b, order%9973, 10)
		b = append(b, `,"status":"`...)
		b = append(b, statuses[i%len(statuses)]...)
		b = append(b, `","currency":"EUR","total":"MDk=","tax":"B88=","placed_at":1741507626005004,"paid_at":`...)
		b = strconv.AppendInt(b, at(i), 10)
		b = append(b, `,"shipped_at":null,"note":"leave at the door, please ring twice; the bell is broken, so call the number on the label if nobody opens within a minute","address":"{\"street\":\"Rue de la République 12\",\"city\":\"Lyon\",\"zip\":\"69002\"}",`+
			`"tags":["new","gift"],"priority":`...)
		b = strconv.AppendInt(b, int64(i%5), 10)
		b = append(b, `,"is_gift":true,"weight":1.25,"email":"someone@example.com","updated_at":"2025-03-09T08:07:06.005004Z"}`...)
	}
	return &pubsubpb.PubsubMessage{Data: AppendEnd(b, table, op, i), OrderingKey: fmt.Sprintf(`{"order_id":%d}`, order)}
}

// at is the time of message i, in microseconds.
func at(i int) int64 { return 1_741_507_626_005_004 + int64(i)*1000 }

// AppendEnd appends what follows the two images in Debezium's messages, from the
// comma to the last brace.
func AppendEnd(b []byte, table string, op byte, i int) []byte {
	at, lsn := at(i), FirstLSN+int64(i)*248
	b = append(b, `,"source":{"version":"3.4.0.Final","connector":"postgresql","name":"acme","ts_ms":`...)
	b = strconv.AppendInt(b, at/1000, 10)
	b = append(b, `,"snapshot":"false","db":"shop","sequence":"[\"`...)
	b = strconv.AppendInt(b, lsn-248, 10)
	b = append(b, `\",\"`...)
	b = strconv.AppendInt(b, lsn, 10)
	b = append(b, `\"]","ts_us":`...)
	b = strconv.AppendInt(b, at, 10)
	b = append(b, `,"ts_ns":`...)
	b = strconv.AppendInt(b, at*1000, 10)
	b = append(b, `,"schema":"public","table":"`...)
	b = append(b, table...)
	b = append(b, `","txId":`...)
	b = strconv.AppendInt(b, int64(901+i), 10)
	b = append(b, `,"lsn":`...)
	b = strconv.AppendInt(b, lsn, 10)
	b = append(b, `,"xmin":null,"origin":null,"origin_lsn":null},"transaction":null,"op":"`...)
	b = append(b, op)
	return append(b, `","ts_ms":1741507626400,"ts_us":1741507626400123,"ts_ns":1741507626400123456}`...)
}

// Columns are the columns of such a table, as the value of a rule's key "columns".
const Columns = `
      - {name: order_id, type: INT64, mode: REQUIRED}
      - {name: customer_id, type: INT64}
      - {name: status, type: STRING}
      - {name: currency, type: STRING}
      - {name: total, type: "NUMERIC(12,2)", from: decimal, scale: 2}
      - {name: tax, type: "NUMERIC(12,2)", from: decimal, scale: 2}
      - {name: placed_at, type: TIMESTAMP, from: micros}
      - {name: paid_at, type: DATETIME, from: micros}
      - {name: shipped_at, type: DATETIME, from: micros}
      - {name: note, type: STRING}
      - {name: address, type: JSON}
      - {name: tags, type: ARRAY<STRING>}
      - {name: priority, type: INT64}
      - {name: is_gift, type: BOOL}
      - {name: weight, type: FLOAT64}
      - {name: email, type: STRING}
      - {name: updated_at, type: TIMESTAMP}
`

// Config is the pipeline's configuration of the table shop.orders.
const Config = `
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    columns:` + Columns
