package conformance

import (
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/managedwriter"
)

func (r *run) toDefault(table string) managedwriter.WriterOption {
	return managedwriter.WithDestinationTable(r.parent(table))
}

const guideColumns = "id INTEGER, status STRING"

type guideChange struct{ id, kind, value, sequence string }

func (c guideChange) status() string {
	if c.value == "" {
		return ""
	}
	return `,"status":"` + c.value + `"`
}

// guideChanges are the practical guide's: at least once, and not in order.
var guideChanges = []guideChange{
	{"1", "UPSERT", "placed", "F/FFFF0000"},
	{"2", "UPSERT", "placed", "F/FFFF0100"},
	{"1", "UPSERT", "cancelled", "10/200"},
	{"1", "UPSERT", "shipped", "F/FFFFFF00"},
	{"2", "UPSERT", "placed", "F/FFFF0100"},
	{"3", "UPSERT", "placed", "10/9A0"},
	{"3", "DELETE", "", "10/1A00"},
}

// later writes an earlier and a later sequence in both orders of arrival: the later wins.
func later(pairs ...[2]string) func(r *run) {
	return func(r *run) {
		r.create("t", orderColumns, "id")
		w := r.cdc("t", orderColumns)
		var want []string
		key := 10 // of two digits, so that rows sort as text
		for _, pair := range pairs {
			for _, arrival := range [][2]string{pair, {pair[1], pair[0]}} {
				key++
				for _, sequence := range arrival {
					w.append(fmt.Sprintf(`{"id":%d,"v":%q,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":%q}`, key, sequence, sequence))
				}
				want = append(want, fmt.Sprintf("%d %s", key, pair[1]))
			}
		}
		r.want("t", want...)
	}
}

// malformed refuses rows with these sequences.
func malformed(sequences ...string) func(r *run) {
	return func(r *run) {
		r.create("t", orderColumns, "id")
		w := r.cdc("t", orderColumns)
		w.append(`{"id":1,"v":"good","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)
		for _, sequence := range sequences {
			w.refuse(fmt.Sprintf(`{"id":2,"v":"bad","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":%q}`, sequence))
		}
		r.want("t", "1 good")
	}
}

var sequenceCases = []testCase{
	{
		name: "the larger sequence wins",
		cites: []string{
			"To configure user-supplied ordering keys, the pseudocolumn _CHANGE_SEQUENCE_NUMBER is used to indicate the order in which BigQuery should apply records, based on the larger _CHANGE_SEQUENCE_NUMBER between two matching records with the same primary key.",
			"BigQuery then keeps the change with the larger sequence number, whatever the arrival order.",
			"An optional _CHANGE_SEQUENCE_NUMBER orders several changes to the same key.",
			"An optional sequence number, _CHANGE_SEQUENCE_NUMBER, sets the order in which changes for the same key are applied.",
			"Expressing basic ordering keys can be done by using a single section.",
		},
		run: later([2]string{"1", "2"}, [2]string{"18F2EBB6480", "18F2EBB6481"}, [2]string{"FF", "100"}),
	},
	{
		name:  "example 1 of comparisons",
		cites: []string{"Result: Record #2 is considered the latest record because '7B' > '77' (i.e. '123' > '119')"},
		run:   later([2]string{"77", "7B"}),
	},
	{
		name:  "example 2 of comparisons",
		cites: []string{"Result: Record #2 is considered the latest record because 'FFF/ABC' > 'FFF/B' (i.e. '4095/2748' > '4095/11')"},
		run:   later([2]string{"FFF/B", "FFF/ABC"}),
	},
	{
		name:  "example 3 of comparisons",
		cites: []string{"Result: Record #2 is considered the latest record because 'ABC' > 'BA/FFFFFFFF' (i.e. '2748' > '186/4294967295')"},
		run:   later([2]string{"BA/FFFFFFFF", "ABC"}),
	},
	{
		name:  "example 4 of comparisons",
		cites: []string{"Result: Record #1 is considered the latest record because 'FFF/ABC' > 'ABC' (i.e. '4095/2748' > '2748')"},
		run:   later([2]string{"ABC", "FFF/ABC"}),
	},
	{
		name: "sections are compared one after the other",
		cites: []string{
			"BigQuery compares _CHANGE_SEQUENCE_NUMBER values by comparing the first section, then comparing the next section only if the previous sections were equal.",
			"Supporting multiple sections lets you combine several processing-logic values into one key for more complex use cases.",
			"That shape fits BigQuery's documented format: up to four hexadecimal sections separated by /, compared numerically section by section.",
		},
		run: later(
			[2]string{"1/FFFF/FFFF/FFFF", "2/0/0/0"}, [2]string{"1/1/FFFF/FFFF", "1/2/0/0"},
			[2]string{"1/1/1/FFFF", "1/1/2/0"}, [2]string{"1/1/1/1", "1/1/1/2"}),
	},
	{
		name: "the example of three sections",
		cites: []string{
			"For example, to order keys solely based on a record's processing timestamp from an application server, you could use one section: '2024-04-30 11:19:44 UTC', expressed as hexadecimal by converting the timestamp to the milliseconds from Epoch, '18F2EBB6480' in this case.",
			"For example, to order keys based on a record's processing timestamp from an application server, a log sequence number, and the record's status, you could use three sections: '2024-04-30 11:19:44 UTC' / '123' / 'complete', each expressed as hexadecimal.",
		},
		run: later( // 636F6D706C657465 is the text "complete", of as many letters as a section holds
			[2]string{"18F2EBB6480", "18F2EBB6868"}, [2]string{"18F2EBB6480/7B/1", "18F2EBB6480/7B/2"},
			[2]string{"18F2EBB6480/7B/636F6D706C657465", "18F2EBB6480/7C/0"}),
	},
	{
		name: "sequences are unsigned numbers",
		cites: []string{
			"BigQuery uses the _CHANGE_SEQUENCE_NUMBER to perform ordering by comparing two or more _CHANGE_SEQUENCE_NUMBER fields as unsigned numeric values.",
		},
		run: later(
			[2]string{"7FFFFFFFFFFFFFFF", "8000000000000000"}, [2]string{"1", "FFFFFFFFFFFFFFFF"},
			[2]string{"F/FFFFFF00", "10/200"}, [2]string{"10/9A0", "10/1A00"}, [2]string{"0000000000000009", "A"}),
	},
	{
		name: "the range of sequences",
		cites: []string{
			"The allowable range of the _CHANGE_SEQUENCE_NUMBER supports values between 0/0/0/0 and FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF.",
			"Each section can be expressed in at most 16 hexadecimal characters, and up to four sections are allowed per _CHANGE_SEQUENCE_NUMBER.",
		},
		run: later([2]string{"0/0/0/0", strings.TrimSuffix(strings.Repeat("FFFFFFFFFFFFFFFF/", 4), "/")}),
	},
	{
		name:  "either case of letters",
		cites: []string{"_CHANGE_SEQUENCE_NUMBER values support both uppercase and lowercase characters."},
		run:   later([2]string{"abc", "ABD"}, [2]string{"ABC", "abd"}, [2]string{"a/F", "A/10"}),
	},
	{
		name: "the format of sequences",
		cites: []string{
			"The pseudocolumn _CHANGE_SEQUENCE_NUMBER only accepts STRING values, written in a fixed format.",
			"This fixed format uses STRING values written in hexadecimal, separated into sections by a forward slash /.",
		},
		run: malformed("G", "0x1F", "-1", "1-2", "1.5", " 1f", "1f ", "1//2", "/1", "1/", "/", "2024-04-30 11:19:44 UTC"),
	},
	{
		name:  "the lengths of sequences",
		cites: []string{"Each section can be expressed in at most 16 hexadecimal characters, and up to four sections are allowed per _CHANGE_SEQUENCE_NUMBER."},
		run:   malformed("00000000000000001", "1/00000000000000001", "1/2/3/4/5"),
	},
	{
		name: "sequences are strings and optional",
		cites: []string{
			"The pseudocolumn _CHANGE_SEQUENCE_NUMBER is an optional column and only accepts values in a fixed format STRING.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			r.open("t", orderColumns+", "+typeOnly, r.toDefault("t")).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			number := r.open("t", orderColumns+", "+typeOnly+", _CHANGE_SEQUENCE_NUMBER INTEGER", r.toDefault("t"))
			number.refuse(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":7}`)
			r.want("t", "1 a")
		},
	},
	{
		name: "of equal sequences the latest",
		cites: []string{
			"If two _CHANGE_SEQUENCE_NUMBER values are identical, then the record with the latest BigQuery system ingestion time has precedence over previously ingested records.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"z","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/1"}`)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/1"}`)
			r.want("t", "1 a")
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"a/01"}`) // the same numbers
			r.want("t")
		},
	},
	{
		name: "the guide's stream with sequences",
		cites: []string{
			"With numeric sequence numbers, the result is right.",
			"Order 1 ended cancelled, order 2 placed once, and order 3 deleted, regardless of arrival order.",
			"The code below applies one such stream three ways: last arrival wins, which is what happens without a sequence number; BigQuery's documented rule of comparing sequence numbers numerically; and a plain text comparison, which is what a hand-written deduplication query often does.",
			"BigQuery's own apply avoids this, but the same mistake turns up in hand-written deduplication over a raw change log.",
		},
		run: func(r *run) {
			for name, reversed := range map[string]bool{"forward": false, "backward": true} {
				r.create(name, guideColumns, "id")
				w := r.cdc(name, guideColumns)
				for i := range guideChanges {
					change := guideChanges[i]
					if reversed {
						change = guideChanges[len(guideChanges)-1-i]
					}
					w.append(`{"id":` + change.id + change.status() + `,"_CHANGE_TYPE":"` + change.kind + `","_CHANGE_SEQUENCE_NUMBER":"` + change.sequence + `"}`)
				}
				r.want(name, "1 cancelled", "2 placed")
			}
		},
	},
	{
		name: "a change twice does no harm",
		cites: []string{
			"The duplicate for order 2 did no harm, because applying the same upsert twice gives the same row.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			row := `{"id":2,"v":"placed","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"F/FFFF0100"}`
			w.append(row, row)
			w.append(row)
			r.want("t", "2 placed")
		},
	},
}
