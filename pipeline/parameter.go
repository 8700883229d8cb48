package pipeline

import (
	"slices"
	"strings"

	"beamcdc/schemas/envelope"
	"beamcdc/transforms/deadletter"
)

// What help and templates show of a setting besides its help: all of it follows from
// the key, the flag and the kind, so that a new setting needs no more than its line.

// Section returns the key that holds the setting in the file, "" for none.
func (s Setting) Section() string {
	section, _, nested := strings.Cut(s.Key, ".")
	if !nested {
		return ""
	}
	return section
}

// Group returns the heading that the setting belongs under.
func (s Setting) Group() string {
	switch section := s.Section(); section {
	case "":
		return "Tables"
	case "runtime":
		return "Environment and bounds"
	default:
		return Label(section)
	}
}

// Label returns a name as a person writes it: "Dead letter topic".
func Label(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if proper, ok := properWords[word]; ok {
			words[i] = proper
		} else if i == 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, " ")
}

var properWords = map[string]string{
	"bigquery": "BigQuery", "pubsub": "Pub/Sub", "rest": "REST", "grpc": "gRPC", "id": "ID", "url": "URL", "avro": "Avro",
}

// Pattern returns a POSIX regular expression that each good value matches, "" where
// any text may be good. Values that it lets pass may be bad: Validate tells.
func (s Setting) Pattern() string {
	switch s.Kind {
	case "true or false":
		return "^(true|false)$"
	case "number":
		return "^[0-9]+$"
	case "duration":
		return "^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$"
	}
	switch s.Key {
	case "source.subscription":
		return "^projects/[^/]+/subscriptions/[A-Za-z][A-Za-z0-9._~+%-]{2,254}$"
	case "dead_letters.topic":
		return "^projects/[^/]+/topics/[A-Za-z][A-Za-z0-9._~+%-]{2,254}$"
	case "dead_letters.table":
		return "^([^.]+[.])?[^.]+[.][^.]+$"
	}
	if words := s.Words(); words != nil {
		return "^(" + strings.Join(words, "|") + ")$"
	}
	return ""
}

// Words returns the only values that the setting takes, nil where there are others.
func (s Setting) Words() []string {
	switch s.Key {
	case "source.format":
		return slices.Clone(envelope.Formats())
	case "unlisted_tables":
		return []string{"reject", "filter"}
	case "dead_letters.data":
		return slices.Clone(deadletter.DataWords)
	}
	return nil
}
