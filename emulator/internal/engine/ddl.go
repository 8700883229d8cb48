package engine

import (
	"fmt"
	"strings"
)

// metaColumns lead every stored row, in a table's baseline and in its pending
// changes alike. DuckDB compares a sequence as its sections in order, then their
// count, then the order of ingestion.
//
//	_s1 … _s4  the sections of the sequence; 0 for one that isn't there
//	_sn        how many sections there are; 0 for a row without a sequence
//	_ord       order of ingestion: unique in the database, and growing
//	_at        microseconds since the epoch: of a live row of the baseline since when
//	           it shows there, of a pending change and a DELETE when it was ingested
//	_kind      what the row is: see the row… constants
const (
	metaDDL     = "_s1 UBIGINT, _s2 UBIGINT, _s3 UBIGINT, _s4 UBIGINT, _sn UTINYINT, _ord BIGINT, _at BIGINT, _kind UTINYINT"
	metaColumns = "_s1, _s2, _s3, _s4, _sn, _ord, _at, _kind"
	metaCount   = 8
	// rowMeta follows the columns where rows are read: _at is NULL in a pending change.
	rowMeta = "_ord, _at, _kind"
)

// What a stored row is. All but rowDeleted are live.
const (
	rowDeleted  uint8 = iota // a DELETE, remembered so that an older UPSERT which arrives later doesn't bring the row back
	rowInserted              // plain: an INSERT or a load
	rowUpdated               // by DML
	rowUpserted              // a change that is pending, or that was applied and brought a new key
	rowReplaced              // by a change that was applied, which replaced a row of its key
	rowStreamed              // plain, streamed without a change type
)

// The names of a table's DuckDB tables. They hold numbers, not BigQuery's names,
// so that any BigQuery name will do, and renaming costs nothing.
func baseName(id int64) string                { return fmt.Sprintf("b%d", id) }
func pendingName(id, generation int64) string { return fmt.Sprintf("p%d_%d", id, generation) }
func historyName(id int64) string             { return fmt.Sprintf("h%d", id) }
func streamTableName(stream uint64) string    { return fmt.Sprintf("s%d", stream) }
func columnName(c *Column) string             { return fmt.Sprintf("c%d", c.id) }

// createSQL creates one of a table's DuckDB tables.
func (s *Schema) createSQL(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s(%s", name, metaDDL)
	for _, c := range s.bySlot() {
		fmt.Fprintf(&b, ", %s %s", columnName(c), duckType(c))
	}
	return b.String() + ")"
}

// bySlot returns the columns in the order in which they are stored.
func (s *Schema) bySlot() []*Column {
	columns := make([]*Column, len(s.Columns))
	for i, slot := range s.slots {
		columns[slot] = s.Columns[i]
	}
	return columns
}

// duckType is the DuckDB type that holds a column's values exactly, and in
// BigQuery's order.
func duckType(c *Column) string {
	t := duckKind(c)
	if c.Repeated {
		t += "[]"
	}
	return t
}

func duckKind(c *Column) string {
	switch c.Kind {
	case KindBool:
		return "BOOLEAN"
	case KindInt64:
		return "BIGINT"
	case KindFloat64:
		return "DOUBLE"
	case KindNumeric:
		return "DECIMAL(38,9)"
	case KindBigNumeric: // 256 bits; DuckDB's decimals have 128: see package decimal
		return "BLOB"
	case KindBytes:
		return "BLOB"
	case KindDate:
		return "DATE"
	case KindTime:
		return "TIME"
	case KindDateTime:
		return "TIMESTAMP"
	case KindTimestamp:
		return "TIMESTAMPTZ"
	case KindInterval:
		return "INTERVAL"
	case KindRange:
		t := duckKind(&Column{Kind: c.Element})
		return fmt.Sprintf(`STRUCT("start" %s, "end" %s)`, t, t)
	case KindStruct:
		fields := make([]string, len(c.Fields))
		for i, f := range c.Fields {
			fields[i] = quote(f.Name) + " " + duckType(f)
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	default: // STRING; JSON and GEOGRAPHY as they were written
		return "VARCHAR"
	}
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
