package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"beamcdc/pipeline"
)

const usageHead = `launch runs the pipeline that keeps BigQuery tables equal to a database's.

Usage: launch --config FILE [--runner RUNNER] [FLAGS]

  --config FILE      the pipeline's configuration, YAML: a file, or gs://BUCKET/FILE
  --runner RUNNER    direct (default): in this process, until SIGTERM or SIGINT;
                     dataflow: submitted as a job; flink: submitted to a job server
  --dry_run          print the graph, and the job for dataflow; ask no service
  --check=false      start without asking the services whether the pipeline can do its work
  --log_level LEVEL  debug, info, warn or error. Defaults to warn; to info for dataflow
  --log_format F     text (default) or json: an object a line
  --metrics_address HOST:PORT
                     serve /metrics, for Prometheus, and /healthz there, while the workers are in
                     this process. Without a host it is 127.0.0.1: there is no TLS. Off by default
  --unhealthy_after D
                     how long nothing may be acked while messages wait, or Pub/Sub be out of reach,
                     before /healthz answers 503; the window and fill.hold_for come on top. Defaults to 5m
  --version          print which commit this program was built from
`

// beamFlags are those of Beam's that matter, in groups: the rest are named alone.
var beamFlags = []struct {
	title string
	flags [][2]string
}{
	{"Dataflow", [][2]string{
		{"project", "Project that the job runs in. Required."},
		{"region", "Region of the job, such as europe-west1. Required."},
		{"staging_location", "gs://BUCKET/FOLDER for the program. Defaults to staging in temp_location."},
		{"temp_location", "gs://BUCKET/FOLDER for temporary files. Defaults to tmp in staging_location."},
		{"job_name", "Defaults to beamcdc-SUBSCRIPTION."},
		{"service_account_email", "Account that the workers run as."},
		{"worker_machine_type", "Defaults to " + defaultMachineType + "."},
		{"num_workers", "Workers at the start. Defaults to " + fmt.Sprint(defaultWorkers) + "."},
		{"max_num_workers", "Workers at most. Defaults to " + fmt.Sprint(defaultMaxWorkers) + "."},
		{"labels", "JSON, added to application and subscription."},
		{"dataflow_service_options", "Defaults to " + atLeastOnce + "; " + exactlyOnce + " is the other mode."},
		{"worker_binary", "Program of the workers. Defaults to this one, built by CGO_ENABLED=0 for linux/amd64."},
		{"update", "Take over from the job of this name that runs, its state included."},
		{"transform_name_mapping", "JSON, for an update across names that changed; those of ours are known."},
		{"async", "Don't wait for the job's end."},
		{"template_location", "gs://BUCKET/FILE to write the job's description to, instead of running it."},
	}},
	{"Flink", [][2]string{
		{"endpoint", "host:port of Beam's job server for Flink. Defaults to " + defaultJobServer + "."},
		{"environment_type", "Where workers run: LOOPBACK, the default beside the job server, is this process; DOCKER, PROCESS, EXTERNAL."},
		{"parallelism", "Parallel parts of the job."},
	}},
}

const usageTail = `
PUBSUB_EMULATOR_HOST names a Pub/Sub to use instead of Google's, STORAGE_EMULATOR_HOST a Cloud
Storage. Where --bigquery_rest_endpoint is http://…, --bigquery_plaintext is set too.
SIGTERM and SIGINT finish what was taken and leave the rest unacked; a second one ends at once.
In the end one line on standard output tells what became of the messages, a JSON object of counts:
  {"messages": 48, "rows_upserted": 16, "rows_deleted": 5, "superseded": 21, "control": 4, "dead_letters": 2, …}
Exit status: 0 done, 1 it could not run or failed, 2 bad usage or configuration.
`

// usage writes the help: the project's flags first, each with what it is for, then
// Beam's, shorter.
func usage(w io.Writer, flags *flag.FlagSet) {
	var text strings.Builder
	text.WriteString(usageHead)
	told := map[string]bool{"config": true, "runner": true, "dry_run": true, "check": true, "log_level": true, "log_format": true, "metrics_address": true, "unhealthy_after": true}
	text.WriteString("\nThese override the configuration.\n")
	group, width := "", 0
	for _, s := range pipeline.Settings() {
		width = max(width, len(s.Flag))
	}
	for _, s := range pipeline.Settings() {
		if s.Group() != group {
			group = s.Group()
			fmt.Fprintf(&text, "\n%s\n", group)
		}
		told[s.Flag] = true
		fmt.Fprintf(&text, "  --%-*s  %s", width, s.Flag, s.Help)
		if s.Default != "" && s.Default != "false" && s.Default != "0" {
			fmt.Fprintf(&text, " Defaults to %s.", s.Default)
		}
		text.WriteString("\n")
	}
	for _, group := range beamFlags {
		fmt.Fprintf(&text, "\n%s\n", group.title)
		for _, f := range group.flags {
			told[f[0]] = true
			fmt.Fprintf(&text, "  --%-*s  %s\n", width, f[0], f[1])
		}
	}
	var others []string
	flags.VisitAll(func(f *flag.Flag) {
		if !told[f.Name] {
			others = append(others, f.Name)
		}
	})
	text.WriteString("\nOther flags of Beam's\n")
	slices.Sort(others)
	wrap(&text, others)
	text.WriteString(usageTail)
	_, _ = io.WriteString(w, text.String()) // there is nobody to tell
}

// wrap writes words in lines of at most some 100 letters.
func wrap(text *strings.Builder, words []string) {
	const width = 100
	line := " "
	for _, word := range words {
		if len(line)+1+len(word) > width {
			text.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	text.WriteString(line + "\n")
}
