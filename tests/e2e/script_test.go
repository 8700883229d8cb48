package e2e

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts run the real commands. Besides testscript's own, they have
//
//	status N COMMAND ARGS…   runs a command and wants exit status N
//	lines stdout|stderr N    wants N lines in what the last command printed
//	rest METHOD PATH [FILE]  calls the REST API of the script's BigQuery emulator
//
// and a Pub/Sub and a BigQuery of their own: $PUBSUB, $REST and $GRPC, of which
// $DEAD is an address that nothing listens at. The subscription of their
// configurations is there, and so is the topic for dead letters.
func TestScripts(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	directory := filepath.Dir(binary(t, "local"))
	binary(t, "launch")
	dead := deadAddress(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			s, err := newServices()
			if err != nil {
				return err
			}
			env.Defer(s.close)
			env.Setenv("PATH", directory+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("PUBSUB", s.pubsub.Addr)
			env.Setenv("REST", s.bigquery.RESTAddr())
			env.Setenv("GRPC", s.bigquery.GRPCAddr())
			env.Setenv("DEAD", dead)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status, "lines": lines, "rest": rest,
		},
	})
}

// deadAddress returns an address of this machine that nothing listens at.
func deadAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("%s exited with %d, want %d", args[1], code, want)
	}
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines stdout|stderr N")
	}
	text := ts.ReadFile(args[0])
	if got := strconv.Itoa(strings.Count(text, "\n")); got != args[1] || text != "" && !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s has %s lines, want %s:\n%s", args[0], got, args[1], text)
	}
}

func rest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: rest METHOD PATH [FILE]")
	}
	body := ""
	if len(args) == 3 {
		body = ts.ReadFile(args[2])
	}
	request, err := http.NewRequest(args[0], ts.Getenv("REST")+args[1], strings.NewReader(body))
	ts.Check(err)
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		text, _ := io.ReadAll(response.Body) // it is for people
		ts.Fatalf("%s %s: %s\n%s", args[0], args[1], response.Status, text)
	}
}
