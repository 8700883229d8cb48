package direct

import (
	"errors"
	"testing"
)

// What Beam says of a DoFn's error, as it was printed by version 2.77.
const failedJob = `job job-001 failed:
bundle inst002 stage-002 failed:process bundle failed for instruction inst002 using plan stage-002 : while executing Process for Plan[stage-002]:
1: DataSource[S[stage-002_source@localhost:39643], i0] Out:4 Coder:W;cwv_n2<int[varintz;c2];c3>!GWC
4: ParDo[main.fn] Out:[3] Sig: func(context.Context, int, func(int)) error, SideInputs: []
3: PCollection[n4] Out:[2]
2: Discard
	caused by:
source failed processing data
	caused by:
DoFn[UID:4, PID:e4, Name: main.fn] failed:
writing to p.d.t: rpc error: code = InvalidArgument desc = no primary key`

func TestReasonOf(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a DoFn's error": {failedJob, "writing to p.d.t: rpc error: code = InvalidArgument desc = no primary key"},
		"of two lines":   {"DoFn[UID:4, Name: a] failed:\none\ntwo", "one; two"},
		"nested":         {"DoFn[UID:4, Name: a] failed:\nx\n\tcaused by:\nDoFn[UID:5, Name: b] failed:\ny", "y"},
		"a panic":        {"DoFn[UID:4, Name: a] failed:\npanic: boom\ngoroutine 7 [running]:\nmain.f()", "panic: boom"},
		"in a timer":     {"while executing Process for Plan[stage-007]:\n\tcaused by:\nontimer callback invocation failed\nerror processing timer {k\nvalue}} [@0:[]:{early false false 0 0}] k [[*]] {unknown true true 0 0} {  false 17 17}}\nwriting to p.d.t: giving up", "writing to p.d.t: giving up"},
		"no DoFn":        {"connecting to job service\n\tcaused by:\ndial tcp: refused", "dial tcp: refused"},
		"plain":          {"no such runner", "no such runner"},
		"nothing":        {"", "the runner does not say why"},
	} {
		if got := reasonOf(errors.New(test.text)).Error(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestCounts(t *testing.T) {
	c := Counts{
		Messages: 10, ExtraChanges: 2, KeyChanges: 1, RowsCompletedAgain: 1, RowsUpserted: 6, RowsDeleted: 2, Superseded: 2, Filtered: 1, Control: 2, DeadLetters: 3, HistoryLetters: 2,
	}
	if !c.Balanced() {
		t.Errorf("%+v: does not add up", c)
	}
	c.Add(Counts{Messages: 2, RowsUpserted: 1, Waiting: 1})
	if !c.Balanced() {
		t.Errorf("%+v: a change that waits is not seen", c)
	}
	c.Add(Counts{Messages: 2, RowsUpserted: 1})
	if c.Balanced() || c.Messages != 14 {
		t.Errorf("%+v: a message that vanished is not seen", c)
	}
}
