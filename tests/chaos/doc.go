// Command chaos runs the whole system as separate processes while everything that can
// go wrong does, and then holds BigQuery against the source:
//
//	go run ./tests/chaos -changes 1000000 -kills 500 -duration 1h   # make chaos
//	go run ./tests/chaos -seed 7 -changes 10000 -kills 10 -duration 0 -round 10000 -scale 0.03 -tables 113
//	go test ./tests/chaos -v                                        # the short form, in CI
//
// # What runs
//
// cmd/launch on the direct runner and cmd/emulator on a file are processes, and are
// killed. The driver is the source, nine tables whose rows are created, updated,
// deleted, created again and moved to other keys, and as many plain ones beside as -tables
// says (they share connections from some tens on), published as Debezium publishes
// PostgreSQL's; and Pub/Sub, the one thing that production doesn't lose. This Pub/Sub
// delivers a tenth of all messages late, some twice, ends some leases early, and ignores
// some acks: at least once, in any order, as it promises and no better. The tables have
// what a pipeline may be asked for: a compound key, a column that is added, unchanged
// values that are left out and filled in, soft deletes, a history, one is dropped, one is
// truncated behind a view, and one is filled in, truncated, remembered in a history and
// given columns at once. Dead letters go to a table.
//
// # What goes wrong
//
// A round is a number of changes, by default 50,000. Its plan names faults, each with the
// change after which it happens: every kind of [faultKinds] once, kills as often as
// asked, and as many others again. What lasts, lasts for -scale of what its kind has; at
// 1 BigQuery is out of quota for up to three minutes.
//
//	kill, kill_bigquery, kill_both   kill -9 of the pipeline, of the emulator, of both
//	stop                             SIGTERM to the pipeline
//	cut_before, cut_after            connections are cut before rows are stored, and after
//	lose_response                    rows are stored and their connection says nothing any more
//	unavailable, internal            errors inside of responses, and of connections
//	exhausted, quota, slow           RESOURCE_EXHAUSTED; a quota of bytes; slow answers
//	reject                           rows are rejected
//	rest_fails                       the REST API answers with 503
//	alter                            the source adds a column, which the Write API learns late
//	drop                             a table is dropped and created again
//	truncate                         the source truncates a table, often with kill -9 meanwhile
//	wait                             kill -9 or SIGTERM while rows wait aside, of a table that BigQuery takes none of
//	forbid                           PERMISSION_DENIED, of one table
//	redelivery, cut_streams          all leases end; Pub/Sub's streams break
//	lost_acks, no_acks               acks have no effect; the calls for acks fail
//	poison                           messages that can't be used, of four kinds
//	burst                            nothing is published for a while, and then much
//	clock                            BigQuery's clock jumps by hours, forth and back
//
// A dropped table takes its rows with it, and BigQuery has nobody to bring them back. So
// the driver does what its operator would: the table is created again, and what each of
// its keys is now is published with new positions, deletes too. Rejected rows are dead
// letters of good messages; they are replayed by cdc dead-letters once the round is over.
//
// # What must hold
//
// After a round all faults end. Then within -settle every message is acked: nothing is
// stuck. And
//
//   - each table equals its source, row by row and value by value, as the emulator's
//     REST API has them; a softly deleted row has its last values and the time;
//   - the histories have each change once, in the view without duplicates;
//   - the dead letters are those of the messages that can't be used, each once, with
//     their stage and reason. What was rejected is gone from there by the replay. One kind
//     may stay, which package fill documents: of an update that came again after its
//     row's later delete was acked;
//   - a process that was stopped exits with 0 and prints counts that add up: all that it
//     decoded came to rest and was acked, but for the changes that it counts as waiting
//     for what completes their rows, whose messages come again. A killed process prints
//     nothing: its counts can't be checked, nor can those of all runs together;
//   - the log has a line a fault for each table and outcome and half minute, and none a row;
//   - a process that ended by itself could not reach BigQuery while it started, or was
//     forbidden to write to a table.
//
// # What the seed decides
//
// All changes and messages, when which fault happens, counted in changes, and what
// becomes of each delivery of each message. How far the processes are by then, it
// doesn't: that is the operating system's, as is which request a fault meets. So a seed
// repeats a run's plan, and what it found often within some runs, not surely in one.
// The clock that jumps is BigQuery's. That of the pipeline isn't moved: it is the
// machine's, and its windows are of arrival time.
//
// # What was reached
//
// On a machine with 2 cores that others used as well, at loads of 1 to 30, at nice 10 to
// 15. A million changes and 500 kills in one run, of commit 92d30ae with the counts and the
// check of b2db8fe and 8367046, before the other mends of package fill:
//
//	-seed 20261206 -changes 1000000 -kills 500 -duration 0 -round 100000 -round_kills 51 -rate 3000 -backlog 8000 -scale 0.03 -hold 8s
//	    1,005,021 changes, 514 kills (488 of the pipeline, 26 of BigQuery) and 19 stops in
//	    10 rounds, 26.5 minutes; 1,010,439 messages, 2,366,079 deliveries: all acked, every
//	    row, history and dead letter right; the 19 stops' counts add up, 71 of 172,380
//	    messages were given back as waiting
//
// The tables that are truncated, -tables and the faults truncate, wait and forbid came
// later, and what lose_response does: see the emulator's. With them, at 578fb33 and a load
// of 20 to 30, which makes everything slow that is killed:
//
//	-go_on -tables 113 -seed 20261208 -duration 11m -round 20000 -round_kills 30 -rate 500 -scale 0.05 -hold 8s -settle 6m
//	    80,153 changes, 128 kills in 4 rounds, 17.7 minutes: all rows of 120 of 122 tables right,
//	    histories and letters too. Six minutes after the last fault 23 messages of the first
//	    round and 5 of the fourth were not acked, in a process that did nothing else; the one after it
//	    acked them. A row of notes and one of ledger had older values after the second round, that of
//	    notes after the third still. In another run the one message that stayed, until its process was
//	    ended, was an update of ledger that waited for a value, of a row that was truncated later. So
//	    all that was wrong is of tables that are filled in; 6 runs of 10,000 to 40,000
//	    changes before and after it, one of the same seed, had neither
//	-seed 778 -duration 0 -changes 1000 -kills 0 -round 12000 -round_kills 40 -rate 600 -scale 0.04 -hold 8s
//	    at c02bccf, two of them at once: rows of docs and ledger had older values, and the counts of
//	    the process that stopped were off by six; run again, with this program and with that of
//	    98dc2a3, it had neither
//
// A cause of such findings is known since, and mended in 4a09243: on a busy machine Prism split
// bundles of stages with state, and an update of the state was lost; internal/prism has it and
// the test that loses one without the mend. Held changes that are forgotten aren't acked, a
// journal of before completes with older values, and changes held twice count twice. That it
// was the cause of these findings is likely; none was watched as it happened. Since then, at
// 5ed5654, three at once and then two, at a load of only 4 to 8:
//
//	-seed 778, three times, with the settings above
//	    12,046, 12,051 and 12,046 changes, 43 kills each: nothing wrong, counts of the stop included
//	-seed 20261302, with the same settings
//	    12,227 changes, 43 kills: nothing wrong
//	-seed 20261301, with the same settings
//	    12,429 changes, 40 kills: nothing wrong; its stop took too long to be asked for counts
//
// And at 04ded3b, at nice 19 beside benchmarks at a load of 2 to 15, which left it what they
// did not take:
//
//	-go_on -tables 20 -seed 20261208 -duration 14m -round 20000 -round_kills 30 -rate 500 -scale 0.05 -hold 8s -settle 6m
//	    260,719 changes in 13 rounds, 23 minutes, until it was interrupted in the next; some 430 kills and 19
//	    stops, 2 of which took too long: all acked, every row of 29 tables, history and letter right, and
//	    the stops' counts. No round took more than 170 s
//	the same seed and settings, but for -settle 3m, at 4e798d1, the commit before the mend
//	    160,505 changes and 257 kills in 8 rounds, 15 minutes: 189 messages of the second round were not
//	    acked three minutes after its last fault, while nothing else went on; the process after it acked
//	    them. All else was right
//
// That is not the whole of make chaos: its faults last ten times as long, and it takes an
// hour at least, which has not been run.
//
// Shorter ones before it:
//
//	-seed 20261201 -duration 0 -round 100000 -round_kills 52 -rate 900 -scale 0.1 -settle 6m
//	    401,991 changes, 211 kills in 4 rounds, 13 minutes: nothing lost, no row wrong; it
//	    ended since two held changes were given back at a stop, which the counts didn't tell
//	-seed 20261203 -duration 0 -round 40000 -round_kills 24 -rate 1200 -scale 0.05 -hold 8s
//	    121,402 changes, 73 kills in 3 rounds, 7 minutes: all acked; one problem was
//	    reported, in the first or the third, and its log was not kept. Run again at 99757a4
//	    (121,401 changes, 73 kills, 5 minutes) it had one in the third: a pipeline that
//	    ended since BigQuery failed while it started, in words that the check didn't know.
//	    All else was right. That the first was the same is likely and not known
//
// A run between them, of 181,503 changes and 97 kills, found rows of fill and soft
// deletes that had older values after many restarts; package fill's TestRestore_sameChange
// is that case. Twice, before that was mended, the counts of a stopped process were off,
// by one and by four, where rows of fill were wrong as well: whether both had one cause
// is not known; it has not happened since. One way to a wrong row is left, by rows of a
// killed process that BigQuery takes late: package fill has it, no run did.
//
// With -trace the directory's trace.log tells what became of each message; the emulator's
// file and log are there too, and stay if something was wrong.
package main
