package logs

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Key is the key of an attribute. Those there are are listed here, so that no two lines
// name one thing differently.
type Key struct{ name, help string }

// The keys. Once released, none is renamed or given another meaning.
var (
	Table        = key("table", "BigQuery's table, `project.dataset.table`")
	SourceTable  = key("source_table", "the source's table, as its messages name it")
	Subscription = key("subscription", "Pub/Sub's subscription")
	Reference    = key("reference", "the reference of a lookup, by its name in the configuration")
	Outcome      = key("outcome", "what an append came to: `transient`, `throttled`, `schema_mismatch`, `rejected_rows`, `too_large`")
	Error        = key("error", "what went wrong, as the service or library says")
	Suppressed   = key("suppressed", "how many lines like this one were left out since the last, of this table or others")
	Position     = key("position", "the source's position of a change, as the source writes it")
	CommitTime   = key("commit_time", "when the source committed a change, RFC 3339")
	Before       = key("before_position", "the position of an earlier change, which is higher")
	BeforeTime   = key("before_commit_time", "when the source committed that one")
	Epoch        = key("epoch", "source.epoch of the configuration")
	Sequence     = key("sequence", "`_CHANGE_SEQUENCE_NUMBER`, such as of a TRUNCATE")
	Rows         = key("rows", "a number of rows")
	From         = key("from_table", "the table that rows were copied from")
	To           = key("to_table", "the table that rows were copied to, or that is behind a view now")
	DDL          = key("ddl", "the DDL that says what was done to a table")
	Address      = key("address", "where the process listens")
	Flag         = key("flag", "a flag of the command line")
)

var keys []Key

func key(name, help string) Key {
	k := Key{name, help}
	if slices.ContainsFunc(keys, func(k Key) bool { return k.name == name }) {
		panic(fmt.Sprintf("logs: the key %s is there twice", name))
	}
	keys = append(keys, k)
	return k
}

// Keys returns the keys.
func Keys() []Key { return slices.Clone(keys) }

// Name returns the key as it is in the log.
func (k Key) Name() string { return k.name }

// Help returns what the key's values are.
func (k Key) Help() string { return k.help }

// maxValue bounds what an attribute holds of a text, in bytes.
const maxValue = 1000

// Of returns the attribute of this value: a number as one, all else as its text, of
// which it takes the first 1,000 bytes. Control characters are for the handlers to quote.
func (k Key) Of(value any) slog.Attr {
	switch value := value.(type) {
	case int:
		return slog.Int(k.name, value)
	case int64:
		return slog.Int64(k.name, value)
	case string:
		return slog.String(k.name, clip(value))
	case error:
		return slog.String(k.name, clip(value.Error()))
	default:
		return slog.String(k.name, clip(fmt.Sprint(value)))
	}
}

func clip(text string) string {
	if len(text) <= maxValue {
		return strings.Clone(text) // it may be part of a message
	}
	return strings.ToValidUTF8(text[:maxValue], "") + "…"
}
