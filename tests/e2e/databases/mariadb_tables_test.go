package databases

import (
	"fmt"
	"math/rand/v2"
)

const (
	myDateTime  = `date_format($, '%Y-%m-%dT%H:%i:%s.%f')`
	myTimestamp = `date_format($, '%Y-%m-%dT%H:%i:%s.%fZ')` // the session is in UTC
	myBytes     = `replace(to_base64($), '\n', '')`
	myTime      = `time_format($, '%H:%i:%s.%f')`
	myBool      = `elt($ + 1, 'false', 'true')`
)

func mariadbTables() []*sourceTable {
	return []*sourceTable{myItems(), myPairs(), myDocs(), myTypes()}
}

// myItems are few rows that many transactions meet at.
func myItems() *sourceTable {
	return &sourceTable{
		name: "items", key: []string{"id"}, weight: 10,
		several: func(r *rand.Rand) string { n := r.IntN(120); return fmt.Sprintf("id BETWEEN %d AND %d", n, n+3) },
		columns: []column{
			{name: "id", source: "integer unsigned", target: "INT64, mode: REQUIRED", literal: between(1, 120)},
			{name: "op", source: "varchar(200)", target: "STRING", literal: orNull(texts(12))},
			{name: "before", source: "bigint", target: "INT64", literal: orNull(between(-1<<61, 1<<61))},
			{name: "Price", source: "decimal(12,2) NOT NULL", target: "NUMERIC, from: decimal, scale: 2", wanted: numericValue, literal: decimals(9, 2)},
			{name: "at", source: "timestamp(6) NOT NULL", target: "TIMESTAMP", text: myTimestamp, literal: instants(1971, 2037, 6)},
			{name: "added", source: "text", target: "STRING", literal: orNull(texts(5)), late: true},
			{name: "ignored", source: "integer", literal: between(0, 9), late: true, absent: true},
		},
		rule: "    unknown_columns: ignore\n",
	}
}

// myPairs have a key of two columns, in another order than the table's. Its texts
// are one key to MariaDB where they differ by case or blanks at their end alone,
// and two to BigQuery.
func myPairs() *sourceTable {
	return &sourceTable{
		name: "pairs", key: []string{"n", "tenant"}, weight: 6,
		several: func(r *rand.Rand) string { return "n = " + between(1, 12)(r) },
		columns: []column{
			{name: "tenant", source: "varchar(20)", target: "STRING, mode: REQUIRED", literal: oneOf("'a'", "'b'", "'B'", "''", "'b '", "'日本'", `'"'`, "'a/b'")},
			{name: "v", source: "double", target: "FLOAT64", wanted: floatValue, literal: orNull(either(decimals(15, 15), "1e-300", "1e300", "0.1"))},
			{name: "n", source: "bigint", target: "INT64, mode: REQUIRED", literal: between(1, 12)},
		},
	}
}

// myDocs hold large values, and rows of a megabyte.
func myDocs() *sourceTable {
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
		name: "docs", key: []string{"id"}, weight: 2,
		several: func(r *rand.Rand) string { return fmt.Sprintf("id %% 17 = %d", r.IntN(17)) },
		columns: []column{
			{name: "id", source: "smallint", target: "INT64, mode: REQUIRED", literal: between(-20, 20)},
			{name: "qty", source: "integer", target: "INT64", literal: between(0, 100)},
			{name: "doc", source: "longtext", target: "STRING", literal: orNull(func(r *rand.Rand) string { return quoteSQL(randomText(r, large(r))) })},
			{name: "raw", source: "longblob", target: "BYTES, from: base64", text: myBytes, literal: orNull(func(r *rand.Rand) string { return "x'" + randomHex(r, large(r)) + "'" })},
		},
	}
}

// myTypes has a column of each type.
func myTypes() *sourceTable {
	return &sourceTable{
		name: "types", key: []string{"id"}, weight: 3,
		several: func(r *rand.Rand) string { n := r.IntN(2000); return fmt.Sprintf("id BETWEEN %d AND %d", n, n+20) },
		columns: []column{
			{name: "id", source: "bigint", target: "INT64, mode: REQUIRED", literal: between(1, 2000)},
			{name: "c_bool", source: "tinyint(1)", target: "BOOL", text: myBool, wanted: jsonValue, literal: orNull(oneOf("0", "1"))},
			{name: "c_int1", source: "tinyint", target: "INT64", literal: orNull(oneOf("-128", "127", "0"))},
			{name: "c_uint1", source: "tinyint unsigned", target: "INT64", literal: orNull(oneOf("255", "128", "0"))},
			{name: "c_int2", source: "smallint", target: "INT64", literal: orNull(oneOf("-32768", "32767", "7"))},
			{name: "c_uint2", source: "smallint unsigned", target: "INT64", literal: orNull(oneOf("65535", "0"))},
			{name: "c_int3", source: "mediumint", target: "INT64", literal: orNull(oneOf("-8388608", "8388607"))},
			{name: "c_uint3", source: "mediumint unsigned", target: "INT64", literal: orNull(oneOf("16777215", "0"))},
			{name: "c_int4", source: "int", target: "INT64", literal: orNull(oneOf("-2147483648", "2147483647"))},
			{name: "c_uint4", source: "int unsigned", target: "INT64", literal: orNull(oneOf("4294967295", "0"))},
			{name: "c_int8", source: "bigint", target: "INT64", literal: orNull(oneOf("-9223372036854775808", "9223372036854775807", "9007199254740993"))},
			{name: "c_uint8", source: "bigint unsigned", target: "NUMERIC, from: unsigned", literal: orNull(oneOf("18446744073709551615", "9223372036854775808", "1"))},
			{name: "c_float", source: "float", target: "FLOAT64", wanted: floatValue, literal: orNull(oneOf("0.5", "-1.25", "1024", "0"))},
			{name: "c_double", source: "double", target: "FLOAT64", wanted: floatValue, literal: orNull(either(decimals(10, 6), "1.7976931348623157e308", "-0.1"))},
			{name: "c_decimal", source: "decimal(38,9)", target: "NUMERIC, from: decimal, scale: 9", wanted: numericValue, literal: orNull(either(decimals(28, 9), "99999999999999999999999999999.999999999", "-0.000000001"))},
			{name: "c_big", source: "decimal(60,30)", target: "BIGNUMERIC, from: decimal, scale: 30", wanted: numericValue, literal: orNull(decimals(29, 30))},
			{name: "c_whole", source: "decimal(20,0)", target: "NUMERIC, from: decimal, scale: 0", literal: orNull(between(-1<<61, 1<<61))},
			{name: "c_bit1", source: "bit(1)", target: "BOOL", text: myBool, wanted: jsonValue, literal: orNull(oneOf("b'0'", "b'1'"))},
			{name: "c_bits", source: "bit(10)", target: "BYTES, from: base64", text: "lpad(bin($ + 0), 10, '0')", wanted: bitsValue, literal: orNull(bitsOf(10, 10))},
			{name: "c_char", source: "char(6)", target: "STRING", literal: orNull(oneOf("'a'", "'ab '", "''", "'äöü日本語'", "'123456'"))},
			{name: "c_varchar", source: "varchar(40)", target: "STRING", literal: orNull(texts(40))},
			{name: "c_latin1", source: "varchar(40) CHARACTER SET latin1", target: "STRING", literal: orNull(oneOf("'äöü €'", "'plain'"))},
			{name: "c_text", source: "text", target: "STRING", literal: orNull(texts(60))},
			{name: "c_binary", source: "binary(4)", target: "BYTES, from: base64", text: myBytes, literal: orNull(oneOf("x'deadbeef'", "x'de'", "x'00'"))},
			{name: "c_varbinary", source: "varbinary(40)", target: "BYTES, from: base64", text: myBytes, literal: orNull(func(r *rand.Rand) string { return "x'" + randomHex(r, r.IntN(40)) + "'" })},
			{name: "c_blob", source: "blob", target: "BYTES, from: base64", text: myBytes, literal: orNull(func(r *rand.Rand) string { return "x'" + randomHex(r, r.IntN(40)) + "'" })},
			{name: "c_enum", source: "enum('open','paid','void')", target: "STRING", literal: orNull(oneOf("'open'", "'paid'", "'void'"))},
			{name: "c_set", source: "set('a','b','c')", target: "STRING", literal: orNull(oneOf("''", "'a'", "'a,c'", "'c,b'"))},
			{name: "c_year", source: "year", target: "INT64", literal: orNull(oneOf("1901", "2155", "2025"))},
			{name: "c_date", source: "date", target: "DATE, from: days", literal: orNull(either(days(1000, 9999), "'1969-12-31'", "'9999-12-31'"))},
			{name: "c_time", source: "time", target: "TIME, from: micros", text: myTime, literal: orNull(clocks(0))},
			// Debezium's snapshots read a TIME without its fraction, its changes with it.
			{name: "c_time6", source: "time(6)", target: "TIME, from: micros", text: myTime, literal: orNull(clocks(0))},
			{name: "c_datetime", source: "datetime", target: "DATETIME, from: millis", text: myDateTime, literal: orNull(instants(1000, 9998, 0))},
			{name: "c_datetime3", source: "datetime(3)", target: "DATETIME, from: millis", text: myDateTime, literal: orNull(instants(1900, 2100, 3))},
			{name: "c_datetime6", source: "datetime(6)", target: "DATETIME, from: micros", text: myDateTime, literal: orNull(either(instants(1000, 9998, 6), "'1969-12-31 23:59:59.999999'", "'2025-03-09 02:30:00'"))},
			{name: "c_timestamp", source: "timestamp NULL", target: "TIMESTAMP", text: myTimestamp, literal: orNull(instants(1971, 2037, 0))},
			{name: "c_timestamp3", source: "timestamp(3) NULL", target: "TIMESTAMP", text: myTimestamp, literal: orNull(instants(1971, 2037, 3))},
			{name: "c_json", source: "json", target: "JSON", wanted: anyJSON, literal: orNull(either(jsons, "'3'", "'null'", `'"text"'`, "'[]'"))},
			{name: "c_point", source: "point", target: "GEOGRAPHY", text: "concat('POINT(', ST_X($), ' ', ST_Y($), ')')", literal: orNull(oneOf("ST_GeomFromText('POINT(1.5 -2.25)')", "ST_GeomFromText('POINT(0 0)')"))},
		},
	}
}
