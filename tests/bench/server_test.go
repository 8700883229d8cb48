package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"beamcdc/emulator"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/counting"
)

// serverVariable holds the file of a configuration. A test binary that has it is a
// BigQuery of tables by the configuration's first rule: what it costs is not the
// processor time of the process that writes to it. kindVariable holds which.
const (
	serverVariable = "BEAMCDC_BENCH_SERVER"
	kindVariable   = "BEAMCDC_BENCH_SERVER_KIND"
)

// serverKind is a kind of BigQuery.
type serverKind string

const (
	counts   serverKind = "counts"   // rows, and forgets them
	emulates serverKind = "emulates" // is the emulator, with the table shop.t0; nothing is applied
)

// serve is such a server, until its input ends.
func serve(file string) error {
	config, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rules := pipeline.Parse(file, config)
	var grpcAddr, restAddr string
	if serverKind(os.Getenv(kindVariable)) == emulates {
		server, err := emulator.New(emulator.Options{Project: project})
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }()
		server.HoldApplies(true)
		t, err := table.FromRule(table.Name{Project: project, Dataset: "shop", Table: "t0"}, &rules.Tables[0])
		if err != nil {
			return err
		}
		if err := errors.Join(server.CreateDataset(context.Background(), "shop"), runQuery(server.RESTAddr(), t.DDL())); err != nil {
			return err
		}
		grpcAddr, restAddr = server.GRPCAddr(), server.RESTAddr()
	} else {
		server, err := counting.Start(func(string, string) *table.Rule { return &rules.Tables[0] })
		if err != nil {
			return err
		}
		defer server.Close()
		grpcAddr, restAddr = server.GRPCAddr, server.RESTAddr
	}
	fmt.Println(grpcAddr, restAddr)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startServer starts one in a process of its own.
func startServer(tb testing.TB, config string, kind serverKind) (grpcAddr, restAddr string) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), serverVariable+"="+file, kindVariable+"="+string(kind))
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
