package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"beamcdc/internal/graph"
	"beamcdc/pipeline"
)

// describe prints the graph, and for Dataflow the job as it would be submitted. It
// asks no service.
func describe(runner string, o pipeline.Options, stdout io.Writer) error {
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, o)
	model, err := graph.Of(p)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(stdout, graph.Text(model)); err != nil || runner != "dataflow" {
		return err
	}
	// Beam prints the job to its log and gives it to nobody.
	log := &jobLog{rest: beamlog.Logger(&beamlog.Structural{})}
	beamlog.SetLogger(log)
	_, err = beam.Run(context.Background(), runner, p)
	beamlog.SetLogger(log.rest)
	if err != nil {
		return fmt.Errorf("describing the job: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "\n%s\n", log.job)
	return err
}

// jobLog keeps what Beam logs of a dry run's job. Of the rest it passes on warnings
// and errors, but that there are no credentials: none are used.
type jobLog struct {
	rest beamlog.Logger
	job  string
}

func (l *jobLog) Log(ctx context.Context, severity beamlog.Severity, depth int, message string) {
	switch {
	case strings.HasPrefix(message, "{") && json.Valid([]byte(message)):
		l.job = message
	case severity >= beamlog.SevWarn && !strings.HasPrefix(message, "Error creating GCS client"):
		l.rest.Log(ctx, severity, depth+1, message)
	}
}
