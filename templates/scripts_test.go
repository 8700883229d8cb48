package templates

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/pipeline"
)

// The scripts say what they would run, and README.md shows the same commands.
func TestScripts(t *testing.T) {
	for _, test := range []struct {
		script    []string
		env, want string
	}{
		{
			[]string{"./run", "gs://b/t.json", "p", "europe-west1", "gs://bucket", "shop", "pipeline.yaml", "window=10s", "flat_fields=op,lsn"},
			"SERVICE_ACCOUNT=a@p.iam.gserviceaccount.com",
			"gcloud storage cp pipeline.yaml gs://bucket/configurations/shop.yaml\n" +
				"gcloud dataflow flex-template run shop --project p --region europe-west1 --template-file-gcs-location gs://b/t.json" +
				" --staging-location gs://bucket/staging --temp-location gs://bucket/temp" +
				" --parameters ^~^config=gs://bucket/configurations/shop.yaml~window=10s~flat_fields=op,lsn" +
				" --service-account-email a@p.iam.gserviceaccount.com\n",
		},
		{
			[]string{"./run", "gs://b/t.json", "p", "r", "bucket", "shop", "gs://c/pipeline.yaml"},
			"UPDATE=1",
			"gcloud dataflow flex-template run shop --project p --region r --template-file-gcs-location gs://b/t.json" +
				" --staging-location gs://bucket/staging --temp-location gs://bucket/temp --parameters ^~^config=gs://c/pipeline.yaml --update\n",
		},
	} {
		command := exec.Command(test.script[0], test.script[1:]...)
		command.Env = append(command.Environ(), "DRY_RUN=1", test.env)
		out, err := command.Output()
		if diff := cmp.Diff(test.want, string(out)); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", test.script, err, diff)
		}
	}
	command := exec.Command("./publish", "p", "europe-west1", "repository", "bucket", "1")
	command.Env = append(command.Environ(), "DRY_RUN=1")
	out, err := command.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := "gcloud dataflow flex-template build gs://bucket/templates/beamcdc-1.json --project p" +
		" --image europe-west1-docker.pkg.dev/p/repository/beamcdc:1 --sdk-language GO --metadata-file templates/metadata.json"
	if err != nil || len(lines) < 3 || lines[len(lines)-2] != want || lines[len(lines)-1] != "gs://bucket/templates/beamcdc-1.json" {
		t.Errorf("publish: %v\n%s", err, out)
	}
	for _, pattern := range []string{
		`(?m)^env GOBIN=\S+ go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v\d+\.\d+\.\d+$`,
		`(?m)^env CGO_ENABLED=0 GOOS=linux GOARCH=amd64 \S+/cyclonedx-gomod app -json -licenses -main cmd/launch -output \S+/beamcdc-1\.cdx\.json \.$`,
		`(?m)^gcloud storage cp \S+/beamcdc-1\.cdx\.json gs://bucket/templates/$`,
	} {
		if !regexp.MustCompile(pattern).Match(out) {
			t.Errorf("publish makes no SBOM by %s:\n%s", pattern, out)
		}
	}
	for _, script := range []string{"./run", "./publish"} {
		if out, err := exec.Command(script).CombinedOutput(); err == nil || !strings.Contains(string(out), "templates"+script[1:]+" ") {
			t.Errorf("%s without arguments: %v\n%s", script, err, out)
		}
	}
}

// What the Terraform example gives the job are parameters of the template, and its
// configuration is one, with them.
func TestTerraform(t *testing.T) {
	data, err := os.ReadFile("terraform/job.tf")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(data), "parameters = {\n")
	block, _, _ = strings.Cut(block, "}\n\n")
	names := make(map[string]bool)
	for _, p := range readMetadata(t).Parameters {
		names[p.Name] = true
	}
	given := regexp.MustCompile(`(?m)^\s+(\w+)\s+=`).FindAllStringSubmatch(block, -1)
	if !found || len(given) < 3 {
		t.Fatalf("no parameters in job.tf: %s", block)
	}
	o, err := pipeline.Load("terraform/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, parameter := range given {
		name := parameter[1]
		if !names[name] {
			t.Errorf("the template has no parameter %s", name)
		}
		if name != "config" {
			if err := o.Set(name, parameters[name]); err != nil {
				t.Error(err)
			}
		}
	}
	o.RunnerOwnsSource = true
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob("terraform/*.tf")
	if err != nil || len(files) < 6 {
		t.Errorf("%d files: %v", len(files), err)
	}
}
