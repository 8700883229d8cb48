package diff

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"beamcdc/cmd/cdc/internal/database"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Postgres is a table of a PostgreSQL database, of version 13 or later.
type Postgres struct {
	sqlSource
	pool          *pgxpool.Pool // rows are looked up while others are read
	schema, name  string
	types         map[string]pgType // by column
	binaryDefault bool              // the database's own collation orders texts by their bytes
	// SettleFor bounds the wait for other transactions to end.
	SettleFor time.Duration
}

// pgType is a column's type, or what its domain is made of.
type pgType struct {
	name    string // as pg_type has it: "int4"
	kind    string // typtype: b base, e enum, r range, …
	element string // of an array: its elements' type, else ""
	bits    int    // of bit(n)
	binary  bool   // the column's collation orders texts by their bytes
	// duration says that connectors send intervals as a number of microseconds.
	duration bool
}

// OpenPostgres connects by a URL or a connection string, and libpq's environment
// variables. The table is given as change events name it, schema.table.
func OpenPostgres(ctx context.Context, dsn, name string) (*Postgres, error) {
	pool, err := database.OpenPostgres(ctx, dsn)
	if err != nil {
		return nil, err
	}
	p := &Postgres{pool: pool, SettleFor: 5 * time.Minute}
	var found bool
	if p.schema, p.name, found = strings.Cut(name, "."); !found {
		p.schema, p.name = "public", name
	}
	p.sqlSource = p.source()
	if err := p.describe(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// source returns what is PostgreSQL's of a source.
func (p *Postgres) source() sqlSource {
	return sqlSource{
		dialect: p.pgDialect(), from: pgQuote(p.schema) + "." + pgQuote(p.name), run: p.query,
		selected: p.selects, value: func(c *Column, text []byte) change.Value {
			t := p.types[c.Source]
			t.duration = c.sentAsDuration()
			return pgValue(t, string(text))
		},
		form: p.formOf, ordered: p.hasOrder,
	}
}

// Close ends the connections.
func (p *Postgres) Close() { p.pool.Close() }

// Use marks the columns that are bits, and those that are intervals.
func (p *Postgres) Use(t *Table) {
	p.sqlSource.Use(t)
	for i := range t.Columns {
		typ := p.types[t.Columns[i].Source]
		t.Columns[i].Bits = typ.name == "varbit" || typ.name == "bit"
		t.Columns[i].Spans = typ.name == "interval" || typ.element == "interval"
	}
}

func (p *Postgres) query(ctx context.Context, query string, args []any, each func([][]byte) error) error {
	return database.QueryPostgres(ctx, p.pool, p.schema+"."+p.name, query, args, each)
}

// describe reads the columns' types.
func (p *Postgres) describe(ctx context.Context) error {
	p.types = map[string]pgType{}
	err := p.query(ctx, `SELECT datcollate IN ('C', 'POSIX') FROM pg_database WHERE datname = current_database()`, nil, func(v [][]byte) error {
		p.binaryDefault = string(v[0]) == "t"
		return nil
	})
	if err != nil {
		return err
	}
	err = p.query(ctx, `
		SELECT a.attname, b.typname, b.typtype, coalesce(e.typname, ''), CASE WHEN b.typname = 'bit' THEN a.atttypmod ELSE 0 END,
			coalesce(c.collname IN ('C', 'POSIX', 'ucs_basic'), false), coalesce(c.collname = 'default', false)
		FROM pg_attribute a
		JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
		JOIN pg_type t ON t.oid = a.atttypid
		JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
		LEFT JOIN pg_type e ON e.oid = b.typelem AND b.typcategory = 'A'
		LEFT JOIN pg_collation c ON c.oid = a.attcollation
		WHERE n.nspname = $1 AND r.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attnum`, []any{p.schema, p.name}, func(v [][]byte) error {
		typ := pgType{name: string(v[1]), kind: string(v[2]), element: string(v[3])}
		_, err := fmt.Sscan(string(v[4]), &typ.bits)
		typ.binary = string(v[5]) == "t" || string(v[6]) == "t" && p.binaryDefault
		name := string(v[0])
		p.types[name] = typ
		p.columns = append(p.columns, name)
		return err
	})
	if err == nil && len(p.columns) == 0 {
		err = fmt.Errorf("PostgreSQL has no table %s.%s", p.schema, p.name)
	}
	return err
}

func pgQuote(name string) string { return pgx.Identifier{name}.Sanitize() }

// selects returns what is read of a column: mostly itself.
func (p *Postgres) selects(c *Column) string {
	name := pgQuote(c.Source)
	switch p.types[c.Source].name {
	case "money":
		return name + "::numeric"
	case "hstore":
		return "hstore_to_json(" + name + ")"
	case "timetz":
		return "(" + name + " AT TIME ZONE 'UTC')::time"
	}
	return name
}

func (p *Postgres) formOf(c *Column) form {
	typ := p.types[c.Source]
	switch typ.name {
	case "bool":
		return formBool
	case "int2", "int4", "int8", "oid":
		return formInt
	case "numeric", "money":
		return formDecimal
	case "bytea":
		return formBytes
	case "date":
		return formDate
	case "time":
		return formTime
	case "timestamp", "timestamptz":
		return formDateTime
	case "text", "varchar", "bpchar", "name", "citext", "uuid", "xml", "inet", "cidr", "macaddr", "macaddr8", "ltree":
		return formText
	}
	if typ.kind == "e" {
		return formText
	}
	return formNone
}

// isText says that an equal text is an equal value for an index's purposes.
func (t pgType) isText() bool {
	switch t.name {
	case "text", "varchar", "bpchar", "name", "citext":
		return true
	}
	return false
}

func (p *Postgres) hasOrder(c *Column) bool {
	typ := p.types[c.Source]
	switch {
	case typ.name == "uuid" || c.Type != table.String:
		return p.formOf(c).canonical(&c.Column)
	default:
		return typ.binary && (typ.name == "text" || typ.name == "varchar")
	}
}

func (p *Postgres) pgDialect() dialect {
	return dialect{
		quote:       pgQuote,
		placeholder: func(n int) string { return fmt.Sprintf("$%d", n) },
		order: func(c *Column) string {
			if c.Type != table.String || p.hasOrder(c) {
				return pgQuote(c.Source)
			}
			return "(" + p.writes(c) + `) COLLATE "C"`
		},
		bind: func(c *Column, placeholder string) string {
			switch {
			case c.Type == table.Bytes:
				return "decode(" + placeholder + ", 'hex')"
			case c.Type == table.String && p.types[c.Source].name == "uuid":
				return "CAST(" + placeholder + " AS uuid)"
			}
			types := map[table.Type]string{
				table.Bool: "boolean", table.Int64: "bigint", table.Numeric: "numeric", table.BigNumeric: "numeric", table.String: "text",
				table.Date: "date", table.Time: "time", table.DateTime: "timestamp", table.Timestamp: "timestamptz",
			}
			typ := types[c.Type]
			if name := p.types[c.Source].name; name == "timestamp" || name == "timestamptz" {
				typ = name
			}
			return "CAST(" + placeholder + " AS " + typ + ")"
		},
		native: func(c *Column, placeholder string) string {
			if p.types[c.Source].isText() {
				return pgQuote(c.Source) + " = " + placeholder
			}
			return ""
		},
		text: p.canonicalText,
		part: "coalesce(char_length(%[1]s)::text || ':' || %[1]s, '-')",
		concat: func(parts []string) string {
			return strings.Join(parts, " || ")
		},
		md5:  "md5(%s)",
		word: "('x' || substr(%[1]s, %[2]d, 8))::bit(32)::bigint",
	}
}

// writes returns what the column's type writes of it. A cast to text cuts a
// bpchar's blanks.
func (p *Postgres) writes(c *Column) string {
	name := pgQuote(c.Source)
	switch p.types[c.Source].name {
	case "bpchar", "inet":
		return "CASE WHEN " + name + " IS NOT NULL THEN format('%s', " + name + ") END"
	}
	return name + "::text"
}

// canonicalText writes infinity and years before Christ as they are, which no value
// of BigQuery's is like.
func (p *Postgres) canonicalText(c *Column) string {
	name := pgQuote(c.Source)
	switch p.formOf(c) {
	case formBytes:
		return "encode(" + name + ", 'hex')"
	case formDecimal:
		return "trim_scale(" + name + "::numeric)::text"
	case formTime:
		return "to_char(" + name + ", 'HH24:MI:SS.US')"
	case formDateTime:
		at := name
		if p.types[c.Source].name == "timestamptz" {
			at = name + " AT TIME ZONE 'UTC'"
		}
		return "CASE WHEN isfinite(" + name + ") AND " + at + " >= '0001-01-01' THEN to_char(" + at + ", 'YYYY-MM-DD HH24:MI:SS.US') ELSE " + name + "::text END"
	default:
		return p.writes(c)
	}
}
