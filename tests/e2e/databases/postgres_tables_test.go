package databases

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	pgDateTime  = `to_char($, 'YYYY-MM-DD"T"HH24:MI:SS.US')`
	pgTimestamp = `to_char($ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	pgNumeric   = `trim_scale($::numeric)::text`
	pgBytes     = `translate(encode($, 'base64'), E'\n', '')`
	// What the type writes, where a cast to text is something else.
	pgOutput = `CASE WHEN $ IS NOT NULL THEN format('%s', $) END`
	// The texts of an array's elements; BigQuery has no NULL array.
	pgTexts   = `coalesce(to_json($::text[])::text, '[]')`
	pgElement = `coalesce((SELECT json_agg(%s ORDER BY at)::text FROM unnest($) WITH ORDINALITY AS e(e, at)), '[]')`
)

func pgEach(expression string) string { return fmt.Sprintf(pgElement, expression) }

// postgresTables are the tables of the workload.
func postgresTables() []*sourceTable {
	return []*sourceTable{pgItems(), pgPairs(), pgDays(), pgDocs(), pgTypes()}
}

// pgItems are few rows that many transactions meet at. Some columns have the names
// of the envelope's own members.
func pgItems() *sourceTable {
	return &sourceTable{
		name: "items", key: []string{"id"}, weight: 10,
		several: func(r *rand.Rand) string { n := r.IntN(120); return fmt.Sprintf("id BETWEEN %d AND %d", n, n+3) },
		columns: []column{
			{name: "id", source: "integer", target: "INT64, mode: REQUIRED", literal: between(1, 120)},
			{name: "op", source: "text", target: "STRING", literal: orNull(texts(12))},
			{name: "source", source: "bigint", target: "INT64", literal: orNull(between(-1<<61, 1<<61))},
			{name: "Price", source: "numeric(12,2) NOT NULL", target: "NUMERIC, from: decimal, scale: 2", text: pgNumeric, literal: decimals(9, 2)},
			{name: "at", source: "timestamptz NOT NULL", target: "TIMESTAMP", text: pgTimestamp, literal: instants(1900, 2100, 6)},
			{name: "added", source: "text", target: "STRING", literal: orNull(texts(5)), late: true},
			{name: "ignored", source: "integer", literal: between(0, 9), late: true, absent: true},
		},
		rule: "    unknown_columns: ignore\n",
	}
}

// pgPairs have a key of two columns, in another order than the table's.
func pgPairs() *sourceTable {
	return &sourceTable{
		name: "pairs", key: []string{"n", "tenant"}, weight: 6,
		several: func(r *rand.Rand) string { return "n = " + between(1, 12)(r) },
		columns: []column{
			{name: "tenant", source: "text", target: "STRING, mode: REQUIRED", literal: oneOf("'a'", "'b'", "'B'", "''", "'b '", "'日本'", `'"'`, "'a/b'")},
			{name: "v", source: "double precision", target: "FLOAT64", wanted: floatValue, literal: orNull(either(decimals(15, 15), "'NaN'", "'Infinity'", "'-Infinity'", "1e-300", "1e300", "0.1"))},
			{name: "n", source: "bigint", target: "INT64, mode: REQUIRED", literal: between(1, 12)},
		},
	}
}

// pgDays have a key of types that are written in many ways.
func pgDays() *sourceTable {
	return &sourceTable{
		name: "days", key: []string{"day", "price", "at"}, weight: 4,
		several: func(r *rand.Rand) string { return "day = " + oneOf("'1969-12-31'", "'2000-02-29'")(r) },
		columns: []column{
			{name: "day", source: "date", target: "DATE, mode: REQUIRED, from: days", literal: oneOf("'1969-12-31'", "'2000-02-29'", "'0001-01-01'", "'9999-12-31'")},
			{name: "price", source: "numeric(20,4)", target: "NUMERIC, mode: REQUIRED, from: decimal, scale: 4", text: pgNumeric, literal: oneOf("0", "-0.0001", "128", "-128", "12345.5")},
			{name: "at", source: "timestamp", target: "DATETIME, mode: REQUIRED, from: micros", text: pgDateTime, literal: oneOf("'1969-12-31 23:59:59.999999'", "'2025-03-09 02:30:00'")},
			{name: "v", source: "text", target: "STRING", literal: orNull(texts(20))},
		},
	}
}

// pgDocs hold values that PostgreSQL stores out of line, and rows of a megabyte.
func pgDocs() *sourceTable {
	large := func(r *rand.Rand) int {
		switch n := r.IntN(400); {
		case n == 0:
			return 1 << 20
		case n < 100:
			return 3000 + r.IntN(9000)
		default:
			return r.IntN(100)
		}
	}
	return &sourceTable{
		name: "docs", key: []string{"id"}, full: true, weight: 2,
		several: func(r *rand.Rand) string { return fmt.Sprintf("id %% 17 = %d", r.IntN(17)) },
		columns: []column{
			{name: "id", source: "smallint", target: "INT64, mode: REQUIRED", literal: between(-20, 20)},
			{name: "qty", source: "integer", target: "INT64", literal: between(0, 100)},
			{name: "doc", source: "text", target: "STRING", literal: orNull(func(r *rand.Rand) string { return quoteSQL(randomText(r, large(r))) })},
			{name: "raw", source: "bytea", target: "BYTES, from: base64", text: pgBytes, literal: orNull(func(r *rand.Rand) string { return `'\x` + randomHex(r, large(r)) + "'" })},
			{name: "numbers", source: "integer[]", target: "INT64, mode: REPEATED", text: pgTexts, wanted: jsonValue, literal: orNull(func(r *rand.Rand) string {
				values := make([]string, large(r)/4)
				for i := range values {
					values[i] = strconv.Itoa(int(r.Int32()))
				}
				return "'{" + strings.Join(values, ",") + "}'"
			})},
		},
	}
}
