package emulator

import (
	"fmt"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

// BigQuery's limits on a table's schema.
const (
	maxColumns       = 10_000 // of any table, nested fields included
	maxCDCColumns    = 2_000  // top-level columns of a table that takes CDC rows
	maxKeyColumns    = 16
	maxStructDepth   = 15
	maxColumnNameLen = 300
	maxClustering    = 4
)

// kind is a BigQuery type.
type kind uint8

const (
	kindInvalid kind = iota
	kindBool
	kindInt64
	kindFloat64
	kindNumeric
	kindBigNumeric
	kindString
	kindBytes
	kindDate
	kindTime
	kindDateTime
	kindTimestamp
	kindJSON
	kindGeography
	kindInterval
	kindRange
	kindStruct
)

// kindNames holds REST's name of each kind, which is also the one in error texts.
var kindNames = [...]string{
	"INVALID", "BOOLEAN", "INTEGER", "FLOAT", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME",
	"TIMESTAMP", "JSON", "GEOGRAPHY", "INTERVAL", "RANGE", "RECORD",
}

func (k kind) String() string { return kindNames[k] }

// parseKind reads a type's name as REST takes it: legacy or GoogleSQL, any case.
func parseKind(name string) kind {
	switch name = strings.ToUpper(name); name {
	case "BOOL":
		return kindBool
	case "INT64":
		return kindInt64
	case "FLOAT64":
		return kindFloat64
	case "DECIMAL":
		return kindNumeric
	case "BIGDECIMAL":
		return kindBigNumeric
	case "STRUCT":
		return kindStruct
	}
	return kind(max(0, slices.Index(kindNames[:], name)))
}

// column is one column, or one field of a STRUCT. It is never modified once it
// is part of a schema.
type column struct {
	id       int // names the DuckDB column; stays with a column that is renamed; 0 in a STRUCT
	name     string
	kind     kind
	repeated bool
	required bool
	element  kind // of a RANGE
	fields   []*column
	// maxLength is in characters for STRING, in bytes for BYTES; 0 for no limit.
	maxLength int64
	// precision and scale are those of NUMERIC(p, s) and BIGNUMERIC(p, s); precision 0 for the type's own.
	precision, scale int64
	defaultValue     *defaultValue // nil for none
}

// typeName is the column's type as BigQuery's messages print it: "STRING(15)".
func (c *column) typeName() string {
	name := c.kind.String()
	switch {
	case c.maxLength > 0:
		name += fmt.Sprintf("(%d)", c.maxLength)
	case c.precision > 0 && c.scale > 0:
		name += fmt.Sprintf("(%d, %d)", c.precision, c.scale)
	case c.precision > 0:
		name += fmt.Sprintf("(%d)", c.precision)
	}
	return name
}

// schema is a table's columns and primary key. It is never modified: a table
// that changes gets a new one.
type schema struct {
	version int64          // of the table; a row read for one version isn't stored for another
	columns []*column      // in BigQuery's order
	byName  map[string]int // lower-case name -> position in columns
	key     []int          // positions of the primary key's columns, in its order; empty for none
	nextID  int            // of the next column
	// slots[i] is the place of columns[i] in a stored row, after the meta columns:
	// DuckDB adds new columns at the end, wherever BigQuery shows them.
	slots []int
}

func (s *schema) find(name string) (int, bool) {
	i, ok := s.byName[strings.ToLower(name)]
	return i, ok
}

// isKey reports whether the column at this position is part of the primary key.
func (s *schema) isKey(position int) bool { return slices.Contains(s.key, position) }

// newSchema reads the schema and primary key of a table resource. Columns that
// prior has, by name, keep their ID; prior is nil for a new table. It writes the
// canonical type and mode names into the resource, as BigQuery answers with them.
func newSchema(resource *bq.Table, prior *schema, ids map[string]int) (*schema, error) {
	s := &schema{byName: map[string]int{}, nextID: 1}
	if prior != nil {
		s.nextID = prior.nextID
	}
	var fields []*bq.TableFieldSchema
	if resource.Schema != nil {
		fields = resource.Schema.Fields
	}
	count := 0
	columns, err := parseFields(fields, "", 1, &count)
	if err != nil {
		return nil, err
	}
	s.columns = columns
	for i, c := range columns {
		lower := strings.ToLower(c.name)
		s.byName[lower] = i
		switch {
		case ids[lower] > 0:
			c.id = ids[lower]
		case prior != nil:
			if j, ok := prior.byName[lower]; ok {
				c.id = prior.columns[j].id
			}
		}
		if c.id == 0 {
			c.id = s.nextID
		}
		s.nextID = max(s.nextID, c.id+1)
	}
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return columns[a].id - columns[b].id })
	s.slots = make([]int, len(columns))
	for slot, i := range order {
		s.slots[i] = slot
	}
	return s, s.parseKey(resource.TableConstraints)
}

func (s *schema) parseKey(constraints *bq.TableConstraints) error {
	if constraints == nil || constraints.PrimaryKey == nil {
		return nil
	}
	names := constraints.PrimaryKey.Columns
	if len(names) > maxKeyColumns {
		return invalid("Too many primary key columns: %d. The maximum is %d.", len(names), maxKeyColumns)
	}
	for _, name := range names {
		i, ok := s.find(name)
		if !ok {
			return invalid("Primary key column not found: %s", name)
		}
		c := s.columns[i]
		if slices.Contains(s.key, i) {
			return invalid("Duplicate primary key column: %s", name)
		}
		if c.repeated || !keyKind(c.kind) {
			kind := c.kind.String()
			if c.repeated {
				kind = "ARRAY"
			}
			return invalid("Primary key column cannot be of type %s. Invalid column: %s.", kind, c.name)
		}
		s.key = append(s.key, i)
	}
	return nil
}

// keyKind reports whether BigQuery lets a primary key have columns of this type
// (INFORMATION_SCHEMA.TABLE_CONSTRAINTS, "Limitations").
func keyKind(k kind) bool {
	switch k {
	case kindBigNumeric, kindBool, kindDate, kindDateTime, kindInt64, kindNumeric, kindString, kindTimestamp:
		return true
	default:
		return false
	}
}

func parseFields(fields []*bq.TableFieldSchema, path string, depth int, count *int) ([]*column, error) {
	if depth > maxStructDepth {
		return nil, invalid("Schema is nested too deeply at %s: the maximum depth is %d.", path, maxStructDepth)
	}
	seen := map[string]bool{}
	columns := make([]*column, 0, len(fields))
	for _, f := range fields {
		if f == nil {
			return nil, invalid("Invalid schema: a field of %q is null.", path)
		}
		if *count++; *count > maxColumns {
			return nil, invalid("Too many total leaf fields: the maximum is %d.", maxColumns)
		}
		c, err := parseField(f, path, depth, count)
		if err != nil {
			return nil, err
		}
		if lower := strings.ToLower(c.name); seen[lower] {
			return nil, invalid("Duplicate field name: %s", path+c.name)
		} else {
			seen[lower] = true
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func parseField(f *bq.TableFieldSchema, path string, depth int, count *int) (*column, error) {
	if err := checkColumnName(f.Name); err != nil {
		return nil, err
	}
	c := &column{name: f.Name, kind: parseKind(f.Type), maxLength: f.MaxLength, precision: f.Precision, scale: f.Scale}
	full := path + f.Name
	if c.kind == kindInvalid {
		return nil, invalid("Invalid value for type: %s is not a valid value (field %s).", f.Type, full)
	}
	switch f.Mode = strings.ToUpper(f.Mode); f.Mode {
	case "":
		f.Mode = "NULLABLE"
	case "NULLABLE":
	case "REQUIRED":
		c.required = true
	case "REPEATED":
		c.repeated = true
	default:
		return nil, invalid("Invalid value for mode: %s is not a valid value (field %s).", f.Mode, full)
	}
	f.Type = c.kind.String()
	if err := c.checkParameters(full); err != nil {
		return nil, err
	}
	switch c.kind {
	case kindStruct:
		if len(f.Fields) == 0 {
			return nil, invalid("Field %s is type RECORD but has no schema.", full)
		}
		var err error
		if c.fields, err = parseFields(f.Fields, full+".", depth+1, count); err != nil {
			return nil, err
		}
	case kindRange:
		if f.RangeElementType != nil {
			c.element = parseKind(f.RangeElementType.Type)
		}
		switch c.element {
		case kindDate, kindDateTime, kindTimestamp:
			f.RangeElementType.Type = c.element.String()
		default:
			return nil, invalid("Invalid RANGE element type of field %s: it must be DATE, DATETIME or TIMESTAMP.", full)
		}
	default:
		if len(f.Fields) > 0 {
			return nil, invalid("Field %s has type %s, which can't have nested fields.", full, c.kind)
		}
	}
	if f.DefaultValueExpression != "" {
		var err error
		if c.defaultValue, err = parseDefault(c, f.DefaultValueExpression); err != nil {
			return nil, invalid("Invalid default value expression of field %s: %v", full, err)
		}
	}
	return c, nil
}
