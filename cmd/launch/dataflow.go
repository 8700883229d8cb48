package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"beamcdc/pipeline"
	"beamcdc/transforms/pubsubsource"
)

// What a job on Dataflow has unless the flags say otherwise: it starts small, and a
// backlog makes it grow to what a person who was not asked would still pay.
const (
	defaultMachineType = "n2-standard-2"
	defaultWorkers     = 1
	defaultMaxWorkers  = 5
	atLeastOnce        = "streaming_mode_at_least_once"
	exactlyOnce        = "streaming_mode_exactly_once"
)

// dataflowJob fills in what the flags of Beam's leave open, and reports everything
// that keeps the job from being submitted. It asks no service but what project and
// region find by themselves: the environment.
type dataflowJob struct {
	flags           *flag.FlagSet
	options         *pipeline.Options
	project, region func() string // what the flags and the environment give
	executable      func() (string, error)
	describe        bool // the job is printed alone: no worker's binary is staged
}

// complete sets the flags.
func (j *dataflowJob) complete() error {
	return errors.Join(j.place(), j.name(), j.labels(), j.workers(), j.mode(), j.update(), j.worker())
}

// place is where the job runs and stages.
func (j *dataflowJob) place() error {
	var problems []error
	if j.project() == "" {
		problems = append(problems, usageErrorf("--project is missing; give the project that the job runs in"))
	}
	if j.region() == "" {
		problems = append(problems, usageErrorf("--region is missing; give the region that the job runs in, such as europe-west1"))
	}
	staging, temp := valueOf(j.flags, "staging_location"), valueOf(j.flags, "temp_location")
	if staging == "" && temp == "" {
		problems = append(problems, usageErrorf("--staging_location is missing; give a folder of Cloud Storage in the job's region, gs://BUCKET/FOLDER"))
	}
	for name, location := range map[string]string{"staging_location": staging, "temp_location": temp, "template_location": valueOf(j.flags, "template_location")} {
		if bucket, ok := strings.CutPrefix(location, "gs://"); location != "" && (!ok || strings.Trim(bucket, "/") == "") {
			problems = append(problems, usageErrorf("--%s %q is no place in Cloud Storage; it must read gs://BUCKET/FOLDER", name, location))
		}
	}
	if staging == "" && temp != "" {
		j.set("staging_location", strings.TrimSuffix(temp, "/")+"/staging")
	}
	return errors.Join(problems...)
}

// Dataflow's rules for a job's name, and for a label's.
var (
	jobName     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	notInName   = regexp.MustCompile(`[^a-z0-9]+`)
	labelKey    = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	labelText   = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)
	labelsShape = `a JSON object of texts, such as {"team": "orders"}`
)

// name is the subscription's by default: an update then finds its job, and a second
// job for one subscription is refused.
func (j *dataflowJob) name() error {
	name := valueOf(j.flags, "job_name")
	if name == "" {
		j.set("job_name", "beamcdc-"+j.subscription())
		return nil
	}
	if len(name) > 1024 || !jobName.MatchString(name) {
		return usageErrorf("--job_name %q is none: it takes a-z, 0-9 and -, and begins with a letter", name)
	}
	return nil
}

// subscription is the subscription's name in letters that names and labels may have.
func (j *dataflowJob) subscription() string {
	_, id, err := pubsubsource.ParseSubscription(j.options.Source.Subscription)
	if err != nil {
		id = "unnamed" // Validate reports it
	}
	id = strings.Trim(notInName.ReplaceAllString(strings.ToLower(id), "-"), "-")
	return cmp.Or(strings.Trim(id[:min(len(id), 50)], "-"), "unnamed")
}

// labels tell a bill's reader what runs: the user's are over ours.
func (j *dataflowJob) labels() error {
	labels := map[string]string{"application": "beamcdc", "subscription": j.subscription()}
	if text := valueOf(j.flags, "labels"); text != "" {
		given := make(map[string]string)
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return usageErrorf("--labels is not %s", labelsShape)
		}
		maps.Copy(labels, given)
	}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !labelKey.MatchString(key) || !labelText.MatchString(labels[key]) {
			problems = append(problems, usageErrorf("--labels: %q: %q is no label: it takes small letters, digits, _ and -, 63 at most", key, labels[key]))
		}
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	j.set("labels", string(text))
	return errors.Join(problems...)
}

func (j *dataflowJob) workers() error {
	var problems []error
	number := func(name string) int {
		n, err := strconv.Atoi(cmp.Or(valueOf(j.flags, name), "0"))
		if err != nil || n < 0 {
			problems = append(problems, usageErrorf("--%s %s is no number of workers", name, valueOf(j.flags, name)))
		}
		return n
	}
	workers, most := number("num_workers"), number("max_num_workers")
	switch {
	case most == 0:
		most = max(defaultMaxWorkers, workers)
	case workers > most:
		problems = append(problems, usageErrorf("--num_workers %d is more than --max_num_workers %d", workers, most))
	}
	j.set("num_workers", strconv.Itoa(cmp.Or(workers, defaultWorkers)))
	j.set("max_num_workers", strconv.Itoa(most))
	if valueOf(j.flags, "autoscaling_algorithm") == "" {
		j.set("autoscaling_algorithm", "THROUGHPUT_BASED")
	}
	if j.machineType() == "" {
		j.set("worker_machine_type", defaultMachineType)
	}
	return errors.Join(problems...)
}

func (j *dataflowJob) machineType() string {
	return cmp.Or(valueOf(j.flags, "worker_machine_type"), valueOf(j.flags, "machine_type"))
}

// mode is at least once unless the user wants the other: a repeated change makes an
// equal row (invariant 2), so that Dataflow's keeping of what it has seen is for nothing.
func (j *dataflowJob) mode() error {
	options := valueOf(j.flags, "dataflow_service_options")
	all := options + "," + valueOf(j.flags, "experiments")
	if !strings.Contains(all, atLeastOnce) && !strings.Contains(all, exactlyOnce) {
		j.set("dataflow_service_options", strings.TrimPrefix(options+","+atLeastOnce, ","))
	}
	return nil
}

func (j *dataflowJob) update() error {
	users := valueOf(j.flags, "transform_name_mapping")
	if valueOf(j.flags, "update") != "true" {
		if users != "" {
			return usageErrorf("--transform_name_mapping is for --update")
		}
		return nil
	}
	mapping, err := transformNames(users)
	if err == nil && mapping != "" {
		j.set("transform_name_mapping", mapping)
	}
	return err
}

// worker is this program itself, where that runs on Dataflow's workers: Beam would
// otherwise run "go build".
func (j *dataflowJob) worker() error {
	if j.describe {
		return nil
	}
	wanted := architecture(j.machineType())
	if given := valueOf(j.flags, "worker_binary"); given != "" {
		if err := checkWorker(given, wanted); err != nil {
			return usageErrorf("--worker_binary %s can't run on the workers: %w; %s", given, err, buildWorker(wanted))
		}
		return nil
	}
	self, err := j.executable()
	if err == nil {
		err = checkWorker(self, wanted)
	}
	if err != nil {
		return usageErrorf("this program can't run on the workers: %w; %s", err, buildWorker(wanted))
	}
	j.set("worker_binary", self)
	return nil
}

// set sets one of Beam's flags, to a text that its kind takes.
func (j *dataflowJob) set(name, text string) {
	if err := j.flags.Set(name, text); err != nil {
		panic(fmt.Sprintf("launch: --%s %s: %v", name, text, err))
	}
}
