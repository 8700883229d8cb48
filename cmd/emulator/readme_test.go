package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"beamcdc/emulator"
)

// What the clients' README says about time and faults works as it stands.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../examples/clients/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Time and faults\n")
	_, faults, _ := strings.Cut(section, "```yaml\n")
	faults, _, _ = strings.Cut(faults, "```")
	list, err := emulator.ParseFaults([]byte(faults))
	if err != nil || len(list) == 0 {
		t.Fatalf("%d faults, error %v", len(list), err)
	}
	cmd := command(t, "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_, rest, ok := strings.Cut(strings.TrimSpace(line), "rest=")
	if err != nil || !ok {
		t.Fatalf("ready line %q, error %v", line, err)
	}
	commands := regexp.MustCompile(`(?m)^curl(?: -X (\w+))?(?: -d '(.*)')?( --data-binary @faults.yaml)? http://127.0.0.1:9050(/emulator/v1/\w+)$`).FindAllStringSubmatch(section, -1)
	if len(commands) != strings.Count(section, "/emulator/v1/") {
		t.Errorf("%d commands, of %d addresses", len(commands), strings.Count(section, "/emulator/v1/"))
	}
	for _, c := range commands {
		method, body := c[1], c[2]
		if c[3] != "" {
			body = faults
		}
		r, err := http.NewRequestWithContext(t.Context(), method, rest+c[4], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s, error %v", c[0], answer.Status, said, err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
