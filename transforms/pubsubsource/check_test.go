package pubsubsource

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		sub  func(*pubsubpb.Subscription)
		edit func(*Config)
		want []string // in the error; none: no error
	}{
		"good":    {},
		"missing": {nil, func(c *Config) { c.Subscription += "-not" }, []string{"-not", "NotFound", "create the subscription"}},
		"push": {func(s *pubsubpb.Subscription) {
			s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: "https://example.com"}
		}, nil, []string{"a push subscription", "pull subscription of its own"}},
		"BigQuery": {func(s *pubsubpb.Subscription) {
			s.BigqueryConfig = &pubsubpb.BigQueryConfig{Table: "p.d.t"}
		}, nil, []string{"a BigQuery subscription"}},
		"detached":   {func(s *pubsubpb.Subscription) { s.Detached = true }, nil, []string{"detached"}},
		"short name": {nil, func(c *Config) { c.Subscription = "s" }, []string{"projects/PROJECT/subscriptions/NAME"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakePubsub(t, test.sub)
			if test.edit != nil {
				test.edit(&f.config)
			}
			checkError(t, Check(t.Context(), f.config), test.want)
		})
	}
}

func checkError(t *testing.T, err error, want []string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want %q in it", err, part)
		}
	}
	if text := err.Error(); strings.Count(text, "projects/other") > 2 {
		t.Errorf("the error repeats itself: %q", text)
	}
}

func TestCheck_PubsubEmulatorHost(t *testing.T) {
	f := newFakePubsub(t, nil)
	t.Setenv("PUBSUB_EMULATOR_HOST", f.Addr)
	if err := Check(t.Context(), Config{Subscription: f.config.Subscription}); err != nil {
		t.Error(err)
	}
	t.Setenv("PUBSUB_EMULATOR_HOST", "127.0.0.1:1") // the endpoint goes before it
	if err := Check(t.Context(), f.config); err != nil {
		t.Error(err)
	}
}

func TestCheck_UnreachableEndpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close() // nobody listens there now
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = Check(ctx, Config{Subscription: "projects/p/subscriptions/s", Endpoint: address, Plaintext: true})
	checkError(t, err, []string{address, "connection refused", "make the service reachable"})
}

// A service that accepts connections and never answers.
func TestCheck_SilentEndpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	err = Check(ctx, Config{Subscription: "projects/p/subscriptions/s", Endpoint: listener.Addr().String(), Plaintext: true})
	checkError(t, err, []string{listener.Addr().String(), "DeadlineExceeded", "make the service reachable"})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

// denying permits nothing, or the stream alone, as roles/pubsub.subscriber does.
type denying struct {
	pubsubpb.UnimplementedSubscriberServer
	streams bool
	nacked  chan []string
}

var errDenied = status.Error(codes.PermissionDenied, "user not authorized to perform this action")

func (*denying) GetSubscription(context.Context, *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	return nil, errDenied
}

func (d *denying) StreamingPull(stream pubsubpb.Subscriber_StreamingPullServer) error {
	if !d.streams {
		return errDenied
	}
	_ = stream.Send(&pubsubpb.StreamingPullResponse{ReceivedMessages: []*pubsubpb.ReceivedMessage{{AckId: "one", Message: &pubsubpb.PubsubMessage{}}}})
	<-stream.Context().Done()
	return nil
}

func (d *denying) ModifyAckDeadline(_ context.Context, r *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	if r.GetAckDeadlineSeconds() == 0 {
		d.nacked <- r.GetAckIds()
	}
	return &emptypb.Empty{}, nil
}

func TestCheck_PermissionDenied(t *testing.T) {
	tests := map[string]struct {
		streams, runnerOwned bool
		want                 []string
	}{
		"nothing is permitted":         {false, false, []string{"PermissionDenied", "roles/pubsub.subscriber"}},
		"reading is permitted":         {true, false, nil},
		"the workers may be permitted": {false, true, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := &denying{streams: test.streams, nacked: make(chan []string, 1)}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			grpcServer := grpc.NewServer()
			pubsubpb.RegisterSubscriberServer(grpcServer, d)
			go func() { _ = grpcServer.Serve(listener) }()
			t.Cleanup(grpcServer.Stop)
			c := Config{Subscription: "projects/p/subscriptions/s", RunnerOwned: test.runnerOwned, Endpoint: listener.Addr().String(), Plaintext: true}
			checkError(t, Check(t.Context(), c), test.want)
			if test.streams {
				if got := <-d.nacked; len(got) != 1 || got[0] != "one" {
					t.Errorf("nacked %q", got)
				}
			}
		})
	}
}
