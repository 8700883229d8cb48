package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/transforms/deadletter"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	register.Function1x1(showEvent)
	register.Function1x1(showLetter)
	register.Function1x1(showReceipt)
}

func showEvent(e change.Event) string {
	return fmt.Sprintf("%s %v %s %s %d/%d", e.Table, e.Op, e.Sequence, e.Message.ID, e.Part, e.Parts)
}

func showLetter(l deadletter.Letter) string {
	return fmt.Sprintf("%s %s %s %q %d %v", l.Message.ID, l.Stage, l.Reason, l.Message.Data, l.Part, l.Receipts)
}

func showReceipt(r change.Receipt) string { return fmt.Sprintf("%+v", r) }

// message returns a message with a token, as a source of ours makes it.
func message(id string, token uint64, data string) change.Message {
	return change.Message{ID: id, Token: token, Data: []byte(data), OrderingKey: `{"id":1}`}
}

const create = `{"before":null,"after":{"id":1},"source":{"connector":"postgresql","schema":"public","table":"orders",
 "snapshot":"false","sequence":"[\"16\",\"32\"]","lsn":32,"db":"shop"},"op":"c","ts_ms":1}`

func TestEvents(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	messages := beam.CreateList(s, []change.Message{
		message("1", 11, create),
		message("2", 12, `{"ts_ms":1741507626400}`),
		message("3", 13, ``),
		message("4", 14, `{"op":"?"`),
		message("5", 0, `not json`), // Dataflow acks
		message("6", 0, `{"ts_ms":1741507626400}`),
		message("7", 17, strings.Replace(create, `"op":"c"`, `"op":"p"`, 1)),
	})
	events, receipts, letters := Events(s, Config{Envelope: envelope.Options{Format: "debezium", Epoch: 7}}, messages)
	passert.Equals(s, beam.ParDo(s, showEvent, events), "public.orders create 7/20/20/1 1 0/1")
	passert.Equals(s, beam.ParDo(s, showReceipt, receipts),
		showReceipt(change.Receipt{Token: 12, Parts: 1}), showReceipt(change.Receipt{Token: 13, Parts: 1}))
	seven := strings.Replace(create, `"op":"c"`, `"op":"p"`, 1)
	passert.Equals(s, beam.ParDo(s, showLetter, letters),
		`4 decode bad_json "{\"op\":\"?\"" 0 [{14 0 1}]`,
		`5 decode bad_json "not json" 0 []`,
		fmt.Sprintf(`7 decode unknown_op %q 0 [{17 0 1}]`, seven),
	)
	result := ptest.RunAndValidate(t, p)

	// Invariant 4: messages = decoded + control messages + dead letters.
	got := make(map[string]int64)
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Namespace() == Namespace {
			got[c.Name()] += c.Result()
		}
	}
	want := map[string]int64{"messages": 7, "decoded": 1, "events": 1, "control_heartbeat": 2, "control_tombstone": 1, "letters": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

func TestEvents_refusesAnUnknownFormat(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a graph with an unknown format was built")
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	Events(s, Config{Envelope: envelope.Options{Format: "json"}}, beam.CreateList(s, []change.Message{}))
}
