// Package shop holds the demo: the changes of a shop's three tables as Debezium
// publishes them for PostgreSQL, in the disorder that real change streams have,
// and the pipeline's configuration for them.
//
// What happened in the shop, and what the messages do to it:
//
//   - Orders 1 to 3 live the lives of the guide's: order 1 is placed, shipped,
//     then cancelled, but the cancellation arrives before the shipping; order 2
//     is placed, and its message arrives three times; order 3 is placed and
//     deleted, but the deletion arrives first. Their log positions run from
//     F/FFFF0000 to 10/1A00, over the point where an order by text breaks.
//   - Customer 102 becomes a VIP; the row that the initial snapshot found
//     arrives after that.
//   - Customer 104 becomes 204, a change of the primary key: a delete and a
//     create at one log position, the create arriving first.
//   - Customer 103 asks to be forgotten; another delivery of the snapshot's row
//     arrives after the deletion.
//   - A line of order 4 is removed; a duplicate of its creation arrives later.
//   - Somebody types the year 20260 for the delivery of order 5: no DATE holds
//     that. The change becomes a dead letter, the row keeps its last good version.
//   - One message was cut off on its way: the other dead letter.
//   - Heartbeats and transaction markers change nothing.
//
// In the end the total of each order is the sum of its lines.
package shop

import _ "embed"

// Config is the pipeline's configuration, YAML.
//
//go:embed pipeline.yaml
var Config []byte

// Messages are the messages, one a line, in the form that cmd/local reads.
//
//go:embed messages.jsonl
var Messages []byte
