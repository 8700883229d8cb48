package ddl

import (
	"context"
	"fmt"
	"strconv"

	"beamcdc/cmd/cdc/internal/database"
	"beamcdc/schemas/table"
)

// pgColumns reads the columns of all tables that Debezium captures as such: not those
// of partitions, whose table has them.
const pgColumns = `
SELECT n.nspname, r.relname, coalesce(obj_description(r.oid, 'pg_class'), ''), a.attname, b.typname, b.typtype, coalesce(e.typname, ''),
	CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, a.attnotnull OR t.typtype = 'd' AND t.typnotnull,
	a.attgenerated, coalesce(col_description(r.oid, a.attnum), ''),
	coalesce(array_position(i.indkey::int2[], a.attnum), -1), coalesce(i.indisprimary, false)
FROM pg_attribute a
JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
LEFT JOIN pg_type e ON e.oid = b.typelem AND b.typcategory = 'A'
LEFT JOIN LATERAL (
	SELECT indkey, indisprimary FROM pg_index WHERE indrelid = r.oid AND (indisprimary OR indisreplident) ORDER BY indisprimary DESC LIMIT 1
) i ON true
WHERE r.relkind IN ('r', 'p') AND NOT r.relispartition AND a.attnum > 0 AND NOT a.attisdropped
	AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_toast%' AND n.nspname NOT LIKE 'pg\_temp%'
ORDER BY n.nspname, r.relname, a.attnum`

// readPostgres describes those of a database's tables that are asked for by name.
func readPostgres(ctx context.Context, dsn string, asked func(name string) bool) ([]*Source, error) {
	pool, err := database.OpenPostgres(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	var sources described
	err = database.QueryPostgres(ctx, pool, "its tables", pgColumns, nil, func(v [][]byte) error {
		name := string(v[0]) + "." + string(v[1])
		if !asked(name) {
			return nil
		}
		s := sources.table(name, string(v[2]))
		typmod, err := strconv.Atoi(string(v[7]))
		if err != nil {
			return fmt.Errorf("asking PostgreSQL for its tables: %w", err)
		}
		column := string(v[3])
		if string(v[9]) != "" {
			s.note("column %s is generated, and PostgreSQL publishes it from version 18 on, if the publication says so: it is left out", column)
			return nil
		}
		typ := pgType{name: string(v[4]), kind: string(v[5]), element: string(v[6]), typmod: typmod}
		c, known := typ.column(s, column)
		if !known {
			s.note("column %s is of type %s, which Debezium leaves out: so it is left out", column, typ.name)
			return nil
		}
		c.Name, c.Description = column, string(v[10])
		if string(v[8]) == "t" && c.Mode != table.Repeated {
			c.Mode = table.Required
		}
		s.Columns = append(s.Columns, c)
		place, err := strconv.Atoi(string(v[11]))
		if err != nil {
			return fmt.Errorf("asking PostgreSQL for its tables: %w", err)
		}
		if place >= 0 {
			sources.key(name, column, place)
		}
		return nil
	})
	return sources.done(), err
}

// pgType is a column's type, or what its domain is made of.
type pgType struct {
	name    string // as pg_type has it: "int4"
	kind    string // typtype: b base, c composite, e enum, r range, …
	element string // of an array: its elements' type, else ""
	typmod  int    // -1 for none
}

var pgTypes = map[string]table.Column{
	"bool": {Type: table.Bool}, "int2": {Type: table.Int64}, "int4": {Type: table.Int64}, "int8": {Type: table.Int64}, "oid": {Type: table.Int64},
	"float4": {Type: table.Float64}, "float8": {Type: table.Float64},
	"money": {Type: table.Numeric, From: table.FromDecimal, FromScale: 2},
	"text":  {Type: table.String}, "varchar": {Type: table.String}, "bpchar": {Type: table.String}, "name": {Type: table.String}, "char": {Type: table.String},
	"citext": {Type: table.String}, "uuid": {Type: table.String}, "xml": {Type: table.String}, "ltree": {Type: table.String},
	"inet": {Type: table.String}, "cidr": {Type: table.String}, "macaddr": {Type: table.String}, "macaddr8": {Type: table.String},
	"tsvector": {Type: table.String},
	"bytea":    {Type: table.Bytes, From: table.FromBase64}, "varbit": {Type: table.Bytes, From: table.FromBase64},
	"date": {Type: table.Date}, "timetz": {Type: table.Time}, "timestamptz": {Type: table.Timestamp},
	"interval": {Type: table.Interval, From: table.FromMicros},
	"json":     {Type: table.JSON}, "jsonb": {Type: table.JSON}, "hstore": {Type: table.JSON},
	"point": {Type: table.JSON}, "geometry": {Type: table.JSON}, "geography": {Type: table.Geography},
	"vector": {Type: table.Float64, Mode: table.Repeated}, "halfvec": {Type: table.Float64, Mode: table.Repeated},
}

// column returns the column for the type's values as Debezium sends them; false where
// it sends none.
func (t pgType) column(s *Source, name string) (table.Column, bool) {
	if t.element != "" {
		e := pgType{name: t.element, kind: "b", typmod: t.typmod}
		c, known := e.column(s, name)
		if c.Mode == table.Repeated { // of vectors
			return table.Column{Type: table.JSON, Mode: table.Nullable}, known
		}
		c.Mode = table.Repeated
		return c, known
	}
	// The precision of times stands in the modifier; without one it is 6.
	precise := table.FromMicros
	if 0 <= t.typmod && t.typmod <= 3 {
		precise = table.FromMillis
	}
	switch {
	case t.name == "numeric" && t.typmod < 4:
		s.Unbounded = append(s.Unbounded, name)
		return table.Column{Type: table.BigNumeric, Mode: table.Nullable}, true
	case t.name == "numeric":
		precision, scale := (t.typmod-4)>>16&0xffff, int(int16(uint16(t.typmod-4)<<5)>>5) // eleven bits, signed
		c := table.Column{Type: decimalType(precision, scale), Mode: table.Nullable, From: table.FromDecimal, FromScale: int64(scale)}
		return c, true
	case t.name == "bit" && t.typmod == 1:
		return table.Column{Type: table.Bool, Mode: table.Nullable}, true
	case t.name == "bit":
		return table.Column{Type: table.Bytes, Mode: table.Nullable, From: table.FromBase64}, true
	case t.name == "time":
		return table.Column{Type: table.Time, Mode: table.Nullable, From: precise}, true
	case t.name == "timestamp":
		return table.Column{Type: table.DateTime, Mode: table.Nullable, From: precise}, true
	case t.kind == "e", t.kind == "r":
		return table.Column{Type: table.String, Mode: table.Nullable}, true
	}
	c, known := pgTypes[t.name]
	if c.Mode == "" {
		c.Mode = table.Nullable
	}
	return c, known
}
