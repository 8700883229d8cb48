package main

import (
	"cmp"
	"flag"
	"net"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
)

// The runners that --runner may name, with Beam's name of each.
var runnerNames = map[string]string{
	"direct":         "prism",
	"prism":          "prism",
	"PrismRunner":    "prism",
	"dataflow":       "dataflow",
	"DataflowRunner": "dataflow",
	"flink":          "flink",
	"FlinkRunner":    "flink",
}

// runner returns Beam's name of the runner that the flags ask for.
func runner() (string, error) {
	if *runners.Runner == "" {
		return "prism", nil
	}
	name, ok := runnerNames[*runners.Runner]
	if !ok {
		return "", usageErrorf("there is no runner %q; --runner is direct, dataflow or flink", *runners.Runner)
	}
	return name, nil
}

// defaultJobServer is where Flink's job server listens unless it is told otherwise.
const defaultJobServer = "localhost:8099"

// completeFlink fills in what the flags leave open for Flink. It reports whether the
// workers are in this process, as they are by default where the job server is on this
// machine: elsewhere the workers could not reach it.
func completeFlink(flags *flag.FlagSet) (loopback bool, err error) {
	endpoint := cmp.Or(valueOf(flags, "endpoint"), defaultJobServer)
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false, usageErrorf("--endpoint %q is no address of a job server, host:port", endpoint)
	}
	ip := net.ParseIP(host)
	here := host == "localhost" || ip != nil && ip.IsLoopback()
	environment := strings.ToUpper(valueOf(flags, "environment_type"))
	switch {
	case environment == "" && here:
		environment = "LOOPBACK"
	case environment == "":
		return false, usageErrorf("--environment_type is missing; give DOCKER, PROCESS or EXTERNAL, where Flink at %s is to run the workers", endpoint)
	}
	for name, text := range map[string]string{"endpoint": endpoint, "environment_type": environment} {
		if err := flags.Set(name, text); err != nil {
			return false, usageErrorf("--%s %s: %w", name, text, err)
		}
	}
	return environment == "LOOPBACK", nil
}
