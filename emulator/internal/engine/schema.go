package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"
)

// BigQuery's limits on a table's schema.
const (
	maxColumns       = 10_000 // of any table, nested fields included
	MaxCDCColumns    = 2_000  // top-level columns of a table that takes CDC rows
	maxKeyColumns    = 16
	maxStructDepth   = 15
	maxColumnNameLen = 300
	maxClustering    = 4
)

// Kind is a BigQuery type.
type Kind uint8

// BigQuery's types, by their GoogleSQL names. The zero Kind is invalid.
const (
	kindInvalid Kind = iota
	KindBool
	KindInt64
	KindFloat64
	KindNumeric
	KindBigNumeric
	KindString
	KindBytes
	KindDate
	KindTime
	KindDateTime
	KindTimestamp
	KindJSON
	KindGeography
	KindInterval
	KindRange
	KindStruct
)

// kindNames holds REST's name of each kind, which is also the one in error texts.
var kindNames = [...]string{
	"INVALID", "BOOLEAN", "INTEGER", "FLOAT", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME",
	"TIMESTAMP", "JSON", "GEOGRAPHY", "INTERVAL", "RANGE", "RECORD",
}

func (k Kind) String() string { return kindNames[k] }

// parseKind reads a type's name as REST takes it: legacy or GoogleSQL, any case.
func parseKind(name string) Kind {
	switch name = strings.ToUpper(name); name {
	case "BOOL":
		return KindBool
	case "INT64":
		return KindInt64
	case "FLOAT64":
		return KindFloat64
	case "DECIMAL":
		return KindNumeric
	case "BIGDECIMAL":
		return KindBigNumeric
	case "STRUCT":
		return KindStruct
	}
	return Kind(max(0, slices.Index(kindNames[:], name)))
}

// Column is one column, or one field of a STRUCT. It is never modified once it
// is part of a schema.
type Column struct {
	id       int // names the DuckDB column; stays with a column that is renamed; 0 in a STRUCT
	Name     string
	Kind     Kind
	Repeated bool
	Required bool
	Element  Kind // of a RANGE
	Fields   []*Column
	// MaxLength is in characters for STRING, in bytes for BYTES; 0 for no limit.
	MaxLength int64
	// Precision and scale are those of NUMERIC(p, s) and BIGNUMERIC(p, s); precision 0 for the type's own.
	Precision, Scale int64
	DefaultValue     *DefaultValue // nil for none
	// Added is when a column was added to a table that was there, as far as that was
	// since the engine was opened; else zero.
	Added time.Time
}

// typeName is the column's type as BigQuery's messages print it: "STRING(15)".
func (c *Column) typeName() string {
	name := c.Kind.String()
	switch {
	case c.MaxLength > 0:
		name += fmt.Sprintf("(%d)", c.MaxLength)
	case c.Precision > 0 && c.Scale > 0:
		name += fmt.Sprintf("(%d, %d)", c.Precision, c.Scale)
	case c.Precision > 0:
		name += fmt.Sprintf("(%d)", c.Precision)
	}
	return name
}

// Schema is a table's columns and primary key. It is never modified: a table
// that changes gets a new one.
type Schema struct {
	Version int64          // of the table; a row read for one version isn't stored for another
	Columns []*Column      // in BigQuery's order
	byName  map[string]int // lower-case name -> position in columns
	Key     []int          // positions of the primary key's columns, in its order; empty for none
	nextID  int            // of the next column
	// slots[i] is the place of columns[i] in a stored row, after the meta columns:
	// DuckDB adds new columns at the end, wherever BigQuery shows them.
	slots []int
}

func (s *Schema) find(name string) (int, bool) {
	i, ok := s.byName[strings.ToLower(name)]
	return i, ok
}

// isKey reports whether the column at this position is part of the primary key.
func (s *Schema) isKey(position int) bool { return slices.Contains(s.Key, position) }

// NewSchema reads the schema and primary key of a table resource. Columns that
// prior has, by name, keep their ID; prior is nil for a new table. ids has those of
// others by their lower-case name. It writes the
// canonical type and mode names into the resource, as BigQuery answers with them.
func NewSchema(resource *bq.Table, prior *Schema, ids map[string]int) (*Schema, error) {
	s := &Schema{byName: map[string]int{}, nextID: 1}
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
	s.Columns = columns
	renamed := slices.Collect(maps.Values(ids))
	for i, c := range columns {
		lower := strings.ToLower(c.Name)
		s.byName[lower] = i
		switch {
		case ids[lower] > 0:
			c.id = ids[lower]
		case prior != nil:
			// A column that was renamed leaves its name to a new one.
			if j, ok := prior.byName[lower]; ok && !slices.Contains(renamed, prior.Columns[j].id) {
				c.id = prior.Columns[j].id
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

func (s *Schema) parseKey(constraints *bq.TableConstraints) error {
	if constraints == nil || constraints.PrimaryKey == nil {
		return nil
	}
	names := constraints.PrimaryKey.Columns
	if len(names) > maxKeyColumns {
		return Invalid("Too many primary key columns: %d. The maximum is %d.", len(names), maxKeyColumns)
	}
	for _, name := range names {
		i, ok := s.find(name)
		if !ok {
			return Invalid("Primary key column not found: %s", name)
		}
		c := s.Columns[i]
		if slices.Contains(s.Key, i) {
			return Invalid("Duplicate primary key column: %s", name)
		}
		if c.Repeated || !keyKind(c.Kind) {
			kind := c.Kind.String()
			if c.Repeated {
				kind = "ARRAY"
			}
			return Invalid("Primary key column cannot be of type %s. Invalid column: %s.", kind, c.Name)
		}
		s.Key = append(s.Key, i)
	}
	return nil
}

// keyKind reports whether BigQuery lets a primary key have columns of this type
// (INFORMATION_SCHEMA.TABLE_CONSTRAINTS, "Limitations").
func keyKind(k Kind) bool {
	switch k {
	case KindBigNumeric, KindBool, KindDate, KindDateTime, KindInt64, KindNumeric, KindString, KindTimestamp:
		return true
	default:
		return false
	}
}

func parseFields(fields []*bq.TableFieldSchema, path string, depth int, count *int) ([]*Column, error) {
	if depth > maxStructDepth {
		return nil, Invalid("Schema is nested too deeply at %s: the maximum depth is %d.", path, maxStructDepth)
	}
	seen := map[string]bool{}
	columns := make([]*Column, 0, len(fields))
	for _, f := range fields {
		if f == nil {
			return nil, Invalid("Invalid schema: a field of %q is null.", path)
		}
		if *count++; *count > maxColumns {
			return nil, Invalid("Too many total leaf fields: the maximum is %d.", maxColumns)
		}
		c, err := parseField(f, path, depth, count)
		if err != nil {
			return nil, err
		}
		if lower := strings.ToLower(c.Name); seen[lower] {
			return nil, Invalid("Duplicate field name: %s", path+c.Name)
		} else {
			seen[lower] = true
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func parseField(f *bq.TableFieldSchema, path string, depth int, count *int) (*Column, error) {
	if err := checkColumnName(f.Name); err != nil {
		return nil, err
	}
	c := &Column{Name: f.Name, Kind: parseKind(f.Type), MaxLength: f.MaxLength, Precision: f.Precision, Scale: f.Scale}
	full := path + f.Name
	if c.Kind == kindInvalid {
		return nil, Invalid("Invalid value for type: %s is not a valid value (field %s).", f.Type, full)
	}
	switch f.Mode = strings.ToUpper(f.Mode); f.Mode {
	case "":
		f.Mode = "NULLABLE"
	case "NULLABLE":
	case "REQUIRED":
		c.Required = true
	case "REPEATED":
		c.Repeated = true
	default:
		return nil, Invalid("Invalid value for mode: %s is not a valid value (field %s).", f.Mode, full)
	}
	f.Type = c.Kind.String()
	if err := c.checkParameters(full); err != nil {
		return nil, err
	}
	switch c.Kind {
	case KindStruct:
		if len(f.Fields) == 0 {
			return nil, Invalid("Field %s is type RECORD but has no schema.", full)
		}
		var err error
		if c.Fields, err = parseFields(f.Fields, full+".", depth+1, count); err != nil {
			return nil, err
		}
	case KindRange:
		if f.RangeElementType != nil {
			c.Element = parseKind(f.RangeElementType.Type)
		}
		switch c.Element {
		case KindDate, KindDateTime, KindTimestamp:
			f.RangeElementType.Type = c.Element.String()
		default:
			return nil, Invalid("Invalid RANGE element type of field %s: it must be DATE, DATETIME or TIMESTAMP.", full)
		}
	default:
		if len(f.Fields) > 0 {
			return nil, Invalid("Field %s has type %s, which can't have nested fields.", full, c.Kind)
		}
	}
	if f.DefaultValueExpression != "" {
		var err error
		if c.DefaultValue, err = parseDefault(c, f.DefaultValueExpression); err != nil {
			return nil, Invalid("Invalid default value expression of field %s: %v", full, err)
		}
	}
	return c, nil
}
