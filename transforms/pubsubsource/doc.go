// Package pubsubsource is the way in from a Pub/Sub subscription and the way
// back, the ack.
//
// Out of [Read]: a PCollection of [change.Message], each with the time of its
// taking as event time and a Token that stands for its delivery. In to [Ack]: the
// PCollections of [change.Receipt] of the stages where parts of messages come to
// rest. A message is acked once all its parts have come to rest, never before
// (invariant 1: acked means durable); until then the client library extends its
// lease, and it counts against the bounds on what is outstanding.
//
// A message's way: gate.go lets it in once there is room, outstanding.go takes and queues it
// as a delivery (delivery.go, queue.go), read.go emits it, ack.go brings its receipts back to
// outstanding.go, which acks it, or gives it up. receiver.go is the subscription's streams from
// start to close, receivers.go what this process receives, for bundles that come and go.
//
// A delivery's data stays here until its ack, since rows go without their messages' bytes:
// package deadletter asks for it (its HoldBy), and is told when it has ended
// (its Forget).
//
// # Life
//
// A subscription is received once a process, whatever the number of bundles: the
// receiver starts with the first bundle and lives until [Close]. Beam's runner on
// one machine has no drain, so the source brings its own: after [Drain] it emits
// what it has taken and ends, the runner closes all windows and finishes the job,
// and Close waits until the last acks are at Pub/Sub. A process that is killed
// takes nothing with it: Pub/Sub delivers what was not acked again, after
// [Config.Lease] at most.
//
// Read and Ack must run in one process, because a Token means something only
// where it was given out: one machine, or one worker on Flink. Receipts that
// reach another process are counted there as unknown, and their messages come
// again. On Dataflow the runner owns the subscription ([Config.RunnerOwned]):
// Read is Beam's own pubsubio, Tokens are 0, and Ack adds nothing.
//
// # Order
//
// Messages with an ordering key are emitted in the order in which Pub/Sub
// delivers them, and no further: a Beam pipeline keeps no order, here the
// changes' sequences do. The client library waits, key by key, for the end of a
// callback that only queues the message, so a key's later messages do not wait
// for the acks of earlier ones. A message that comes again brings all later
// messages of its key with it, acked or not.
package pubsubsource
