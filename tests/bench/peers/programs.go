package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"beamcdc/tests/internal/orders"
)

// program is one way to bring the messages to BigQuery.
type program struct {
	name    string
	build   func(ctx context.Context, directory string) error
	command func(p *peer, s *settings, directory string) *exec.Cmd
	slow    int // a turn has 1 message in so many, so that it lasts about as long as ours
}

var programs = []program{
	{"ours", goBuild("launch", "./cmd/launch"), ours, 1},
	{"plain", goBuild("plain", "./tests/bench/peers/plain"), func(p *peer, _ *settings, directory string) *exec.Cmd {
		return exec.Command(filepath.Join(directory, "plain"),
			"-pubsub", p.feed.GRPCAddr, "-bigquery", p.bigquery.grpc, "-subscription", subscription)
	}, 1},
	// The same bytes as a bounded collection, a pipeline for each lot: what Beam's direct
	// runner is quickest with. It checks that DoFns leave their input alone and that all
	// elements can be encoded, unless it is told not to.
	{"java", mavenBuild, java(), 10},
	{"java-unchecked", mavenBuild, java("--enforceImmutability=false", "--enforceEncodability=false"), 10},
	// The same collections, decoded by Python and written by Java's BigQueryIO, with Prism
	// between them.
	{"python", pythonBuild, python, 10},
	// By PubsubIO, as ours. The runner reads ten messages at a time then.
	{"java-pubsub", mavenBuild, java("--fromPubsub"), 600},
}

func names() []string {
	list := make([]string, len(programs))
	for i := range programs {
		list[i] = programs[i].name
	}
	return list
}

func goBuild(name, folder string) func(context.Context, string) error {
	return func(ctx context.Context, directory string) error {
		c := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(directory, name), folder)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		return c.Run()
	}
}

const (
	mavenFolder = "tests/bench/peers/java"
	jar         = mavenFolder + "/target/peer.jar"
)

// mavenBuild builds the jar with its libraries beside it, unless it is newer than its recipe.
func mavenBuild(ctx context.Context, _ string) error {
	if newer(jar, mavenFolder+"/pom.xml") {
		return nil
	}
	c := exec.CommandContext(ctx, "mvn", "--quiet", "--batch-mode", "--file", mavenFolder+"/pom.xml", "package")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("mvn, which tests/clients/install installs, with a JDK: %w", err)
	}
	return nil
}

// newer is whether a file is there and newer than another.
func newer(file, than string) bool {
	a, err := os.Stat(file)
	b, otherErr := os.Stat(than)
	return err == nil && otherErr == nil && a.ModTime().After(b.ModTime())
}

const pythonFolder = "tests/bench/peers/python"

// venv is Python's environment. It is kept between runs, and outside of the project: it
// has thousands of files.
func venv() (string, error) {
	directory, err := os.UserCacheDir()
	return filepath.Join(directory, "beamcdc-peers-python"), err
}

// pythonBuild builds Java's half and Prism, and installs Beam for Python in an
// environment of its own, unless it is there.
func pythonBuild(ctx context.Context, directory string) error {
	if err := mavenBuild(ctx, directory); err != nil {
		return err
	}
	if err := goBuild("prism", "github.com/apache/beam/sdks/v2/go/cmd/prism")(ctx, directory); err != nil {
		return err
	}
	environment, err := venv()
	if err != nil {
		return err
	}
	list := pythonFolder + "/requirements.txt"
	requirements, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	installed := filepath.Join(environment, "installed.txt") // what is, written when all is
	if text, err := os.ReadFile(installed); err == nil && bytes.Equal(text, requirements) {
		return nil
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", "--clear", environment},
		{filepath.Join(environment, "bin/pip"), "install", "--quiet", "--requirement", list},
	} {
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
	}
	return os.WriteFile(installed, requirements, 0o600)
}

func python(p *peer, _ *settings, directory string) *exec.Cmd {
	environment, err := venv()
	if err != nil {
		panic(err) // pythonBuild had it
	}
	libraries := mavenFolder + "/target/lib"
	return exec.Command(filepath.Join(environment, "bin/python"), pythonFolder+"/main.py", "--pubsub="+p.feed.RESTAddr, "--subscription="+subscription,
		"--prism="+filepath.Join(directory, "prism"), "--",
		"java", "-Dbigquery.emulator.grpc="+p.bigquery.grpc, "-javaagent:"+libraries+"/jamm-0.4.0.jar", "-cp", jar+":"+libraries+"/*",
		"org.apache.beam.sdk.expansion.service.ExpansionService", "PORT", "--alsoStartLoopbackWorker=true", "--project=demo",
		"--bigQueryEndpoint="+p.bigquery.rest, "--credentialFactoryClass=org.apache.beam.sdk.extensions.gcp.auth.NoopCredentialFactory")
}

func ours(p *peer, s *settings, directory string) *exec.Cmd {
	config := filepath.Join(directory, "config.yaml")
	if err := os.WriteFile(config, []byte(orders.Config), 0o600); err != nil {
		panic(err) // a temporary directory of our own
	}
	return exec.Command(filepath.Join(directory, "launch"), "--runner=prism", "--config="+config, "--window="+s.window.String(),
		"--bigquery_project=demo", "--subscription="+subscription, "--pubsub_endpoint="+p.feed.GRPCAddr, "--pubsub_plaintext",
		"--bigquery_rest_endpoint="+p.bigquery.rest, "--bigquery_grpc_endpoint="+p.bigquery.grpc, "--bigquery_plaintext",
		"--dead_letter_directory="+filepath.Join(directory, "letters"))
}

func java(options ...string) func(*peer, *settings, string) *exec.Cmd {
	return func(p *peer, _ *settings, _ string) *exec.Cmd {
		return exec.Command("java", append([]string{
			"-Dbigquery.emulator.grpc=" + p.bigquery.grpc, "-jar", jar, "--runner=DirectRunner", "--project=demo",
			"--subscription=" + subscription, "--pubsubRootUrl=" + p.feed.RESTAddr, "--bigQueryEndpoint=" + p.bigquery.rest,
			"--credentialFactoryClass=org.apache.beam.sdk.extensions.gcp.auth.NoopCredentialFactory",
		}, options...)...)
	}
}
