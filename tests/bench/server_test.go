package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/counting"
)

// serverVariable holds the file of a configuration. A test binary that has it is a
// BigQuery that counts, of tables by the configuration's first rule: what it costs is
// not the processor time of the process that writes to it.
const serverVariable = "BEAMCDC_BENCH_SERVER"

// serve is such a server, until its input ends.
func serve(file string) error {
	config, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rules := pipeline.Parse(file, config)
	server, err := counting.Start(func(string, string) *table.Rule { return &rules.Tables[0] })
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.GRPCAddr, server.RESTAddr)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startServer starts one in a process of its own.
func startServer(tb testing.TB, config string) (grpcAddr, restAddr string) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), serverVariable+"="+file)
	c.Stderr = os.Stderr
	input, err := c.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	output, err := c.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = input.Close() // which ends it
		_ = c.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &grpcAddr, &restAddr); err != nil {
		tb.Fatalf("%q: %v", line, err)
	}
	return grpcAddr, restAddr
}
