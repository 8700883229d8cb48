package templates

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-cmp/cmp"
	dataflow "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/protobuf/proto"

	"beamcdc/cmd/local/embeddedpubsub"
	"beamcdc/emulator"
	"beamcdc/internal/graph"
)

// A value for each parameter of metadata.json. Just one sink of dead letters can be
// given, so that the table is left out of the launch.
var parameters = map[string]string{
	"config": "gs://bucket/config/pipeline.yaml", "check": "true", "log_level": "info",
	"dataflow_service_options": "streaming_mode_at_least_once,enable_google_cloud_profiler", "number_of_worker_harness_threads": "12",
	"subscription": "projects/demo/subscriptions/shop-changes", "format": "debezium", "epoch": "0", "unavailable_placeholder": "__debezium_unavailable_value",
	"flat_prefix": "__", "flat_fields": "op,lsn", "avro_schema": "gs://bucket/config/schema.avsc", "schema_registry": "http://127.0.0.1:1",
	"schema_registry_auth_file": "/etc/registry", "create_tables": "true", "unlisted_tables": "reject", "window": "1s",
	"dead_letter_topic": "projects/demo/topics/shop-changes-dead", "dead_letter_table": "ops.dead_letters", "bigquery_project": "demo", "bigquery_location": "EU",
	"bigquery_rest_endpoint": "", "bigquery_grpc_endpoint": "", "bigquery_plaintext": "true", "pubsub_endpoint": "", "pubsub_plaintext": "true", "allow_plaintext": "true", "dead_letter_data": "encrypt", "dead_letter_key": "a file that startServices writes",
	"target_request_bytes": "2097152", "max_request_bytes": "9000000", "max_publish_bytes": "10000000", "retry_for": "1m", "finish_for": "1m30s", "truncate_wait": "10s", "trace_id": "shop",
}

const otherSink = "dead_letter_table"

// services are what the program is launched against.
type services struct {
	storage  *fakestorage.Server
	pubsub   *embeddedpubsub.Server
	bigquery *emulator.Server
}

func startServices(t *testing.T) *services {
	t.Helper()
	s := new(services)
	var err error
	parameters["dead_letter_key"] = filepath.Join(t.TempDir(), "key") // on the workers, which are here
	if err := os.WriteFile(parameters["dead_letter_key"], []byte(strings.Repeat("5c", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.pubsub, err = embeddedpubsub.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pubsub.Close)
	for _, topic := range []string{"projects/demo/topics/shop-changes", parameters["dead_letter_topic"]} {
		if err := s.pubsub.CreateTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.pubsub.CreateSubscription(t.Context(), parameters["subscription"], "projects/demo/topics/shop-changes"); err != nil {
		t.Fatal(err)
	}
	if s.bigquery, err = emulator.New(emulator.Options{Project: "demo"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.bigquery.Close() })
	config, err := os.ReadFile("../examples/shop/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	s.storage, err = fakestorage.NewServerWithOptions(fakestorage.Options{
		// Clients read by the XML API, which is served to requests for the public host alone.
		Scheme: "http", Host: "127.0.0.1", Port: uint16(port), PublicHost: "127.0.0.1:" + strconv.Itoa(port),
		InitialObjects: []fakestorage.Object{
			{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "config/pipeline.yaml"}, Content: config},
			{
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "config/schema.avsc"},
				Content:     []byte(`{"type": "record", "name": "Change", "fields": [{"name": "id", "type": "long"}]}`),
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.storage.Stop)
	return s
}

// object returns what is at gs://BUCKET/NAME.
func (s *services) object(t *testing.T, at string) []byte {
	t.Helper()
	bucket, name, _ := strings.Cut(strings.TrimPrefix(at, "gs://"), "/")
	object, err := s.storage.GetObject(bucket, name)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	return object.Content
}

// commandLine returns what a launcher runs the program with: the template's parameters,
// what the job's environment says, and what it may add that no Go program knows.
func (s *services) commandLine(t *testing.T, leftOut ...string) []string {
	t.Helper()
	given := map[string]string{
		"bigquery_rest_endpoint": s.bigquery.RESTAddr(), "bigquery_grpc_endpoint": s.bigquery.GRPCAddr(), "pubsub_endpoint": s.pubsub.Addr,
	}
	var args []string
	for _, p := range readMetadata(t).Parameters {
		value := parameters[p.Name]
		if value == "" {
			value = given[p.Name]
		}
		if value == "" {
			t.Errorf("there is no value for %s: give it one in this test", p.Name)
		}
		if !slices.Contains(leftOut, p.Name) {
			args = append(args, "--"+p.Name+"="+value)
		}
	}
	args = append(args,
		"--runner=DataflowRunner", "--project=demo", "--region=europe-west1", "--job_name=shop", "--template_location=gs://bucket/launches/1/job_object",
		"--staging_location=gs://bucket/staging", "--temp_location=gs://bucket/temp", "--service_account_email=worker@demo.iam.gserviceaccount.com",
		`--labels={"team":"shop"}`, "--experiments=one", "--experiments=two", "--subnetwork=regions/europe-west1/subnetworks/x",
		"--enable_streaming_engine=true", "--additional_user_labels={}", "--streaming_mode=STREAMING_MODE_AT_LEAST_ONCE",
	)
	slices.Sort(args) // as launchers do
	return args
}

// run runs the program where there is nothing but itself: no Go, no gcloud.
func (s *services) run(t *testing.T, program string, args ...string) (stderr string, err error) {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = t.TempDir()
	command.Env = []string{"STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(s.storage.URL(), "http://"), "TMPDIR=" + command.Dir, "HOME=" + command.Dir}
	var buffer bytes.Buffer
	command.Stderr = &buffer
	err = command.Run()
	return buffer.String(), err
}

// The image is assembled, published and pulled as Docker would; the program in it is
// launched as the launcher does, with every parameter, and stages itself, the
// pipeline and the job's description; and what it staged runs, with itself as the worker.
func TestTemplate(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds and runs the real command")
	}
	image, built := assemble(t)
	program := checkImage(t, image, built)
	s := startServices(t)
	args := s.commandLine(t, otherSink)

	stderr, err := s.run(t, program, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, flag := range []string{"enable_streaming_engine", "additional_user_labels", "streaming_mode"} {
		if !strings.Contains(stderr, "ignoring --"+flag+", which is no flag") {
			t.Errorf("nothing tells that --%s was ignored:\n%s", flag, stderr)
		}
	}
	var job dataflow.Job
	if err := json.Unmarshal(s.object(t, "gs://bucket/launches/1/job_object"), &job); err != nil {
		t.Fatal(err)
	}
	pool := job.Environment.WorkerPools[0]
	worker := s.object(t, pool.Packages[0].Location)
	sum := sha256.Sum256(worker)
	bytesOfProgram, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(worker, bytesOfProgram) || pool.Packages[0].Sha256 != hex.EncodeToString(sum[:]) {
		t.Error("the worker is another program than the launcher ran, or its hash is wrong")
	}
	type described struct {
		Name, Type, Account, MachineType, Image, Subnetwork string
		Workers, MaxWorkers, Threads                        int64
		Labels                                              map[string]string
		ServiceOptions                                      []string
	}
	got := described{
		job.Name, job.Type, job.Environment.ServiceAccountEmail, pool.MachineType, pool.WorkerHarnessContainerImage, pool.Subnetwork,
		pool.NumWorkers, pool.AutoscalingSettings.MaxNumWorkers, pool.NumThreadsPerWorker, job.Labels, job.Environment.ServiceOptions,
	}
	want := described{
		"shop", "JOB_TYPE_STREAMING", "worker@demo.iam.gserviceaccount.com", "n2-standard-2", "gcr.io/cloud-dataflow/v1beta3/beam_go_sdk:2.77.0",
		"regions/europe-west1/subnetworks/x",
		1, 5, 12,
		map[string]string{"application": "beamcdc", "subscription": "shop-changes", "team": "shop"},
		[]string{"streaming_mode_at_least_once", "enable_google_cloud_profiler"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the job, -want +got:\n%s", diff)
	}
	for _, experiment := range []string{"one", "two", "enable_streaming_engine", "use_runner_v2"} {
		if !slices.Contains(job.Environment.Experiments, experiment) {
			t.Errorf("the experiment %s is missing of %s", experiment, job.Environment.Experiments)
		}
	}
	model := s.model(t, &job)
	golden, err := os.ReadFile("../pipeline/testdata/graph/shop_dataflow.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), graph.Text(model)); diff != "" {
		t.Errorf("the staged graph, -golden +got:\n%s", diff)
	}

	// The demo's messages are JSON: with a schema of Avro they would all be dead letters.
	args = append(s.commandLine(t, otherSink, "avro_schema"), "--template_location=gs://bucket/launches/2/job_object")
	if stderr, err := s.run(t, program, args...); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	job = dataflow.Job{}
	if err := json.Unmarshal(s.object(t, "gs://bucket/launches/2/job_object"), &job); err != nil {
		t.Fatal(err)
	}
	s.runStaged(t, s.model(t, &job), program)
}

// model returns the pipeline that was staged for a job.
func (s *services) model(t *testing.T, job *dataflow.Job) *pipepb.Pipeline {
	t.Helper()
	var sdk struct {
		Options struct{ PipelineURL string }
	}
	if err := json.Unmarshal(job.Environment.SdkPipelineOptions, &sdk); err != nil {
		t.Fatal(err)
	}
	model := new(pipepb.Pipeline)
	if err := proto.Unmarshal(s.object(t, sdk.Options.PipelineURL), model); err != nil {
		t.Fatal(err)
	}
	return model
}

// What the launcher gets wrong is told before anything is staged.
func TestTemplate_refused(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds and runs the real command")
	}
	program := buildProgram(t, readDockerfile(t)[0])
	s := startServices(t)
	for name, test := range map[string]struct{ flag, want string }{
		"no such configuration": {"--config=gs://bucket/none.yaml", "launch: reading the configuration: gs://bucket/none.yaml: "},
		"no bucket":             {"--config=gs://none/none.yaml", "launch: reading the configuration: gs://none/none.yaml: "},
		"no such subscription":  {"--subscription=projects/demo/subscriptions/none", "projects/demo/subscriptions/none"},
		"a bad value":           {"--window=soon", `launch: invalid value "soon" for flag --window`},
		"two sinks":             {"--dead_letter_table=ops.dead", "give just one of topic, table and directory"},
	} {
		stderr, err := s.run(t, program, append(s.commandLine(t, otherSink), test.flag)...)
		if err == nil || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: got %v, %s\nwant %s", name, err, stderr, test.want)
		}
		objects, err := s.storage.ListObjectsWithOptionsPaginated("bucket", fakestorage.ListOptions{Prefix: "staging/"})
		if err != nil || len(objects.Objects) > 0 {
			t.Errorf("%s: something is staged: %v", name, err)
		}
	}
}
