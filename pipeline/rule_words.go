package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
)

// RuleWord is a key of a rule that takes one of a few words. RuleWords is the one
// table of them: the file's keys, what is refused, and the documents.
type RuleWord struct {
	Key   string
	Words []string // the first is the default
	Done  []string // those of them that this version does; it refuses the others
	Help  string

	field func(*table.Rule) *string
}

var ruleWords = []RuleWord{
	{
		"missing_positions", words("reject", "arrival"), words("reject", "arrival"),
		"What becomes of a change without a position: a dead letter, or the order in which Pub/Sub took the messages.",
		func(r *table.Rule) *string { return &r.MissingPositions },
	},
	{
		"unavailable_values", words("reject", "fill"), words("reject", "fill"),
		"What becomes of a row whose source left unchanged values out: a dead letter, or filled from the row's earlier changes.",
		func(r *table.Rule) *string { return &r.UnavailableValues },
	},
	{
		"unknown_columns", words("reject", "add", "ignore"), words("reject", "add", "ignore"),
		"What becomes of a row with a column that BigQuery's table lacks: a dead letter, the table gets the column, or the column is left out.",
		func(r *table.Rule) *string { return &r.UnknownColumns },
	},
	{
		"untyped_columns", words("infer", "string", "reject"), words("infer", "string", "reject"),
		"What a column is added as whose values their messages don't type: numbers as numbers, or all as STRING, or not at all. Objects and arrays are JSON.",
		func(r *table.Rule) *string { return &r.UntypedColumns },
	},
	{
		"bad_values", texts(table.Policies), texts(table.Policies),
		"What becomes of a value that its column can't hold, where the column has no bad_values of its own.",
		func(r *table.Rule) *string { return &r.BadValues },
	},
	{
		"deletes", words("hard", "soft"), words("hard", "soft"),
		"What a delete does: it removes the row, or marks it deleted.",
		func(r *table.Rule) *string { return &r.Deletes },
	},
	{
		"tombstones", words("ignore", "delete"), words("ignore", "delete"),
		"What an empty message means: nothing, since a delete came before it, or the delete of the row that its ordering key names. It has no position: delete orders all changes of the table by when Pub/Sub took them.",
		func(r *table.Rule) *string { return &r.Tombstones },
	},
	{
		"truncates", words("reject", "delete_keys", "recreate"), words("reject", "delete_keys", "recreate"),
		"What becomes of the source's TRUNCATE: a dead letter, a delete of every key that the table has, or a new table behind a view.",
		func(r *table.Rule) *string { return &r.Truncates },
	},
}

// RuleWords returns every key of a rule that takes one of a few words.
func RuleWords() []RuleWord { return slices.Clone(ruleWords) }

func words(of ...string) []string { return of }

// texts returns words of a type of their own as texts.
func texts[W ~string](words []W) []string {
	of := make([]string, len(words))
	for i, w := range words {
		of[i] = string(w)
	}
	return of
}

// validateUnsupported refuses what the configuration has words for, but this
// version does not do: ignored, it would write other rows than were asked for.
func (o *Options) validateUnsupported(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	for _, w := range ruleWords {
		if word := *w.field(r); slices.Contains(w.Words, word) && !slices.Contains(w.Done, word) {
			report(at+w.Key, "%s is not supported yet; it takes %s", word, strings.Join(w.Done, ", "))
		}
	}
}

// validateWords checks the words of a rule that was not read from a file, its
// expression, and what contradicts each other.
func (o *Options) validateWords(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	for _, w := range ruleWords {
		if word := *w.field(r); word != "" && !slices.Contains(w.Words, word) {
			report(at+w.Key, "%q is none of %s", word, strings.Join(w.Words, ", "))
		}
	}
	if r.Sequence == "" {
		return
	}
	if _, err := expression.CompileSequence(r.Sequence); err != nil {
		problem, _, _ := strings.Cut(err.Error(), "\n") // CEL draws an arrow under the place
		report(at+"sequence", "%s", strings.Replace(problem, "ERROR: <input>:", "at ", 1))
	}
	if r.Tombstones == "delete" {
		report(at+"tombstones", "delete orders all changes by arrival, and sequence by an expression: leave one out")
	}
	if r.MissingPositions == "arrival" {
		report(at+"missing_positions", "arrival orders changes that have no position, and sequence orders all of them: leave one out")
	}
}
