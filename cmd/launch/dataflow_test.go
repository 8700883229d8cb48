package main

import (
	"debug/elf"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/pipeline"
)

// beamsFlags returns a set of Beam's flags of Dataflow, and the job of it.
func beamsFlags(t *testing.T, args string) dataflowJob {
	t.Helper()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	for _, name := range []string{
		"project", "region", "staging_location", "temp_location", "template_location", "job_name", "labels", "worker_machine_type", "machine_type",
		"autoscaling_algorithm", "dataflow_service_options", "experiments", "transform_name_mapping", "worker_binary",
	} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"num_workers", "max_num_workers"} {
		flags.Int64(name, 0, "")
	}
	flags.Bool("update", false, "")
	if err := flags.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	o := pipeline.Options{Source: pipeline.Source{Subscription: "projects/p/subscriptions/Shop.changes"}}
	return dataflowJob{
		flags: flags, options: &o, describe: true,
		project: func() string { return valueOf(flags, "project") },
		region:  func() string { return valueOf(flags, "region") },
	}
}

const placed = "--project p --region r --staging_location gs://b/s "

func TestDataflow(t *testing.T) {
	for args, want := range map[string]map[string]string{
		placed: {
			"job_name": "beamcdc-shop-changes", "labels": `{"application":"beamcdc","subscription":"shop-changes"}`, "num_workers": "1", "max_num_workers": "5",
			"autoscaling_algorithm": "THROUGHPUT_BASED", "worker_machine_type": "n2-standard-2", "dataflow_service_options": "streaming_mode_at_least_once",
			"transform_name_mapping": "", "temp_location": "",
		},
		"--project p --region r --temp_location gs://b/t/":             {"staging_location": "gs://b/t/staging"},
		placed + `--labels {"team":"a","application":"b"}`:             {"labels": `{"application":"b","subscription":"shop-changes","team":"a"}`},
		placed + "--num_workers 9 --machine_type c3-standard-4":        {"num_workers": "9", "max_num_workers": "9", "worker_machine_type": ""},
		placed + "--dataflow_service_options enable_prime":             {"dataflow_service_options": "enable_prime,streaming_mode_at_least_once"},
		placed + "--dataflow_service_options " + exactlyOnce:           {"dataflow_service_options": exactlyOnce},
		placed + "--experiments streaming_mode_at_least_once":          {"dataflow_service_options": ""},
		placed + `--job_name j --update`:                               {"job_name": "j", "transform_name_mapping": ""},
		placed + `--update --transform_name_mapping {"old":"new"}`:     {"transform_name_mapping": `{"old":"new"}`},
		placed + "--autoscaling_algorithm NONE --max_num_workers=0":    {"autoscaling_algorithm": "NONE", "max_num_workers": "5"},
		placed + "--template_location gs://b/job --worker_binary none": {"worker_binary": "none"},
	} {
		job := beamsFlags(t, args)
		if err := job.complete(); err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		for name, text := range want {
			if got := valueOf(job.flags, name); got != text {
				t.Errorf("%s: --%s is %s, want %s", args, name, got, text)
			}
		}
	}
}

func TestDataflow_problems(t *testing.T) {
	for args, want := range map[string]string{
		"": "--project is missing; give the project that the job runs in\n" +
			"--region is missing; give the region that the job runs in, such as europe-west1\n" +
			"--staging_location is missing; give a folder of Cloud Storage in the job's region, gs://BUCKET/FOLDER",
		"--project p --region r --staging_location /tmp": `--staging_location "/tmp" is no place in Cloud Storage; it must read gs://BUCKET/FOLDER`,
		"--project p --region r --temp_location gs://":   `--temp_location "gs://" is no place in Cloud Storage; it must read gs://BUCKET/FOLDER`,
		placed + "--labels team=a":                       `--labels is not a JSON object of texts, such as {"team": "orders"}`,
		placed + `--labels {"Team":"a"}`:                 `--labels: "Team": "a" is no label: it takes small letters, digits, _ and -, 63 at most`,
		placed + "--job_name Shop":                       `--job_name "Shop" is none: it takes a-z, 0-9 and -, and begins with a letter`,
		placed + "--num_workers 3 --max_num_workers 2":   "--num_workers 3 is more than --max_num_workers 2",
		placed + "--num_workers -3":                      "--num_workers -3 is no number of workers",
		placed + "--transform_name_mapping {}":           "--transform_name_mapping is for --update",
		placed + "--update --transform_name_mapping x":   `--transform_name_mapping is no JSON object of texts, such as {"old name": "new name"}: invalid character 'x' looking for beginning of value`,
	} {
		job := beamsFlags(t, args)
		err := job.complete()
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", args, err, want)
		}
		if !errors.As(err, new(usageError)) {
			t.Errorf("%s: the error is no usage error", args)
		}
	}
}

// What can't run on a worker is told before it is staged, with what to build.
func TestDataflow_worker(t *testing.T) {
	directory := t.TempDir()
	static, foreign, text := filepath.Join(directory, "static"), filepath.Join(directory, "foreign"), filepath.Join(directory, "text")
	if err := os.WriteFile(filepath.Join(directory, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, arch := range map[string]string{static: "amd64", foreign: "arm64"} {
		build := exec.Command("go", "build", "-o", path, filepath.Join(directory, "main.go"))
		build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dynamic := needsC(t, static, filepath.Join(directory, "dynamic"))

	for name, test := range map[string]struct{ args, self, want, problem string }{
		"itself":               {"", static, static, ""},
		"another":              {"--worker_binary " + static, text, static, ""},
		"itself, no Linux":     {"", text, "", "this program can't run on the workers: it is no program for Linux; build one by CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build"},
		"itself, with cgo":     {"", dynamic, "", "this program can't run on the workers: it needs a C library, which workers lack; build one by CGO_ENABLED=0"},
		"itself, ARM workers":  {"--worker_machine_type t2a-standard-2", static, "", "processor than the workers' arm64; build one by CGO_ENABLED=0 GOOS=linux GOARCH=arm64"},
		"another, ARM workers": {"--machine_type c4a-standard-4 --worker_binary " + foreign, static, foreign, ""},
		"another, no program":  {"--worker_binary " + text, static, "", "--worker_binary " + text + " can't run on the workers: it is no program for Linux; build"},
		"another, not there":   {"--worker_binary " + directory + "/none", static, "", "no such file"},
	} {
		job := beamsFlags(t, placed+test.args)
		job.describe, job.executable = false, func() (string, error) { return test.self, nil }
		err := job.complete()
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("%s: got %v, want %s", name, err, test.problem)
		case test.want != "" && valueOf(job.flags, "worker_binary") != test.want:
			t.Errorf("%s: the worker is %s, want %s", name, valueOf(job.flags, "worker_binary"), test.want)
		}
	}
}

// needsC makes a copy of a static program that says it needs an interpreter, as
// those do that are linked to a C library: its first segment that is none of code becomes one.
func needsC(t *testing.T, static, path string) string {
	t.Helper()
	data, err := os.ReadFile(static)
	if err != nil {
		t.Fatal(err)
	}
	const segments, size = 64, 56 // of a 64-bit header, and of an entry after it
	file, err := elf.Open(static)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for i, segment := range file.Progs {
		if segment.Type != elf.PT_LOAD {
			data[segments+size*i] = byte(elf.PT_INTERP)
			break
		}
	}
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlink(t *testing.T) {
	for args, want := range map[string]struct {
		loopback bool
		problem  string
	}{
		"":                          {true, ""},
		"--endpoint 127.0.0.1:8099": {true, ""},
		"--endpoint localhost:1 --environment_type DOCKER":  {false, ""},
		"--endpoint flink:8099 --environment_type loopback": {true, ""},
		"--endpoint flink:8099":                             {false, "--environment_type is missing"},
		"--endpoint flink":                                  {false, `--endpoint "flink" is no address`},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.String("endpoint", "", "")
		flags.String("environment_type", "", "")
		if err := flags.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		loopback, err := completeFlink(flags)
		if loopback != want.loopback || (err == nil) != (want.problem == "") || err != nil && !strings.Contains(err.Error(), want.problem) {
			t.Errorf("%s: got %v, %v; want %+v", args, loopback, err, want)
		}
		if args == "" && valueOf(flags, "endpoint") != defaultJobServer {
			t.Errorf("the endpoint is %q", valueOf(flags, "endpoint"))
		}
	}
}

func TestTransformNames(t *testing.T) {
	defer func(before map[string]string) { renamed = before }(renamed)
	renamed = map[string]string{"a": "b"}
	for users, want := range map[string]string{"": `{"a":"b"}`, `{"c":"d"}`: `{"a":"b","c":"d"}`, `{"a":"e"}`: `{"a":"e"}`, "{}": "{}"} {
		got, err := transformNames(users)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", users, err, diff)
		}
	}
}
