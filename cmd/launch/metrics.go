package main

import (
	"log/slog"

	"beamcdc/cmd/internal/direct"
	"beamcdc/cmd/internal/monitor"
	"beamcdc/internal/logs"
	"beamcdc/pipeline"
)

// setMetrics checks what is asked of /metrics and /healthz.
func (in *invocation) setMetrics() error {
	if in.patience <= 0 {
		return usageErrorf("--unhealthy_after %v is not above 0", in.patience)
	}
	if in.metrics == "" {
		return nil
	}
	address, err := monitor.CheckAddress(in.metrics)
	if err != nil {
		return usageErrorf("--metrics_address: %w", err)
	}
	in.metrics = address
	return nil
}

// startMetrics serves /metrics and /healthz if that is asked for and the workers are in
// this process. It returns nil if they aren't served.
func (in *invocation) startMetrics(here bool, o pipeline.Options, notes *direct.Notes) (*monitor.Server, error) {
	switch {
	case in.metrics == "":
		return nil, nil
	case !here:
		notes.Tell(slog.LevelWarn, "ignoring --metrics_address: the workers are elsewhere, and the runner shows their metrics", logs.Flag.Of("metrics_address"))
		return nil, nil
	}
	server, err := monitor.Start(in.metrics, monitor.Patience(in.patience, &o))
	if err != nil {
		return nil, usageErrorf("--metrics_address: %w", err)
	}
	notes.Tell(slog.LevelInfo, "serving http://"+server.Addr()+"/metrics and /healthz", logs.Address.Of(server.Addr()))
	return server, nil
}
