package templates

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// stage is one of a Dockerfile's, as far as this one goes.
type stage struct {
	name, from   string
	runs         []string
	copies       []copied
	env          map[string]string
	entrypoint   []string
	user         string
	instructions int
}

// copied is a COPY of one file from another stage.
type copied struct {
	from, source, target string
	mode                 int64
}

// readDockerfile returns the stages of templates/Dockerfile. An instruction that the
// tests would not follow is an error, so that the image they assemble is the file's.
func readDockerfile(t *testing.T) []stage {
	t.Helper()
	data, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	arguments := make(map[string]string)
	var stages []stage
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line = os.Expand(line, func(name string) string { return arguments[name] })
		instruction, rest, _ := strings.Cut(line, " ")
		words := strings.Fields(rest)
		switch instruction {
		case "ARG":
			name, value, ok := strings.Cut(rest, "=")
			if !ok || len(stages) > 0 {
				t.Fatalf("%s: an argument without a value, or one within a stage", line)
			}
			arguments[name] = value
			continue
		case "FROM":
			s := stage{from: words[0], env: make(map[string]string)}
			if len(words) == 3 {
				s.name = words[2]
			}
			stages = append(stages, s)
			continue
		}
		s := &stages[len(stages)-1]
		s.instructions++
		switch instruction {
		case "RUN":
			s.runs = append(s.runs, rest)
		case "WORKDIR": // of the stage that builds
		case "COPY":
			if !strings.HasPrefix(words[0], "--") { // the sources, into the stage that builds
				continue
			}
			c := copied{source: words[len(words)-2], target: words[len(words)-1]}
			for _, option := range words[:len(words)-2] {
				switch name, value, _ := strings.Cut(option, "="); name {
				case "--from":
					c.from = value
				case "--chmod":
					for _, digit := range value {
						c.mode = c.mode*8 + int64(digit-'0')
					}
				default:
					t.Fatalf("%s: the option %s is not followed", line, option)
				}
			}
			s.copies = append(s.copies, c)
		case "ENV":
			name, value, _ := strings.Cut(rest, "=")
			s.env[name] = value
		case "USER":
			s.user = rest
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(rest), &s.entrypoint); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		default:
			t.Fatalf("%s: the instruction is not followed", line)
		}
	}
	return stages
}

// The launcher is pinned, the program is static and in one place, and the launcher is
// told where.
func TestDockerfile(t *testing.T) {
	stages := readDockerfile(t)
	if len(stages) != 2 {
		t.Fatalf("%d stages", len(stages))
	}
	build, image := stages[0], stages[1]
	for _, s := range stages {
		if tag := s.from[strings.LastIndex(s.from, "/")+1:]; !strings.Contains(tag, ":") || strings.HasSuffix(tag, ":latest") {
			t.Errorf("%s is not pinned", s.from)
		}
	}
	if command := build.runs[len(build.runs)-1]; !strings.Contains(command, "CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build") || !strings.HasSuffix(command, " ./cmd/launch") {
		t.Errorf("the program is built by %s", command)
	}
	if len(image.copies) != 1 || image.copies[0].from != build.name || image.copies[0].target != image.env["FLEX_TEMPLATE_GO_BINARY"] {
		t.Errorf("copied is %+v, and the launcher is told %+v", image.copies, image.env)
	}
	if !slices.Equal(image.entrypoint, []string{"/opt/google/dataflow/go_template_launcher"}) {
		t.Errorf("the entry point is %s", image.entrypoint)
	}
}
