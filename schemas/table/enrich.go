package table

import "time"

// Step is one step of a rule's enrichment: exactly one of its fields is set.
// Package enrichment says what each does.
type Step struct {
	Lookup   *Lookup          `json:"lookup,omitempty"`
	Set      []Assignment     `json:"set,omitempty"`
	Where    string           `json:"where,omitempty"` // a CEL expression: the rows that stay
	Metadata []MetadataColumn `json:"metadata,omitempty"`
	Rename   []Renaming       `json:"rename,omitempty"`
	Drop     []string         `json:"drop,omitempty"`
	Mask     *Mask            `json:"mask,omitempty"`
}

// Kind returns the step's key in the configuration, "" for a step that does nothing.
func (s *Step) Kind() string {
	switch {
	case s.Lookup != nil:
		return "lookup"
	case len(s.Set) > 0:
		return "set"
	case s.Where != "":
		return "where"
	case len(s.Metadata) > 0:
		return "metadata"
	case len(s.Rename) > 0:
		return "rename"
	case len(s.Drop) > 0:
		return "drop"
	case s.Mask != nil:
		return "mask"
	}
	return ""
}

// Lookup joins the row to a reference table. Exactly one of CSV, JSONLines, Parquet,
// Table and Query is set.
type Lookup struct {
	CSV       string `json:"csv,omitempty"`        // a file with a line of column names: a path on the workers, or gs://BUCKET/OBJECT
	JSONLines string `json:"json_lines,omitempty"` // such a file with a JSON object a line
	Parquet   string `json:"parquet,omitempty"`    // such a file
	Table     string `json:"table,omitempty"`      // [project.]dataset.table in BigQuery
	Query     string `json:"query,omitempty"`      // in GoogleSQL

	Nulls string `json:"nulls,omitempty"` // the text that a CSV file writes for NULL; "" for an empty field

	Key      []ColumnPair  `json:"key"`               // the row's columns and the reference's that must be equal
	Columns  []ColumnPair  `json:"columns"`           // the row's new columns and the reference's that they come from
	Refresh  time.Duration `json:"refresh,omitempty"` // how often the reference is read again; 0: never
	OnMiss   string        `json:"on_miss,omitempty"` // of a row that the reference lacks: null, the default, reject, or defaults
	Defaults []Default     `json:"defaults,omitempty"`
}

// The words of Lookup.OnMiss.
const (
	MissNull     = "null"     // the new columns are NULL
	MissReject   = "reject"   // the change is a dead letter
	MissDefaults = "defaults" // the new columns have the defaults, those without one NULL
)

// ColumnPair is a column of the row and the one of a reference that it is held against.
type ColumnPair struct {
	Column    string `json:"column"`
	Reference string `json:"reference"`
}

// Default is what a new column has where a lookup misses.
type Default struct {
	Column string `json:"column"`
	Value  string `json:"value"` // as its column's type is written: "0", "unknown", "2026-01-01"
}

// Assignment gives a column the value of a CEL expression.
type Assignment struct {
	Column     string `json:"column"`
	Expression string `json:"expression"`
}

// MetadataColumn gives a column something that is known of the change.
type MetadataColumn struct {
	Column string   `json:"column"`
	Of     Metadata `json:"of"`
}

// Metadata is what is known of a change besides its row.
type Metadata string

// What there is. All but the two times are texts.
const (
	MetadataCommitTime  Metadata = "commit_time"  // when the source committed it; NULL where unknown
	MetadataPublishTime Metadata = "publish_time" // when Pub/Sub took its message
	MetadataSequence    Metadata = "sequence"     // its _CHANGE_SEQUENCE_NUMBER
	MetadataOperation   Metadata = "operation"    // create, update, snapshot
	MetadataPosition    Metadata = "position"     // the source's own, as its log writes it; NULL where unknown
	MetadataTransaction Metadata = "transaction"  // what the source calls it; NULL where unknown
	MetadataTable       Metadata = "source_table" // the source's name of the table
	MetadataMessageID   Metadata = "message_id"   // Pub/Sub's
)

// Metadatas are all of them.
var Metadatas = []Metadata{
	MetadataCommitTime, MetadataPublishTime, MetadataSequence, MetadataOperation,
	MetadataPosition, MetadataTransaction, MetadataTable, MetadataMessageID,
}

// Type returns the type of a column that holds it.
func (m Metadata) Type() Type {
	if m == MetadataCommitTime || m == MetadataPublishTime {
		return Timestamp
	}
	return String
}

// Renaming gives a column another name.
type Renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Mask hides the values of columns.
type Mask struct {
	Columns []string   `json:"columns"`
	By      string     `json:"by"`             // sha256, aes_siv, null or last
	Key     *SecretKey `json:"key,omitempty"`  // of sha256 and aes_siv
	Keep    int64      `json:"keep,omitempty"` // of last: how many characters at the end stay
}

// The words of Mask.By.
const (
	MaskSHA256 = "sha256"  // the HMAC-SHA-256, in hexadecimal, or its bytes in a BYTES column
	MaskAESSIV = "aes_siv" // encrypted deterministically, in base64, or its bytes in a BYTES column
	MaskNull   = "null"    // NULL
	MaskLast   = "last"    // an asterisk for each character but the last ones
)

// MaskWords are all of them.
var MaskWords = []string{MaskSHA256, MaskAESSIV, MaskNull, MaskLast}

// SecretKey says where a key is: exactly one of its fields is set. The key itself is
// in no configuration.
type SecretKey struct {
	Secret      string `json:"secret,omitempty"` // projects/PROJECT/secrets/NAME[/versions/VERSION] of Secret Manager
	File        string `json:"file,omitempty"`   // on the workers
	Environment string `json:"env,omitempty"`    // a variable of the workers' environment
}
