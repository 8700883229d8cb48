package e2e

import (
	"strings"
	"testing"
)

// The dead letter of a message of no known format says which one is the closest, and
// the first thing that it lacks; with the format configured, what of it doesn't fit.
func TestUnknownMessages(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes, format: FORMAT}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - {source: public.items, destination: shop.items, primary_key: [id], columns: [{name: id, type: INT64, mode: REQUIRED}]}
`
	for format, messages := range map[string]map[string]string{
		"auto": {
			`{"source":{"connector":"postgresql"},"after":{"id":1}}`:            "the closest is debezium: it has source, an object, but lacks op, a string",
			`{"database":"shop","table":"items","ts":1,"data":{"id":1}}`:        "the closest is maxwell: it has database, a string and table, a string and ts, a number and data, but lacks type, a string",
			`{"source_metadata":"items","payload":{"id":1}}`:                    "the closest is datastream: it has payload, an object, but lacks source_metadata, an object",
			`{"_CHANGE_SEQUENCE_NUMBER":"1","id":1}`:                            "the closest is columns: it has _CHANGE_SEQUENCE_NUMBER, but lacks _CHANGE_TYPE, a string",
			`{"record":{"id":1},"action":"insert","metadata":{"lsn":1}}`:        "the closest is sequin: it has record, an object and action, a word, but lacks metadata.commit_lsn",
			`{"tableName":"items","modType":"INSERT","mods":{"keys":{"id":1}}}`: "the closest is spanner: it has tableName, a string and modType, a string, but lacks mods, an array",
		},
		"debezium": {`{"source":{"connector":"postgresql"},"after":{"id":1}}`: "op"},
		"maxwell":  {`{"database":"shop","table":"items","ts":1}`: "type"},
	} {
		t.Run(format, func(t *testing.T) {
			var published []message
			for data := range messages {
				published = append(published, message{data: data})
			}
			out := runLocal(t, strings.Replace(config, "FORMAT", format, 1), published)
			if len(out.DeadLetters) != len(messages) {
				t.Errorf("%d dead letters, want %d", len(out.DeadLetters), len(messages))
			}
			for _, l := range out.DeadLetters {
				if want := messages[l.Data]; l.Stage != "decode" || want == "" || !strings.Contains(l.Error, want) {
					t.Errorf("%s is a dead letter of %s: %s\nwant %s", l.Data, l.Stage, l.Error, want)
				}
			}
		})
	}
}
