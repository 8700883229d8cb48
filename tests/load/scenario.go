package main

import (
	"fmt"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/tests/internal/orders"
)

// scenario is a kind of load.
type scenario struct {
	name   string
	config string // of the pipeline: its tables
	rate   int    // messages a second, by default
	adapt  bool   // the rate rises as long as the pipeline follows
	slow   bool   // BigQuery takes a tenth of the rate for a while
	big    bool   // messages arrive one by one

	message func(i int) *pubsubpb.PubsubMessage
	tables  int              // to which all messages go in turns; 0 says that they don't
	letter  func(i int) bool // message i becomes a dead letter; nil if none does
}

// The idle run must be the first.
var scenarios = []scenario{
	{
		name: "idle", config: orders.Config, rate: 100,
		message: func(i int) *pubsubpb.PubsubMessage { return orders.Of(cycle).Message(i) },
	},
	{
		name: "soak", config: orders.Config, rate: 1000, adapt: true,
		message: func(i int) *pubsubpb.PubsubMessage { return orders.Of(cycle).Message(i) },
	},
	{
		name: "hot", config: orders.Config, rate: 2000,
		message: func(i int) *pubsubpb.PubsubMessage { return orders.Message("orders", 1, 'u', i) },
	},
	{name: "wide", config: wideConfig(), rate: 20, message: wideMessage},
	{name: "big", config: bigConfig, rate: 2, big: true, message: bigMessage, letter: isTooLarge},
	{
		name: "many", config: manyConfig, rate: 1000, tables: manyTables,
		message: func(i int) *pubsubpb.PubsubMessage {
			return orders.Message(fmt.Sprintf("t%04d", i%manyTables), i/manyTables, 'u', i)
		},
	},
	{
		name: "slow", config: orders.Config, rate: 1000, slow: true,
		// No row changes twice in a window: a tenth of the messages is a tenth of the rows.
		message: func(i int) *pubsubpb.PubsubMessage { return orders.Message("orders", i%10_000_000, 'u', i) },
	},
}

// cycle is after how many messages the same rows change again, in the same order.
const cycle = 1 << 20

// manyTables is the number of tables of scenario many.
const manyTables = 2000

const manyConfig = `
tables:
  - source: public.*
    destination: shop.{table}
    primary_key: [order_id]
    columns:` + orders.Columns + `
`

func names() []string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// choose returns the scenarios of these names. "all" is all but the idle one, which is
// run beside the others.
func choose(text string) ([]scenario, error) {
	if text == "all" {
		return scenarios[1:], nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(text, ",") {
		found := false
		for _, s := range scenarios {
			if s.name == name {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-scenario %s: it is none of %s", name, strings.Join(names(), ", "))
		}
	}
	return chosen, nil
}
