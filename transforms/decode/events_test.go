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

// replay makes the message one that was published again.
func replay(m change.Message, of string) change.Message {
	m.Attributes = map[string]string{deadletter.AttributeReplay: of}
	return m
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
		replay(message("8", 18, create), "2 2025-03-09T08:07:06Z 3"),
		replay(message("9", 19, create), "3"), // which is what?
	})
	events, receipts, letters := Events(s, Config{Envelope: envelope.Options{Format: "debezium", Epoch: 7}}, messages)
	passert.Equals(s, beam.ParDo(s, showEvent, events), "public.orders create 7/20/20/1 1 0/1", "public.orders create 7/20/20/1 3 0/1")
	passert.Equals(s, beam.ParDo(s, showReceipt, receipts),
		showReceipt(change.Receipt{Token: 12, Parts: 1}), showReceipt(change.Receipt{Token: 13, Parts: 1}))
	seven := strings.Replace(create, `"op":"c"`, `"op":"p"`, 1)
	passert.Equals(s, beam.ParDo(s, showLetter, letters),
		`4 decode bad_json "{\"op\":\"?\"" 0 [{14 0 1}]`,
		`5 decode bad_json "not json" 0 []`,
		fmt.Sprintf(`7 decode unknown_op %q 0 [{17 0 1}]`, seven),
		fmt.Sprintf(`9 decode bad_attributes %q 0 [{19 0 1}]`, create),
	)
	result := ptest.RunAndValidate(t, p)

	// Invariant 4: messages = decoded + control messages + dead letters.
	got := make(map[string]int64)
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Namespace() == Namespace {
			got[c.Name()] += c.Result()
		}
	}
	want := map[string]int64{"messages": 9, "decoded": 2, "events": 2, "control/heartbeat": 2, "control/tombstone": 1, "letters": 4}
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
