package diff

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"beamcdc/cmd/cdc/internal/database"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// MySQL is a table of a MySQL or MariaDB server.
type MySQL struct {
	sqlSource
	pool     *sql.DB // rows are looked up while others are read
	db, name string
	types    map[string]myType // by column
}

type myType struct {
	name     string // as information_schema's data_type has it: "bigint"
	unsigned bool
	bits     int // of bit(n)
}

// OpenMySQL connects by a URL, mysql://USER@HOST:PORT/DATABASE; the password may be
// in MYSQL_PWD. The table is given as change events name it, database.table.
func OpenMySQL(ctx context.Context, dsn, name string) (*MySQL, error) {
	pool, named, err := database.OpenMySQL(ctx, dsn)
	if err != nil {
		return nil, err
	}
	m := &MySQL{pool: pool, types: map[string]myType{}}
	var found bool
	if m.db, m.name, found = strings.Cut(name, "."); !found {
		m.db, m.name = named, name
	}
	m.sqlSource = sqlSource{
		dialect: m.myDialect(), from: myQuote(m.db) + "." + myQuote(m.name), run: m.query,
		selected: m.selects, value: func(c *Column, text []byte) change.Value { return myValue(m.types[c.Source], text) },
		form: m.formOf,
		ordered: func(c *Column) bool { // collations order texts by anything but their bytes, and ignore blanks at the end
			return c.Type != table.String && m.formOf(c).canonical(&c.Column)
		},
	}
	if err := m.describe(ctx); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close ends the connections.
func (m *MySQL) Close() { _ = m.pool.Close() }

// Use marks the columns that are bits.
func (m *MySQL) Use(t *Table) {
	m.sqlSource.Use(t)
	for i := range t.Columns {
		t.Columns[i].Bits = m.types[t.Columns[i].Source].name == "bit"
	}
}

func (m *MySQL) query(ctx context.Context, query string, args []any, each func([][]byte) error) error {
	return database.QueryMySQL(ctx, m.pool, m.db+"."+m.name, query, args, each)
}

// describe reads the columns' types.
func (m *MySQL) describe(ctx context.Context) error {
	err := m.query(ctx, `SELECT column_name, lower(data_type), lower(column_type), coalesce(numeric_precision, 0)
		FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position`, []any{m.db, m.name},
		func(v [][]byte) error {
			name, typ := string(v[0]), myType{name: string(v[1]), unsigned: strings.Contains(string(v[2]), "unsigned")}
			if typ.name == "bit" {
				typ.bits, _ = strconv.Atoi(string(v[3]))
			}
			m.types[name] = typ
			m.columns = append(m.columns, name)
			return nil
		})
	if err == nil && len(m.columns) == 0 {
		err = fmt.Errorf("MySQL has no table %s.%s", m.db, m.name)
	}
	return err
}

func myQuote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// selects returns what is read of a column: mostly itself.
func (m *MySQL) selects(c *Column) string {
	name := myQuote(c.Source)
	switch typ := m.types[c.Source]; typ.name {
	case "float": // of which itself has six digits
		return "CAST(" + name + " AS DOUBLE)"
	case "json": // MariaDB's is a text
		return "CAST(" + name + " AS CHAR)"
	case "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geometry":
		return "ST_AsText(" + name + ")"
	}
	return name
}

func (m *MySQL) formOf(c *Column) form {
	switch typ := m.types[c.Source]; typ.name {
	case "tinyint":
		if c.Type == table.Bool {
			return formBool
		}
		return formInt
	case "smallint", "mediumint", "int", "bigint", "year":
		return formInt
	case "bit":
		if typ.bits == 1 {
			return formBool
		}
	case "decimal":
		return formDecimal
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return formText
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return formBytes
	case "date":
		return formDate
	case "time":
		return formTime
	case "datetime", "timestamp":
		return formDateTime
	}
	return formNone
}

func (m *MySQL) myDialect() dialect {
	return dialect{
		quote:       myQuote,
		placeholder: func(int) string { return "?" },
		order: func(c *Column) string {
			if c.Type == table.String {
				return "CAST(CONVERT(" + myQuote(c.Source) + " USING utf8mb4) AS BINARY)"
			}
			return myQuote(c.Source)
		},
		bind: func(c *Column, placeholder string) string {
			types := map[table.Type]string{
				table.Int64: "SIGNED", table.Numeric: "DECIMAL(65,30)", table.BigNumeric: "DECIMAL(65,30)", table.String: "BINARY",
				table.Date: "DATE", table.Time: "TIME(6)", table.DateTime: "DATETIME(6)", table.Timestamp: "DATETIME(6)",
			}
			switch c.Type {
			case table.Bytes:
				return "UNHEX(" + placeholder + ")"
			case table.Bool:
				return "(" + placeholder + " = 'true')"
			case table.Timestamp: // CAST knows no zone; the session is in UTC
				return "CAST(TRIM(TRAILING 'Z' FROM " + placeholder + ") AS DATETIME(6))"
			default:
				return "CAST(" + placeholder + " AS " + types[c.Type] + ")"
			}
		},
		native: func(c *Column, placeholder string) string {
			if c.Type == table.String && m.formOf(c) == formText {
				return myQuote(c.Source) + " = " + placeholder
			}
			return ""
		},
		text:   m.canonicalText,
		part:   "COALESCE(CONCAT(CHAR_LENGTH(%[1]s), ':', %[1]s), '-')",
		concat: func(parts []string) string { return "CONCAT(" + strings.Join(parts, ", ") + ")" },
		md5:    "MD5(%s)",
		word:   "CAST(CONV(SUBSTR(%[1]s, %[2]d, 8), 16, 10) AS UNSIGNED)",
	}
}

func (m *MySQL) canonicalText(c *Column) string {
	name := myQuote(c.Source)
	switch m.formOf(c) {
	case formBool:
		return "(CASE " + name + " + 0 WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE CAST(" + name + " AS CHAR) END)"
	case formDecimal:
		text := "CAST(" + name + " AS CHAR)"
		return "IF(LOCATE('.', " + text + ") > 0, TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM " + text + ")), " + text + ")"
	case formBytes:
		return "LOWER(HEX(" + name + "))"
	case formTime:
		return "TIME_FORMAT(" + name + ", '%H:%i:%s.%f')"
	case formDateTime:
		return "DATE_FORMAT(" + name + ", '%Y-%m-%d %H:%i:%s.%f')"
	case formText:
		return "CONVERT(" + name + " USING utf8mb4)"
	default:
		return "CAST(" + name + " AS CHAR)"
	}
}

// myValue reads the text that the server writes of a value, and gives the value
// that Debezium's schema would give it.
func myValue(t myType, raw []byte) change.Value {
	text := string(raw)
	switch t.name {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return change.Int64(n)
		} else if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return change.Uint64(n)
		}
	case "decimal":
		return change.Decimal(text)
	case "float":
		if x, err := strconv.ParseFloat(text, 64); err == nil { // a float's shortest digits, as Debezium writes it
			x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, 32), 64)
			return change.Float64(x)
		}
	case "double":
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return change.Float64(x)
		}
	case "bit":
		var eight [8]byte
		copy(eight[8-min(8, len(raw)):], raw)
		return bits(fmt.Sprintf("%0*b", max(1, t.bits), binary.BigEndian.Uint64(eight[:])), t.bits == 1)
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return change.Bytes(text)
	case "date":
		if at, err := time.Parse(time.DateOnly, text); err == nil {
			return change.Date(floorDiv(at.UnixMicro(), 86_400_000_000))
		}
	case "time":
		return clock(text)
	case "datetime", "timestamp":
		if at, err := time.Parse("2006-01-02 15:04:05.999999", text); err == nil {
			if t.name == "timestamp" { // the session is in UTC
				return change.Timestamp(at.UnixMicro())
			}
			return change.DateTime(at.UnixMicro())
		}
	case "json":
		return change.JSON(text)
	}
	return change.String(text)
}
