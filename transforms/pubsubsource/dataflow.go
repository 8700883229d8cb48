package pubsubsource

import (
	"fmt"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/pubsubio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
)

func init() { register.Function1x1(fromPubsub) }

// ReadDataflow is [Read] by Beam's pubsubio, which functions on Dataflow alone:
// the runner takes the messages, gives them their event times and acks them once
// the first stage's results are stored. It panics on a Config that does not validate.
func ReadDataflow(s beam.Scope, c Config) beam.PCollection {
	project, id, err := ParseSubscription(c.Subscription)
	if err != nil {
		panic(fmt.Sprintf("pubsubsource.ReadDataflow: %v", err))
	}
	s = s.Scope("pubsubsource.ReadDataflow")
	// pubsubio puts project and name together again, so that the subscription's
	// project may be another than the job's.
	messages := pubsubio.Read(s, project, pubsubio.ReadOptions{Subscription: id, WithAttributes: true})
	return beam.ParDo(s, fromPubsub, messages)
}

func fromPubsub(m *pubsubpb.PubsubMessage) change.Message {
	var published time.Time
	if m.GetPublishTime() != nil {
		published = m.GetPublishTime().AsTime()
	}
	return change.Message{
		ID:          m.GetMessageId(),
		Data:        m.GetData(),
		Attributes:  m.GetAttributes(),
		OrderingKey: m.GetOrderingKey(),
		PublishTime: published,
	}
}
