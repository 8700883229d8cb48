package ddl

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"beamcdc/cmd/cdc/internal/database"
	"beamcdc/schemas/table"
)

const (
	myColumns = `
SELECT c.table_schema, c.table_name, t.table_comment, c.column_name, lower(c.data_type), lower(c.column_type), c.is_nullable,
	coalesce(c.numeric_precision, 0), coalesce(c.numeric_scale, 0), coalesce(c.datetime_precision, 0), c.column_comment
FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE t.table_type = 'BASE TABLE' AND c.table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
ORDER BY c.table_schema, c.table_name, c.ordinal_position`
	myKeys = `
SELECT table_schema, table_name, column_name, seq_in_index FROM information_schema.statistics
WHERE index_name = 'PRIMARY' AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')`
)

// readMySQL describes those of a server's tables that are asked for by name.
func readMySQL(ctx context.Context, dsn string, asked func(name string) bool) ([]*Source, error) {
	pool, _, err := database.OpenMySQL(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }() // it was only read
	var sources described
	err = database.QueryMySQL(ctx, pool, "its tables", myColumns, nil, func(v [][]byte) error {
		name := string(v[0]) + "." + string(v[1])
		if !asked(name) {
			return nil
		}
		s := sources.table(name, string(v[2]))
		typ := myType{name: string(v[4]), full: string(v[5])}
		for i, n := range []*int{&typ.precision, &typ.scale, &typ.fraction} {
			if *n, err = strconv.Atoi(string(v[7+i])); err != nil {
				return fmt.Errorf("asking MySQL for its tables: %w", err)
			}
		}
		column := string(v[3])
		c, known := typ.column()
		if !known {
			s.note("column %s is of type %s, which Debezium leaves out: so it is left out", column, typ.name)
			return nil
		}
		c.Name, c.Description = column, string(v[10])
		switch {
		case c.Mode == table.Repeated:
		case string(v[6]) == "NO":
			c.Mode = table.Required
		default:
			c.Mode = table.Nullable
		}
		s.Columns = append(s.Columns, c)
		return nil
	})
	if err == nil {
		err = database.QueryMySQL(ctx, pool, "its keys", myKeys, nil, func(v [][]byte) error {
			name := string(v[0]) + "." + string(v[1])
			place, err := strconv.Atoi(string(v[3]))
			if sources.byName[name] != nil {
				sources.key(name, string(v[2]), place)
			}
			return err
		})
	}
	return sources.done(), err
}

// myType is a column's type.
type myType struct {
	name             string // as information_schema's data_type has it: "bigint"
	full             string // as column_type has it: "bigint(20) unsigned"
	precision, scale int    // of a number; of bit(n) its bits
	fraction         int    // digits of a second
}

var myTypes = map[string]table.Column{
	"tinyint": {Type: table.Int64}, "smallint": {Type: table.Int64}, "mediumint": {Type: table.Int64}, "int": {Type: table.Int64}, "bigint": {Type: table.Int64},
	"year": {Type: table.Int64}, "float": {Type: table.Float64}, "double": {Type: table.Float64},
	"char": {Type: table.String}, "varchar": {Type: table.String}, "tinytext": {Type: table.String}, "text": {Type: table.String},
	"mediumtext": {Type: table.String}, "longtext": {Type: table.String}, "enum": {Type: table.String}, "set": {Type: table.String},
	"uuid": {Type: table.String}, "inet4": {Type: table.String}, "inet6": {Type: table.String},
	"binary": {Type: table.Bytes, From: table.FromBase64}, "varbinary": {Type: table.Bytes, From: table.FromBase64},
	"tinyblob": {Type: table.Bytes, From: table.FromBase64}, "blob": {Type: table.Bytes, From: table.FromBase64},
	"mediumblob": {Type: table.Bytes, From: table.FromBase64}, "longblob": {Type: table.Bytes, From: table.FromBase64},
	"date": {Type: table.Date}, "time": {Type: table.Time, From: table.FromMicros}, "timestamp": {Type: table.Timestamp},
	"json":  {Type: table.JSON},
	"point": {Type: table.JSON}, "linestring": {Type: table.JSON}, "polygon": {Type: table.JSON}, "multipoint": {Type: table.JSON},
	"multilinestring": {Type: table.JSON}, "multipolygon": {Type: table.JSON}, "geometrycollection": {Type: table.JSON},
	"geomcollection": {Type: table.JSON}, "geometry": {Type: table.JSON},
	"vector": {Type: table.Float64, Mode: table.Repeated},
}

// column returns the column for the type's values as Debezium sends them; false where
// it sends none.
func (t myType) column() (table.Column, bool) {
	switch t.name {
	case "decimal":
		return table.Column{Type: decimalType(t.precision, t.scale), From: table.FromDecimal, FromScale: int64(t.scale)}, true
	case "bigint":
		if strings.Contains(t.full, "unsigned") {
			return table.Column{Type: table.Numeric, From: table.FromUnsigned}, true
		}
	case "bit":
		if t.precision == 1 {
			return table.Column{Type: table.Bool}, true
		}
		return table.Column{Type: table.Bytes, From: table.FromBase64}, true
	case "datetime":
		if t.fraction <= 3 {
			return table.Column{Type: table.DateTime, From: table.FromMillis}, true
		}
		return table.Column{Type: table.DateTime, From: table.FromMicros}, true
	}
	c, known := myTypes[t.name]
	return c, known
}
