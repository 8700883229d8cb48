package templates

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"beamcdc/internal/graph"
)

// runStaged runs the staged pipeline on Prism with the staged program as its worker,
// started as a worker's container starts it, so that each DoFn is deserialized by the
// program and works on the demo's changes. Of the pipeline two things are others': what
// Dataflow reads from Pub/Sub comes from memory, and the worker's container is a process.
func (s *services) runStaged(t *testing.T, model *pipepb.Pipeline, program string) {
	replaceSource(t, model, demoMessages(t))
	pool := startPool(t, program)
	external, err := proto.Marshal(&pipepb.ExternalPayload{Endpoint: &pipepb.ApiServiceDescriptor{Url: pool.address}})
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range model.GetComponents().GetEnvironments() {
		environment.Urn, environment.Payload = graphx.URNEnvExternal, external
	}
	port := freePort(t)
	if _, err := prism.CreateJobServer(t.Context(), prism.Options{Port: port}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := runnerlib.Execute(context.Background(), model, net.JoinHostPort("localhost", strconv.Itoa(port)),
			&runnerlib.JobOptions{Name: "staged", Worker: program}, false)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("the staged pipeline failed: %v\n%s", err, pool.log())
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("the staged pipeline runs on\n%s", pool.log())
	}
	for table, want := range map[string]int{"customers": 3, "orders": 5, "order_lines": 8} { // as README.md shows
		rows, err := s.bigquery.Rows(t.Context(), "shop", table)
		if err != nil || len(rows) != want {
			t.Errorf("shop.%s has %d rows, want %d: %v", table, len(rows), want, err)
		}
	}
	if letters := s.pubsub.Messages(parameters["dead_letter_topic"]); len(letters) != 2 {
		t.Errorf("%d dead letters, want 2", len(letters))
	}
}

// demoMessages returns the demo's messages as Pub/Sub gives them to Dataflow.
func demoMessages(t *testing.T) [][]byte {
	t.Helper()
	data, err := os.ReadFile("../examples/shop/messages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for line := range strings.Lines(string(data)) {
		var m struct {
			Data        json.RawMessage   `json:"data"`
			Base64      []byte            `json:"data_base64"`
			Attributes  map[string]string `json:"attributes"`
			OrderingKey string            `json:"ordering_key"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Data == nil {
			m.Data = m.Base64
		}
		message, err := proto.Marshal(&pubsubpb.PubsubMessage{
			Data: m.Data, Attributes: m.Attributes, OrderingKey: m.OrderingKey, MessageId: strconv.Itoa(len(messages)),
		})
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, message)
	}
	return messages
}

// replaceSource puts a source that has these elements in the place of Pub/Sub's.
func replaceSource(t *testing.T, model *pipepb.Pipeline, elements [][]byte) {
	t.Helper()
	p, scope := beam.NewPipelineWithRoot()
	beam.CreateList(scope, elements)
	source, err := graph.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	components := model.GetComponents()
	var pubsub *pipepb.PTransform
	for id, transform := range components.GetTransforms() {
		if transform.GetSpec().GetUrn() == "beam:transform:pubsub_read:v1" {
			pubsub = transform
			delete(components.GetTransforms(), id)
			for _, parent := range components.GetTransforms() {
				for i, child := range parent.GetSubtransforms() {
					if child == id {
						parent.Subtransforms = slices.Delete(slices.Clone(parent.GetSubtransforms()), i, i+1)
						break
					}
				}
			}
		}
	}
	if pubsub == nil {
		t.Fatal("the pipeline reads no subscription")
	}
	output := pubsub.GetOutputs()["i0"]
	const mine = "source_" // before the names of what is put in
	consumed := make(map[string]bool)
	for _, transform := range source.GetComponents().GetTransforms() {
		for _, id := range transform.GetInputs() {
			consumed[id] = true
		}
	}
	collection := func(id string) string {
		if !consumed[id] {
			return output
		}
		return mine + id
	}
	for id, transform := range source.GetComponents().GetTransforms() {
		for tag, input := range transform.GetInputs() {
			transform.Inputs[tag] = collection(input)
		}
		for tag, out := range transform.GetOutputs() {
			transform.Outputs[tag] = collection(out)
		}
		for i := range transform.GetSubtransforms() {
			transform.Subtransforms[i] = mine + transform.GetSubtransforms()[i]
		}
		transform.UniqueName = mine + transform.GetUniqueName()
		components.Transforms[mine+id] = transform
	}
	for _, id := range source.GetRootTransformIds() {
		model.RootTransformIds = append(model.RootTransformIds, mine+id)
	}
	for id, of := range source.GetComponents().GetPcollections() {
		if consumed[id] {
			of.CoderId, of.WindowingStrategyId = mine+of.GetCoderId(), mine+of.GetWindowingStrategyId()
			components.Pcollections[mine+id] = of
		}
	}
	for id, coder := range source.GetComponents().GetCoders() {
		for i := range coder.GetComponentCoderIds() {
			coder.ComponentCoderIds[i] = mine + coder.GetComponentCoderIds()[i]
		}
		components.Coders[mine+id] = coder
	}
	for id, strategy := range source.GetComponents().GetWindowingStrategies() {
		strategy.WindowCoderId = mine + strategy.GetWindowCoderId()
		components.WindowingStrategies[mine+id] = strategy
	}
}

// pool starts workers for a runner, as Dataflow's machines do: the program, told where
// the runner is.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	t       *testing.T
	program string
	address string

	mu      sync.Mutex
	workers map[string]*exec.Cmd
	output  strings.Builder
}

func startPool(t *testing.T, program string) *pool {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{t: t, program: program, address: listener.Addr().String(), workers: make(map[string]*exec.Cmd)}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	go func() { _ = server.Serve(listener) }() // until it is stopped
	t.Cleanup(func() {
		server.Stop()
		p.mu.Lock()
		workers := p.workers
		p.workers = nil
		p.mu.Unlock()
		for _, worker := range workers {
			_ = worker.Process.Kill() // it may have ended
			_ = worker.Wait()
		}
	})
	return p
}

func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	worker := exec.Command(p.program, "--worker=true", "--id="+r.GetWorkerId(), "--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(),
		"--control_endpoint="+r.GetControlEndpoint().GetUrl(), "--semi_persist_dir="+p.t.TempDir(), "--a_flag_of_a_later_version=1")
	worker.Env = []string{"TMPDIR=" + p.t.TempDir()}
	worker.Stdout, worker.Stderr = p, p
	if err := worker.Start(); err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	p.workers[r.GetWorkerId()] = worker
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker lets the worker end with its runner: it ends the job's connections.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}

// Write takes what a worker prints.
func (p *pool) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

func (p *pool) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
