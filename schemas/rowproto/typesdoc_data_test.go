package rowproto

import (
	"math"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// typeDoc is a section of docs/types.md. What values become is not written here:
// the encoder is asked.
type typeDoc struct {
	types []table.Type // of one section
	about string
	takes []sample
	bad   []sample
}

// sample is a value for a column.
type sample struct {
	column string // as encodings have it
	shown  string
	value  change.Value
}

// untypedSample is of a message without a schema.
func untypedSample(column, json string) sample {
	return sample{column, "`" + json + "`", untypedValue(json)}
}

// typedSample is of a message that types its values.
func typedSample(column, shown string, v change.Value) sample { return sample{column, shown, v} }

var typeDocs = []typeDoc{
	{
		types: []table.Type{table.Bool},
		about: "True and false, 1 and 0, and their texts, of any case; PostgreSQL's `t` and `f` too. No other number and no other word: 2 is neither.",
		takes: []sample{
			untypedSample("BOOL", `false`), untypedSample("BOOL", `1`), untypedSample("BOOL", `"TRUE"`), untypedSample("BOOL", `"f"`),
		},
		bad: []sample{untypedSample("BOOL", `2`), untypedSample("BOOL", `"yes"`)},
	},
	{
		types: []table.Type{table.Int64},
		about: "Whole numbers of 64 bits, however they are spelled, digit for digit: no number passes through a double on its way. " +
			"`from: unsigned` gives a column back what a source's unsigned 64 bits wrapped around; beyond 2⁶³ an INT64 can't hold it, and NUMERIC or STRING can. Nothing in a message tells a number that wrapped from a negative one, so the setting must.",
		takes: []sample{
			untypedSample("INT64", `9007199254740993`), untypedSample("INT64", `"-42"`), untypedSample("INT64", `12.50e1`), untypedSample("INT64", `true`),
			untypedSample("INT64, from: decimal", `"MDk="`), untypedSample("INT64, from: unsigned", `7`), typedSample("INT64", "decimal `12.00`", change.Decimal("12.00")),
		},
		bad: []sample{
			untypedSample("INT64", `9223372036854775808`), untypedSample("INT64", `-2.5`), untypedSample("INT64", `"seven"`),
			typedSample("INT64", "double 2⁶⁰, which is the nearest of several integers", change.Float64(1<<60)),
		},
	},
	{
		types: []table.Type{table.Numeric, table.BigNumeric},
		about: "Exact decimals, of 29 digits before and 9 after the point for NUMERIC, 38 and 38 for BIGNUMERIC (a little more before it), or what the column's parameters say. " +
			"Zeros that don't count don't. BigQuery would round digits too many without a word; here they are a bad value.\n\n" +
			"Base64 needs `from: decimal` and the `scale` that it doesn't carry. One setting means one thing: of a text that is base64 and digits at once, such as `\"1234\"`, it makes base64. " +
			"Where decimals come as texts of digits, leave `from` out.",
		takes: []sample{
			untypedSample("NUMERIC", `123.45`), untypedSample("NUMERIC", `"0012.50"`), untypedSample("NUMERIC", `1.5E+3`),
			untypedSample("NUMERIC, from: decimal, scale: 2", `"z8c="`), untypedSample("NUMERIC, from: decimal, scale: -2", `"BOI="`),
			untypedSample("NUMERIC", `{"scale":4,"value":"D09R"}`), untypedSample("NUMERIC, from: unsigned", `-1`),
			typedSample("NUMERIC", "double `0.1`, by its shortest digits", change.Float64(0.1)),
			untypedSample("BIGNUMERIC", `70000000000000000003.00000000000000000009`),
			untypedSample("BIGNUMERIC, from: decimal, scale: 0", `"SztMqFqGxHoJiiI//////w=="`), untypedSample("BIGNUMERIC, from: unsigned", `-1`),
		},
		bad: []sample{
			untypedSample("NUMERIC(5,2)", `1.005`), untypedSample("NUMERIC(5,2)", `-1000`), untypedSample("NUMERIC(5,2)", `"Infinity"`),
			untypedSample("NUMERIC", `"NaN"`), untypedSample("NUMERIC", `"MDk="`), untypedSample("BIGNUMERIC", `1e39`),
		},
	},
	{
		types: []table.Type{table.Float64},
		about: "A number with a point or an exponent is the nearest double. An integer, or a decimal that its message types as one, must come back from the double with the digits it had: " +
			"0.1 does, 9007199254740993 does not. NaN and infinities are values here.",
		takes: []sample{
			untypedSample("FLOAT64", `0.1`), untypedSample("FLOAT64", `"NaN"`), untypedSample("FLOAT64", `"-Infinity"`), untypedSample("FLOAT64", `9007199254740992`),
			untypedSample("FLOAT64, from: decimal, scale: 2", `"MDk="`), untypedSample("FLOAT64, from: unsigned", `-9223372036854775808`),
			untypedSample("FLOAT64", `{"scale":4,"value":"D09R"}`),
		},
		bad: []sample{
			untypedSample("FLOAT64", `9007199254740993`), untypedSample("FLOAT64", `1e309`),
			typedSample("FLOAT64", "decimal `0.12345678901234567890`", change.Decimal("0.12345678901234567890")), untypedSample("FLOAT64", `"high"`),
		},
	},
	{
		types: []table.Type{table.String},
		about: "A text is itself, character for character; it must be UTF-8, and no longer than STRING(n) allows: nothing is cut. " +
			"A number is its literal, as the message has it. Typed values have their text: dates and times in ISO 8601, arrays and structs as JSON.",
		takes: []sample{
			untypedSample("STRING", `"grün"`), untypedSample("STRING", `""`), untypedSample("STRING", `1.50`), untypedSample("STRING", `{"b": 1.0, "a":[ ]}`), untypedSample("STRING", `"NaN"`),
			typedSample("STRING", "timestamp 1741507626000000", change.Timestamp(1741507626000000)),
			untypedSample("STRING, from: decimal, scale: 2", `"z8c="`), untypedSample("STRING, from: unsigned", `-1`),
			untypedSample("STRING, from: base64", `"Z3LDvG4="`), untypedSample("STRING, from: hex", `"6162"`),
			typedSample("STRING, from: text", "bytes `61 62`", change.Bytes("ab")),
		},
		bad: []sample{
			untypedSample("STRING(3)", `"abcd"`), typedSample("STRING", "bytes `FF 00`", change.Bytes("\xFF\x00")), typedSample("STRING", "text that is no UTF-8", change.String("a\xFF")),
			untypedSample("STRING, from: hex", `"grün"`), typedSample("STRING", "date beyond 9999-12-31", change.Date(2932897)),
		},
	},
	{
		types: []table.Type{table.Bytes},
		about: "Typed bytes are themselves. An untyped text is base64, of the standard or the URL alphabet, as such messages spell bytes; `from: hex` or `text` says otherwise. " +
			"Say it: digits such as `deadbeef` are base64 as well. A text that its message types as one needs `from`. Nothing is cut to BYTES(n).",
		takes: []sample{
			untypedSample("BYTES", `"3q2+7w=="`), untypedSample("BYTES", `"3q2-7w=="`), untypedSample("BYTES", `""`), untypedSample("BYTES, from: hex", `"0xdeadbeef"`), untypedSample("BYTES, from: hex", `"\\xdeadbeef"`),
			untypedSample("BYTES, from: text", `"ab"`), typedSample("BYTES, from: base64", "text `3q2+7w==`", change.String("3q2+7w==")),
		},
		bad: []sample{
			untypedSample("BYTES", `"0xdeadbeef"`), untypedSample("BYTES(2)", `"AAEC"`), typedSample("BYTES", "text `3q2+7w==`", change.String("3q2+7w==")), untypedSample("BYTES", `1`),
		},
	},
	{
		types: []table.Type{table.Date},
		about: "0001-01-01 to 9999-12-31 of the proleptic Gregorian calendar. A number counts days, the one count that a date has; a date and time must be midnight.\n\n" +
			"PostgreSQL's `infinity` and `-infinity` reach Debezium's 32 bits as two days of the remote past: take `null` there, since `clamp` can't tell them apart.",
		takes: []sample{
			untypedSample("DATE", `20156`), untypedSample("DATE", `-1`), untypedSample("DATE", `"2025-03-09"`), untypedSample("DATE", `"2025-03-09Z"`), untypedSample("DATE", `"2025-03-09T00:00:00Z"`),
			untypedSample("DATE, from: days", `"20156"`), untypedSample("DATE, from: seconds", `-86400`), untypedSample("DATE, from: millis", `1741478400000`),
			untypedSample("DATE, from: micros", `1741478400000000`), untypedSample("DATE, from: nanos", `1741478400000000000`), untypedSample("DATE", `{"year":2025,"month":3,"day":9}`),
		},
		bad: []sample{
			untypedSample("DATE", `2932897`), untypedSample("DATE", `"-infinity"`), untypedSample("DATE", `"0044-03-15 BC"`), untypedSample("DATE", `"2025-03-09 12:00:00"`),
			untypedSample("DATE", `"0000-00-00"`), untypedSample("DATE", `"1900-02-29"`), untypedSample("DATE", `"20156"`),
		},
	},
	{
		types: []table.Type{table.Time},
		about: "A time of day in microseconds. What MySQL's TIME can hold beyond it, negative or of 24 hours and more, is an INTERVAL.",
		takes: []sample{
			untypedSample("TIME", `"08:07:06.005004"`), untypedSample("TIME", `"08:07"`), untypedSample("TIME", `"08:07:06.5Z"`), untypedSample("TIME", `"23:59:59.999999999"`),
			untypedSample("TIME, from: seconds", `29226`), untypedSample("TIME, from: millis", `29226005`), untypedSample("TIME, from: micros", `29226005004`), untypedSample("TIME, from: nanos", `29226005004999`),
			untypedSample("TIME", `{"hour":8,"minute":7,"second":6,"nanos":0}`),
		},
		bad: []sample{
			untypedSample("TIME", `"838:59:59"`), untypedSample("TIME", `"-01:00:00"`), untypedSample("TIME", `"24:00:00"`), untypedSample("TIME", `"08:07:06+02:00"`), untypedSample("TIME", `29226005`),
		},
	},
	{
		types: []table.Type{table.DateTime, table.Timestamp},
		about: "Microseconds, from 0001-01-01 to the end of 9999-12-31, before 1970 too; nanoseconds are cut downwards, the one loss that needs no setting. " +
			"DATETIME is what a clock on a wall shows, TIMESTAMP an instant; they become each other in UTC, as in BigQuery's own CAST. " +
			"A text without a zone is UTC to a TIMESTAMP. A text with another offset than zero is no DATETIME.\n\n" +
			"A number needs a unit, from the message's schema or from `from`: seconds, milliseconds and microseconds are never told apart by their size.",
		takes: []sample{
			untypedSample("TIMESTAMP", `"2025-03-09T13:37:06.005004+05:30"`), untypedSample("TIMESTAMP", `"2025-03-09 08:07:06.84"`), untypedSample("TIMESTAMP", `"1969-12-31T23:59:59.999999999Z"`), untypedSample("TIMESTAMP", `"2025-03-09"`),
			untypedSample("TIMESTAMP, from: seconds", `1741507626.5`), untypedSample("TIMESTAMP, from: millis", `1741507626094`), untypedSample("TIMESTAMP, from: micros", `-1`),
			untypedSample("TIMESTAMP, from: nanos", `1741507626005004999`), untypedSample("TIMESTAMP, from: days", `20156`), typedSample("TIMESTAMP", "date 20156", change.Date(20156)),
			untypedSample("DATETIME", `"2025-03-09T08:07:06.005004"`), untypedSample("DATETIME", `"2025-03-09 02:30:00Z"`), untypedSample("DATETIME, from: seconds", `0`), untypedSample("DATETIME, from: millis", `"1741507626094"`),
			untypedSample("DATETIME, from: micros", `1741507626005004`), untypedSample("DATETIME, from: nanos", `-1`), untypedSample("DATETIME, from: days", `-719162`),
			untypedSample("DATETIME", structuredAt),
		},
		bad: []sample{
			untypedSample("TIMESTAMP", `1741507626386`), untypedSample("TIMESTAMP, from: micros", `253402300800000000`), untypedSample("TIMESTAMP", `"infinity"`), untypedSample("TIMESTAMP", `"2025-03-09 08:07:06 Europe/Paris"`),
			untypedSample("TIMESTAMP", `"2016-12-31T23:59:60Z"`), untypedSample("DATETIME, from: micros", `-62135596800000001`), untypedSample("DATETIME", `"0000-00-00 00:00:00"`), untypedSample("DATETIME", `"2025-03-09T08:07:06+02:00"`),
		},
	},
	{
		types: []table.Type{table.Interval},
		about: "Three parts, of months, days and microseconds, that never become one another. ISO 8601's durations, PostgreSQL's and BigQuery's texts, hours:minutes:seconds beyond a day and below zero, and numbers of a unit. " +
			"`from: days` makes days, the other units make microseconds.",
		takes: []sample{
			untypedSample("INTERVAL", `"P1Y2M3DT4H5M6.78S"`), untypedSample("INTERVAL", `"1 year 2 mons 3 days 04:05:06.78"`), untypedSample("INTERVAL", `"1-2 3 4:5:6"`), untypedSample("INTERVAL", `"-838:59:59"`),
			untypedSample("INTERVAL, from: seconds", `1.5`), untypedSample("INTERVAL, from: millis", `-1`), untypedSample("INTERVAL, from: micros", `86400000000`), untypedSample("INTERVAL, from: nanos", `-1`), untypedSample("INTERVAL, from: days", `-3`),
			untypedSample("INTERVAL", `{"years":1,"months":2,"days":3,"hours":4,"minutes":5,"seconds":6,"nanos":780000000}`),
		},
		bad: []sample{untypedSample("INTERVAL", `"P10001Y"`), untypedSample("INTERVAL", `86400000000`), untypedSample("INTERVAL", `"soon"`)},
	},
	{
		types: []table.Type{table.Range},
		about: "A range of DATE, DATETIME or TIMESTAMP: PostgreSQL's and BigQuery's texts, or an object of start and end, whose bounds are read as their type is, `from` included. A missing bound is unbounded. " +
			"Of dates, which are whole days, `(` and `]` are moved to `[` and `)`; of instants they can't be.",
		takes: []sample{
			untypedSample("RANGE<DATE>", `"[2025-01-01,2025-01-31]"`), untypedSample("RANGE<DATE>", `"[2025-01-01,)"`), untypedSample("RANGE<TIMESTAMP>", `"[\"2025-03-09 08:07:06+00\",\"2025-03-09 10:07:07+01\")"`),
			untypedSample("RANGE<TIMESTAMP>, from: millis", `{"start":1741507626094,"end":null}`),
		},
		bad: []sample{
			untypedSample("RANGE<DATE>", `"[2025-01-01,infinity)"`), untypedSample("RANGE<DATE>", `"empty"`), untypedSample("RANGE<TIMESTAMP>", `"[2025-03-09 08:07:06,2025-03-09 08:07:07]"`),
		},
	},
	{
		types: []table.Type{table.JSON},
		about: "A document, byte for byte as the source wrote it: the order of members, `1.0` and `1e2` stay. A text is a document: `\"null\"` is JSON's null, where a NULL is no document at all. " +
			"What BigQuery would change without a word is a bad value: integers beyond 64 bits, the second member of one name, more than 500 levels; and of a message that types its decimals, one with more digits than a double's. " +
			"A number that the source wrote with a point or an exponent is to BigQuery the nearest double, as in a FLOAT64 column.",
		takes: []sample{
			untypedSample("JSON", `"{\"zz\":2.0,\"a\":9007199254740993,\"b\": [1e2]}"`), untypedSample("JSON", `{"v":18446744073709551615}`), untypedSample("JSON", `"null"`), untypedSample("JSON", `"3"`), untypedSample("JSON, from: text", `"\"3\""`),
			untypedSample("JSON", `["a",null]`), typedSample("JSON", "date 20156", change.Date(20156)), typedSample("JSON", "bytes `FF`", change.Bytes("\xFF")),
		},
		bad: []sample{
			untypedSample("JSON", `"not json"`), untypedSample("JSON", `""`), untypedSample("JSON", `{"v":18446744073709551616}`), untypedSample("JSON", `"{\"a\":1,\"a\":2}"`), typedSample("JSON", "double NaN", change.Float64(math.NaN())),
			typedSample("JSON", "decimal `0.12345678901234567890`", change.Decimal("0.12345678901234567890")),
		},
	},
	{
		types: []table.Type{table.Geography},
		about: "WKT and GeoJSON as they are, for BigQuery to check; well-known binary, as bytes, PostGIS's hexadecimal text or Debezium's object, as WKT of the same coordinates. " +
			"Another spatial reference than 4326 is a bad value: BigQuery's points are longitude and latitude on that one.",
		takes: []sample{
			untypedSample("GEOGRAPHY", `"POINT(1.5 -2.25)"`), untypedSample("GEOGRAPHY", `{"type": "Point", "coordinates": [1.5, -2.25]}`), untypedSample("GEOGRAPHY", pointValue),
			untypedSample("GEOGRAPHY, from: text", `"0101000020E6100000000000000000F83F00000000000002C0"`),
		},
		bad: []sample{untypedSample("GEOGRAPHY", `{"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":3857}`), untypedSample("GEOGRAPHY", `1`)},
	},
	{
		types: []table.Type{table.Struct},
		about: "An object, a struct, or a text that is one. Its fields are matched without regard to case and refused as a row's columns are; a field that it lacks is NULL. A bad field makes the STRUCT bad, unless the field's own policy helps. " +
			"A STRUCT's `bad_values` is its fields' where they have none of their own.",
		takes: []sample{
			untypedSample("STRUCT<city STRING, zip INT64>", `{"CITY":"Ulm","zip":89073}`), untypedSample("STRUCT<city STRING, zip INT64>", `"{\"city\":\"Ulm\"}"`),
		},
		bad: []sample{untypedSample("STRUCT<city STRING, zip INT64>", `"Ulm"`), untypedSample("STRUCT<city STRING, zip INT64>", `[1]`)},
	},
}

// arrayDoc is the section of REPEATED columns.
var arrayDoc = typeDoc{
	about: "A REPEATED column takes an array, a text that is a JSON array, or PostgreSQL's text of one; the elements are read as their type is, `from` included. To BigQuery NULL and the empty array are one, and no array holds a NULL.",
	takes: []sample{
		untypedSample("ARRAY<INT64>", `[0,-1,9007199254740993]`), untypedSample("ARRAY<STRING>", `"{a,\"b c\"}"`), untypedSample("ARRAY<STRING>", `null`), untypedSample("ARRAY<NUMERIC>, from: decimal, scale: 2", `["MDk=","AA=="]`),
		untypedSample("JSON", `["a",null]`),
	},
	bad: []sample{
		untypedSample("ARRAY<STRING>", `["a",null]`), untypedSample("ARRAY<INT64>", `[1,null,1e30]`), untypedSample("ARRAY<INT64>", `[1,"x"]`), untypedSample("ARRAY<JSON>", `["not json"]`), untypedSample("ARRAY<STRING>", `"a"`),
	},
}

// fromMeanings say what each from makes of a value.
var fromMeanings = map[table.From]string{
	table.FromSeconds:  "a number of seconds since 1970-01-01, midnight, or in an interval; a fraction down to nanoseconds is fine",
	table.FromMillis:   "a number of milliseconds, counted the same",
	table.FromMicros:   "a number of microseconds, counted the same",
	table.FromNanos:    "a number of nanoseconds, counted the same and cut downwards to microseconds",
	table.FromDays:     "a number of days, counted the same",
	table.FromDecimal:  "an untyped text is the base64 of a decimal's unscaled value, big-endian two's complement in as few bytes as it takes, with `scale` digits after the point; what is no such base64 is a decimal's text",
	table.FromBase64:   "a text is the base64 of the bytes, or of the text's UTF-8",
	table.FromHex:      "a text is the hexadecimal of the bytes, or of the text's UTF-8, perhaps after `0x` or `\\x`",
	table.FromText:     "a text is itself; bytes are a text's UTF-8",
	table.FromUnsigned: "a negative integer, typed or not, is 2⁶⁴ too low",
}

// matrix says for each kind of value what the types make of it, "·" for nothing
// but a bad value. The columns are matrixTypes'.
var matrix = []struct {
	kind   string
	values []change.Value // probes
	cells  string
}{
	{"bool", []change.Value{change.Bool(true), change.Bool(false)}, "1, 0|·|·|=|true, false|·|=|·|·|·|·|·|·|·|·"},
	{"int64", []change.Value{change.Int64(1), change.Int64(0)}, "=|=|if exact|1, 0|digits|·|=|unit|unit|unit|unit|unit|·|·|·"},
	{"uint64", []change.Value{change.Uint64(1), change.Uint64(0)}, "if it fits|=|if exact|1, 0|digits|·|=|unit|unit|unit|unit|unit|·|·|·"},
	{"double", []change.Value{change.Float64(1), change.Float64(0)}, "if whole|shortest digits|=|·|shortest digits|·|=, no NaN|unit|unit|unit|unit|unit|·|·|·"},
	{"decimal", []change.Value{change.Decimal("1"), change.Decimal("0")}, "if whole|if it fits|if exact|·|=|·|if exact|unit|unit|unit|unit|unit|·|·|·"},
	{"text", probes(change.String), "digits|digits|digits, NaN, …|true, false, …|=|`from`|a document|ISO 8601|ISO 8601|ISO 8601|ISO 8601|durations|`[a, b)`|WKT, GeoJSON|JSON"},
	{"bytes", probes(change.Bytes), "·|·|·|·|`from: text`|=|base64|·|·|·|·|·|·|WKB|·"},
	{"date", []change.Value{change.Date(0)}, "·|·|·|·|ISO 8601|·|ISO 8601|=|·|midnight|midnight UTC|·|·|·|·"},
	{"time", []change.Value{change.Time(0)}, "·|·|·|·|ISO 8601|·|ISO 8601|·|=|·|·|=|·|·|·"},
	{"datetime", []change.Value{change.DateTime(0)}, "·|·|·|·|ISO 8601|·|ISO 8601|if midnight|·|=|UTC|·|·|·|·"},
	{"timestamp", []change.Value{change.Timestamp(0)}, "·|·|·|·|ISO 8601|·|ISO 8601|if midnight UTC|·|UTC|=|·|·|·|·"},
	{"interval", []change.Value{change.Interval("0-0 3 0:0:0")}, "·|·|·|·|=|·|a string|·|·|·|·|=|·|·|·"},
	{"document", probes(change.JSON), "·|·|·|·|=|·|=|·|·|·|·|·|start, end|GeoJSON|="},
	{"array", []change.Value{change.Array([]change.Column{{Value: change.Int64(1)}})}, "·|·|·|·|as JSON|·|as JSON|·|·|·|·|·|·|·|·"},
	{"struct", []change.Value{
		change.Struct([]change.Column{column("scale", change.Int64(0)), column("value", change.Bytes("\x01"))}),
		change.Struct([]change.Column{column("year", change.Int64(2025)), column("month", change.Int64(3)), column("day", change.Int64(9))}),
		change.Struct([]change.Column{column("hour", change.Int64(8))}),
		change.Struct([]change.Column{column("days", change.Int64(8))}),
		change.Struct([]change.Column{column("start", change.Date(0))}),
		change.Struct([]change.Column{column("n", change.Int64(0))}),
		change.Struct([]change.Column{column("wkb", change.Bytes(strings.Repeat("\x00", 4)+"\x01"+strings.Repeat("\x00", 16)))}),
	}, "scale, value|scale, value|scale, value|·|as JSON|·|as JSON|structured|structured|structured|structured|structured|start, end|wkb|="},
	{"JSON number", []change.Value{change.Number("1"), change.Number("0")}, "if whole|if it fits|nearest|1, 0|its literal|·|=|days, unit|unit|unit|unit|unit|·|·|·"},
	{"JSON string", probes(change.Text), "digits|digits|digits, NaN, …|true, false, …|=|base64|a document|ISO 8601|ISO 8601|ISO 8601|ISO 8601|durations|`[a, b)`|WKT, GeoJSON|JSON"},
	{"JSON object", []change.Value{
		change.Raw(`{"scale":0,"value":"AQ=="}`), change.Raw(`{"year":2025,"month":3,"day":9}`), change.Raw(`{"hour":8}`), change.Raw(`{"days":8}`), change.Raw(`{"start":"2025-03-09"}`), change.Raw(pointValue), change.Raw(`{"n":0}`),
	}, "scale, value|scale, value|scale, value|·|its text|·|=|structured|structured|structured|structured|structured|start, end|wkb, GeoJSON|="},
}

var matrixTypes = []string{
	"INT64", "NUMERIC", "FLOAT64", "BOOL", "STRING", "BYTES", "JSON", "DATE", "TIME", "DATETIME", "TIMESTAMP", "INTERVAL", "RANGE<DATE>", "GEOGRAPHY", "STRUCT<n INT64>",
}

func probes(of func(string) change.Value) []change.Value {
	var values []change.Value
	for _, text := range []string{"1", "true", "2025-03-09", "08:07:06", "P1D", "[2025-01-01,)", `{"start":"2025-03-09"}`, `{"type":"Point","coordinates":[1,2]}`, `{"n":1}`, "POINT(1 2)", "AQ==", "\x00\x00\x00\x00\x01" + strings.Repeat("\x00", 16)} {
		values = append(values, of(text))
	}
	return values
}
