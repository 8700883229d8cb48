package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"beamcdc/tests/internal/emulatorcmd"
)

// beamOutput is what Beam's program prints: the row that it couldn't write.
var beamOutput = regexp.MustCompile(`^refused: four: [^\n]*Value: four [^\n]*\n$`)

// sharedOutput is what the programs of Google's libraries print: what the README shows.
// The code's name at its end is each language's own.
func sharedOutput(t *testing.T, readme string) *regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := bytes.Cut(text, []byte("```text\n"))
	output, _, ended := bytes.Cut(text, []byte("NotFound\n```"))
	if !found || !ended {
		t.Fatalf("%s has no output that ends with NotFound", readme)
	}
	return regexp.MustCompile("^" + regexp.QuoteMeta(string(output)) + "(NotFound|NOT_FOUND)\n$")
}

func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs Python, Java and Maven")
	}
	root, err := filepath.Abs("../../examples/clients")
	if err != nil {
		t.Fatal(err)
	}
	goProgram := filepath.Join(t.TempDir(), "example")
	if out, err := exec.Command("go", "build", "-o", goProgram, "beamcdc/examples/clients/go").CombinedOutput(); err != nil {
		t.Fatalf("building the Go program: %v\n%s", err, out)
	}
	shared := sharedOutput(t, root+"/README.md")
	emulator := start(t, "--project=demo", "--dataset=go", "--dataset=python", "--dataset=java", "--dataset=beam")
	for _, test := range []struct {
		name    string
		needs   string // a file that tests/clients/install makes
		command []string
		stdout  *regexp.Regexp
	}{
		{"go", goProgram, []string{
			goProgram, "--project=demo", "--dataset=go", "--grpc=" + emulator.GRPC, "--rest=" + emulator.REST,
		}, shared},
		{"python", root + "/python/.venv/installed", []string{
			root + "/python/.venv/bin/python", root + "/python/main.py",
			"--project=demo", "--dataset=python", "--grpc=" + emulator.GRPC, "--rest=" + emulator.REST,
		}, shared},
		{"java", root + "/java/target/example.jar", []string{
			"java", "-jar", root + "/java/target/example.jar",
			"--project=demo", "--dataset=java", "--grpc=" + emulator.GRPC, "--rest=" + emulator.REST,
		}, shared},
		{"beam", root + "/beam-java/target/example.jar", []string{
			"java", "-Dbigquery.emulator.grpc=" + emulator.GRPC, "-jar", root + "/beam-java/target/example.jar",
			"--bigQueryEndpoint=" + emulator.REST, "--project=demo", "--table=demo:beam.orders",
			"--credentialFactoryClass=org.apache.beam.sdk.extensions.gcp.auth.NoopCredentialFactory",
		}, beamOutput},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := os.Stat(test.needs); err != nil {
				t.Fatalf("not prepared: %v\nrun tests/clients/install, which needs Python 3, a JDK 17 and Maven", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			command := exec.CommandContext(ctx, test.command[0], test.command[1:]...)
			var stdout, stderr bytes.Buffer
			command.Stdout, command.Stderr = &stdout, &stderr
			if err := command.Run(); err != nil {
				t.Fatalf("%v\nstandard output:\n%s\nstandard error:\n%s", err, &stdout, &stderr)
			}
			if !test.stdout.Match(stdout.Bytes()) {
				t.Errorf("standard output:\n%s\nwant what matches:\n%s\nstandard error:\n%s", &stdout, test.stdout, &stderr)
			}
			if diff := cmp.Diff([]string{"1 cancelled", "2 placed"}, orders(t, emulator, test.name)); diff != "" {
				t.Errorf("the table it left (-want +got):\n%s", diff)
			}
		})
	}
}

// orders reads the table that a program left, by a client that isn't the program's.
func orders(t *testing.T, emulator *emulatorcmd.Process, dataset string) []string {
	t.Helper()
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(emulator.REST), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	var rows []string
	for read := client.Dataset(dataset).Table("orders").Read(t.Context()); ; {
		var row []bigquery.Value
		err := read.Next(&row)
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprint(row[0], " ", row[1]))
	}
	slices.Sort(rows)
	return rows
}
