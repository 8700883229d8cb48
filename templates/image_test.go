package templates

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// entry is a file of a layer.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// layerOf returns a layer with these files and the folders that they are in.
func layerOf(t *testing.T, entries ...entry) v1.Layer {
	t.Helper()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	folders := make(map[string]bool)
	for _, e := range entries {
		for i, r := range e.name[1:] {
			if folder := e.name[1 : i+2]; r == '/' && !folders[folder] {
				folders[folder] = true
				if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name[1:], Mode: e.mode, Size: int64(len(e.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := buffer.Bytes()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// standIn is what is known of the launcher's image: it is for linux/amd64, and has a
// launcher at a place that Google documents. What it does is TestLaunch's to play.
func standIn(t *testing.T) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layerOf(t, entry{"/opt/google/dataflow/go_template_launcher", 0o755, []byte("a stand-in\n")}))
	if err == nil {
		image, err = mutate.ConfigFile(image, withPlatform(t, image))
	}
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func withPlatform(t *testing.T, image v1.Image) *v1.ConfigFile {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config.Env = []string{"PATH=/usr/bin"}
	return config
}

var (
	program  string // is built once
	building sync.Once
)

// buildProgram builds the program as the Dockerfile does, but for -trimpath, with
// which all that it needs would be compiled anew.
func buildProgram(t *testing.T, build stage) string {
	t.Helper()
	building.Do(func() {
		directory, err := os.MkdirTemp("", "beamcdc-template-*") //nolint:usetesting // it outlives the test that is first
		if err != nil {
			t.Fatal(err)
		}
		program = buildIn(t, build, directory)
	})
	if program == "" {
		t.Fatal("the program was not built")
	}
	return program
}

// TestMain takes the program away in the end.
func TestMain(m *testing.M) {
	code := m.Run()
	if program != "" {
		_ = os.RemoveAll(filepath.Dir(program)) // the system cleans up what is left
	}
	os.Exit(code)
}

func buildIn(t *testing.T, build stage, directory string) string {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(build.runs[len(build.runs)-1], `"`, ""))
	command := slices.Index(words, "go")
	target := slices.Index(words, "-o") + 1
	output := filepath.Join(directory, path.Base(words[target]))
	words[target] = output
	words = slices.DeleteFunc(words, func(word string) bool { return word == "-trimpath" })
	arguments := strings.Fields(strings.Replace(strings.Join(words[command+1:], " "), "-ldflags=-s -w", "-ldflags=-s\x00-w", 1))
	for i := range arguments {
		arguments[i] = strings.ReplaceAll(arguments[i], "\x00", " ")
	}
	run := exec.Command("go", arguments...)
	run.Dir = ".."
	run.Env = append(run.Environ(), words[:command]...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return output
}

// assemble makes the image that the Dockerfile describes, on the stand-in, by way of
// a registry, and returns it as a launcher's machine pulls it.
func assemble(t *testing.T) (image v1.Image, built string) {
	t.Helper()
	stages := readDockerfile(t)
	last := stages[len(stages)-1]
	built = buildProgram(t, stages[0])

	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	base := reference(t, host+"/"+last.from[strings.Index(last.from, "/")+1:])
	if err := remote.Write(base, standIn(t)); err != nil {
		t.Fatal(err)
	}

	image, err := remote.Image(base)
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for _, c := range last.copies {
		content, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{c.target, c.mode, content})
	}
	if image, err = mutate.AppendLayers(image, layerOf(t, entries...)); err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	changed := *config.Config.DeepCopy()
	for _, variable := range slices.Sorted(maps.Keys(last.env)) {
		changed.Env = append(changed.Env, variable+"="+last.env[variable])
	}
	changed.Entrypoint, changed.User = last.entrypoint, last.user
	if image, err = mutate.Config(image, changed); err != nil {
		t.Fatal(err)
	}

	published := reference(t, host+"/project/repository/beamcdc:test")
	if err := remote.Write(published, image); err != nil {
		t.Fatal(err)
	}
	want, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Image(published.Context().Digest(want.String()))
	if err != nil {
		t.Fatal(err)
	}
	return pulled, built
}

func reference(t *testing.T, text string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// extract writes a file of the image to a directory, with its mode, and returns where.
func extract(t *testing.T, image v1.Image, file, directory string) string {
	t.Helper()
	files := mutate.Extract(image)
	defer func() { _ = files.Close() }()
	for r := tar.NewReader(files); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("the image has no %s", file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name != file[1:] {
			continue
		}
		to := filepath.Join(directory, path.Base(file))
		out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, header.FileInfo().Mode().Perm())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, r); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return to
	}
}

// checkImage holds the pulled image against what a launcher needs, and returns the
// program that it would run.
func checkImage(t *testing.T, image v1.Image, built string) string {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != "amd64" {
		t.Errorf("the image is for %s/%s", config.OS, config.Architecture)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 2 || len(config.RootFS.DiffIDs) != 2 {
		t.Errorf("the image has %d layers, want the launcher's and one more: %v", len(layers), err)
	}
	if !slices.Contains(config.Config.Env, "PATH=/usr/bin") {
		t.Errorf("the launcher's environment is lost: %s", config.Config.Env)
	}
	directory := t.TempDir()
	extract(t, image, config.Config.Entrypoint[0], directory)
	var binary string
	for _, variable := range config.Config.Env {
		if value, ok := strings.CutPrefix(variable, "FLEX_TEMPLATE_GO_BINARY="); ok {
			binary = extract(t, image, value, directory)
		}
	}
	want, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(binary)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the image's program is another than was built: %v", err)
	}
	if info, err := os.Stat(binary); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("the program's mode is %v", info.Mode())
	}
	return binary
}
