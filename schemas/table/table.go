package table

import "time"

// BigQuery's limits for a table that takes CDC rows.
const (
	MaxKeyColumns = 16
	MaxColumns    = 2000 // top-level columns
	MaxNesting    = 15   // STRUCTs in each other
)

// Table is a destination table as BigQuery has it, or as it is to be created.
// Like Rule it is marshalled to JSON as part of a DoFn's configuration.
type Table struct {
	Name         Name          `json:"name"`
	Columns      []Column      `json:"columns,omitempty"`
	PrimaryKey   []string      `json:"primary_key,omitempty"`   // in the order of the constraint
	ClusterBy    []string      `json:"cluster_by,omitempty"`    // at most four
	PartitionBy  *Partition    `json:"partition_by,omitempty"`  // nil: not partitioned
	MaxStaleness time.Duration `json:"max_staleness,omitempty"` // 0: not set
	Description  string        `json:"description,omitempty"`

	// Altered is what the pipeline keeps at BigQuery's table about its own alterations.
	Altered string `json:"altered,omitempty"`
}

// Name is a table's full name.
type Name struct {
	Project string `json:"project"`
	Dataset string `json:"dataset"`
	Table   string `json:"table"`
}

// String returns "project.dataset.table".
func (n Name) String() string { return n.Project + "." + n.Dataset + "." + n.Table }

// Partition is time partitioning on a column.
type Partition struct {
	Column string `yaml:"column" json:"column,omitempty"` // "" for the time of ingestion
	Type   string `yaml:"type" json:"type"`               // HOUR, DAY, MONTH or YEAR
}

// Column is one column, or one field of a STRUCT.
type Column struct {
	Name        string   `json:"name"`
	Type        Type     `json:"type,omitempty"`
	Mode        Mode     `json:"mode,omitempty"`
	Fields      []Column `json:"fields,omitempty"`     // of a STRUCT
	Element     Type     `json:"element,omitempty"`    // of a RANGE: DATE, DATETIME or TIMESTAMP
	MaxLength   int64    `json:"max_length,omitempty"` // of STRING(n) characters and BYTES(n) bytes; 0: no limit
	Precision   int64    `json:"precision,omitempty"`  // of NUMERIC(p, s) and BIGNUMERIC(p, s); 0: the type's own
	Scale       int64    `json:"scale,omitempty"`
	Description string   `json:"description,omitempty"`

	// From and FromScale say what a value means that its message does not type;
	// "" where the column's type alone decides.
	From      From  `json:"from,omitempty"`
	FromScale int64 `json:"from_scale,omitempty"`
	// FromUnscaled says that FromScale is not known: with FromDecimal, base64 is
	// then a bad value, and a decimal's text is not.
	FromUnscaled bool `json:"from_unscaled,omitempty"`
	// BadValues says what to do with a value that the column can't hold.
	BadValues Policy `json:"bad_values,omitempty"`
}

// Type is a BigQuery type by its GoogleSQL name.
type Type string

// BigQuery's types.
const (
	Bool       Type = "BOOL"
	Int64      Type = "INT64"
	Float64    Type = "FLOAT64"
	Numeric    Type = "NUMERIC"
	BigNumeric Type = "BIGNUMERIC"
	String     Type = "STRING"
	Bytes      Type = "BYTES"
	Date       Type = "DATE"
	Time       Type = "TIME"
	DateTime   Type = "DATETIME"
	Timestamp  Type = "TIMESTAMP"
	JSON       Type = "JSON"
	Geography  Type = "GEOGRAPHY"
	Interval   Type = "INTERVAL"
	Range      Type = "RANGE"
	Struct     Type = "STRUCT"
)

// Mode is a column's mode; its zero value means NULLABLE.
type Mode string

// BigQuery's modes.
const (
	Nullable Mode = "NULLABLE"
	Required Mode = "REQUIRED"
	Repeated Mode = "REPEATED"
)

// From says what an untyped value means, at any magnitude.
type From string

// What an untyped value may mean.
const (
	FromSeconds  From = "seconds"  // number: seconds since the epoch, or of a day
	FromMillis   From = "millis"   // number: milliseconds
	FromMicros   From = "micros"   // number: microseconds
	FromNanos    From = "nanos"    // number: nanoseconds, cut downwards to microseconds
	FromDays     From = "days"     // number: days since 1970-01-01
	FromDecimal  From = "decimal"  // string: base64 of a big-endian two's complement, of FromScale; or a decimal's text
	FromBase64   From = "base64"   // string: bytes in base64
	FromHex      From = "hex"      // string: bytes in hexadecimal
	FromText     From = "text"     // string: itself
	FromUnsigned From = "unsigned" // number: a negative one is 2^64 too low
)

// Froms are all of them.
var Froms = []From{
	FromSeconds, FromMillis, FromMicros, FromNanos, FromDays, FromDecimal, FromBase64, FromHex, FromText, FromUnsigned,
}

// Policy says what to do with a value that a column can't hold.
type Policy string

// The policies; the zero value means PolicyReject. Effect says what each does to
// which column.
const (
	PolicyReject Policy = "reject" // the change is a dead letter
	PolicyNull   Policy = "null"   // NULL instead
	PolicyClamp  Policy = "clamp"  // the nearest value that the column holds
	PolicyString Policy = "string" // the value's text
)
