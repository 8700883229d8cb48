package templates

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dataflow "google.golang.org/api/dataflow/v1b3"

	"beamcdc/pipeline"
)

var update = flag.Bool("update-metadata", false, "rewrite metadata.json")

// What is no parameter of the template, and why.
var noParameters = map[string]string{
	"dead_letter_directory":    "Dataflow's workers have no file system that lasts",
	"max_outstanding_messages": "without effect where Dataflow takes the messages",
	"max_outstanding_bytes":    "without effect where Dataflow takes the messages",
}

// The parameters that are not settings of the configuration. These alone have a
// default value: the console fills those in and sends them, and so it would put a
// setting's default over what the configuration's file says.
var ownParameters = []*dataflow.ParameterMetadata{
	{
		Name: "config", Label: "Configuration", HelpText: "The pipeline's configuration, YAML, in Cloud Storage: gs://BUCKET/FILE.",
		ParamType: "GCS_READ_FILE", Regexes: []string{"^gs://[^/]+/.+$"}, GroupName: "Configuration",
	},
	{
		Name: "check", Label: "Check first", HelpText: "Ask Pub/Sub and BigQuery before the job is created whether it can do its work, and create missing tables if the configuration says so.",
		IsOptional: true, ParamType: "BOOLEAN", DefaultValue: "true", Regexes: []string{"^(true|false)$"}, GroupName: "Configuration",
	},
	{
		Name: "log_level", Label: "Log level", HelpText: "Of the launcher: debug, info, warn or error.",
		IsOptional: true, ParamType: "ENUM", EnumOptions: options("debug", "info", "warn", "error"), DefaultValue: "info",
		Regexes: []string{"^(debug|info|warn|error)$"}, GroupName: "Configuration",
	},
	{
		Name: "dataflow_service_options", Label: "Dataflow's service options",
		HelpText:   "Separated by commas. Defaults to streaming_mode_at_least_once: rows that are written twice do no harm. The other mode is streaming_mode_exactly_once.",
		IsOptional: true, ParamType: "TEXT", GroupName: "Configuration",
	},
	{
		Name: "number_of_worker_harness_threads", Label: "Threads of a worker", HelpText: "How many bundles a worker works at once, at most. Defaults to Dataflow's choice.",
		IsOptional: true, ParamType: "NUMBER", Regexes: []string{"^[0-9]+$"}, GroupName: "Configuration",
	},
}

func options(words ...string) []*dataflow.ParameterMetadataEnumOption {
	list := make([]*dataflow.ParameterMetadataEnumOption, len(words))
	for i, word := range words {
		list[i] = &dataflow.ParameterMetadataEnumOption{Label: word, Value: word}
	}
	return list
}

// paramType returns what the console lets a person pick a setting's value with.
func paramType(s pipeline.Setting) string {
	switch s.Kind {
	case "true or false":
		return "BOOLEAN"
	case "number":
		return "NUMBER"
	}
	switch s.Key {
	case "source.subscription":
		return "PUBSUB_SUBSCRIPTION"
	case "source.avro_schema":
		return "GCS_READ_FILE"
	case "dead_letters.topic":
		return "PUBSUB_TOPIC"
	}
	if s.Words() != nil {
		return "ENUM"
	}
	return "TEXT"
}

func metadata() *dataflow.TemplateMetadata {
	m := &dataflow.TemplateMetadata{
		Name: "beamcdc: change events to BigQuery",
		Description: "Reads change events of an operational database from Pub/Sub and keeps BigQuery tables equal to its tables, " +
			"by BigQuery's change data capture.",
		Streaming: true, SupportsAtLeastOnce: true, SupportsExactlyOnce: true, DefaultStreamingMode: "AT_LEAST_ONCE",
		Parameters: slices.Clone(ownParameters[:1]),
	}
	for _, s := range pipeline.Settings() {
		if noParameters[s.Flag] != "" {
			continue
		}
		p := &dataflow.ParameterMetadata{
			Name: s.Flag, Label: pipeline.Label(s.Flag), IsOptional: true, ParamType: paramType(s), EnumOptions: options(s.Words()...), GroupName: s.Group(),
			HelpText: s.Help + " Goes over the configuration's " + s.Key + ".",
		}
		if s.Default != "" {
			p.HelpText += " Defaults to " + s.Default + " if neither has it."
		}
		if pattern := s.Pattern(); pattern != "" {
			p.Regexes = []string{pattern}
		}
		m.Parameters = append(m.Parameters, p)
	}
	m.Parameters = append(m.Parameters, ownParameters[1:]...)
	return m
}

func readMetadata(t *testing.T) *dataflow.TemplateMetadata {
	t.Helper()
	data, err := os.ReadFile("metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	m := new(dataflow.TemplateMetadata)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// metadata.json has a parameter for each setting, and no other: it is what the
// settings say.
func TestMetadata(t *testing.T) {
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(metadata()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("metadata.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("metadata.json is not what the settings say, rewrite it by go test ./templates -run TestMetadata -update-metadata\n-settings +file:\n%s", diff)
	}
}

// Each parameter has what the console shows, and a value that is the default, or
// one of the words, fits its own expression.
func TestMetadata_complete(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range readMetadata(t).Parameters {
		if p.Name == "" || p.Label == "" || p.HelpText == "" || p.GroupName == "" || p.ParamType == "" || seen[p.Name] {
			t.Errorf("%s: name, label, help, group or type is missing, or it is there twice", p.Name)
		}
		seen[p.Name] = true
		if strings.ToLower(p.Name) != p.Name || strings.ContainsAny(p.Name, "-. ") {
			t.Errorf("%s is no flag in snake_case", p.Name)
		}
		for _, text := range p.Regexes {
			pattern, err := regexp.CompilePOSIX(text)
			if err != nil {
				t.Errorf("%s: %v", p.Name, err)
				continue
			}
			values := []string{parameters[p.Name]}
			if p.DefaultValue != "" {
				values = append(values, p.DefaultValue)
			}
			for _, o := range p.EnumOptions {
				values = append(values, o.Value)
			}
			for _, value := range values {
				if !pattern.MatchString(value) {
					t.Errorf("%s: %q does not match %s", p.Name, value, text)
				}
			}
		}
	}
	for _, s := range pipeline.Settings() {
		if pattern := s.Pattern(); pattern != "" && s.Default != "" && !regexp.MustCompilePOSIX(pattern).MatchString(s.Default) {
			t.Errorf("%s: the default %s does not match %s", s.Flag, s.Default, pattern)
		}
	}
}
