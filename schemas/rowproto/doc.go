// Package rowproto encodes changes as rows of BigQuery's Storage Write API.
//
// Compile turns a table's schema into a Plan: a protobuf descriptor and, for
// each column, how a value becomes bytes. AppendUpsert and AppendDelete then
// write protobuf's wire format straight from change.Values: no message, no map
// and no reflection lies between, and nothing is allocated but what dst grows by.
// AppendKey writes the primary key's change.Key. A Plan is safe for any number of
// goroutines; an Encoder, which a Plan makes, is for one.
//
// # How a column is written
//
//	BOOL       bool      INT64      int64    FLOAT64   double
//	DATE       int32, days since 1970-01-01
//	TIMESTAMP  int64, microseconds since 1970-01-01 00:00:00 UTC
//	BYTES      bytes     STRING, NUMERIC, BIGNUMERIC, DATETIME, TIME, INTERVAL, JSON, GEOGRAPHY  string
//	RANGE      message of start and end, written as their element is; an unset bound is unbounded
//	STRUCT     message   REPEATED   repeated, packed where protobuf can
//
// The descriptor is proto2. Every field that isn't repeated is optional, that of
// a REQUIRED column too, so that a DELETE can be its key alone. A field's number
// is its column's position plus one; the pseudo-columns have 2046 and 2047, so
// that a new column moves nothing. A column whose name is no identifier is named
// by the column_name option.
//
// # What a value becomes
//
// A value reaches BigQuery exactly, or by a policy that the user chose, or is
// refused (invariant 5). Below, "·" is a bad value, "=" the value itself, and
// texts in quotes are what is accepted. "unit" needs the column's From.
//
//	value       INT64         NUMERIC¹     FLOAT64      BOOL         STRING        BYTES        JSON
//	bool        1, 0          ·            ·            =            true, false   ·            =
//	int64       =             =            if exact     1, 0         digits        ·            =
//	uint64      if it fits    =            if exact     1, 0         digits        ·            =
//	float64     if whole²     shortest²    =            ·            shortest      ·            =, no NaN
//	decimal     if whole      if it fits   if exact³    ·            =             ·            as a number
//	string      digits        digits       digits       true, false  =             From         a document
//	bytes       ·             ·            ·            ·            From text⁴    =            base64
//	date, …⁵    ·             ·            ·            ·            ISO 8601      ·            ISO 8601
//	interval    ·             ·            ·            ·            =             ·            a string
//	json        ·             ·            ·            ·            =             ·            =, checked⁶
//	array       ·             ·            ·            ·            as JSON       ·            as JSON
//	struct      ·             scale+value  ·            ·            as JSON       ·            as JSON
//	number      if whole      if it fits   nearest³     1, 0         its literal   ·            =, checked⁶
//	text        digits        digits       digits       true, false  =             base64       a document
//	raw         ·             scale+value  ·            ·            its text      ·            =, checked⁶
//
//	value       DATE          TIME         DATETIME     TIMESTAMP    INTERVAL      RANGE        GEOGRAPHY
//	bool        ·             ·            ·            ·            ·             ·            ·
//	int64, …⁷   unit          unit         unit         unit         unit          ·            ·
//	number      days, unit    unit         unit         unit         unit          ·            ·
//	string      ISO 8601      ISO 8601     ISO 8601⁸    ISO 8601⁸    "P1DT2H", …   "[a, b)"     WKT, GeoJSON
//	text        ISO 8601      ISO 8601     ISO 8601⁸    ISO 8601⁸    "P1DT2H", …   "[a, b)"     WKT, GeoJSON
//	bytes       ·             ·            ·            ·            ·             ·            WKB
//	date        =             ·            midnight     midnight⁹    ·             ·            ·
//	time        ·             =            ·            ·            =             ·            ·
//	datetime    if midnight   ·            =            UTC⁹         ·             ·            ·
//	timestamp   if midnight⁹  ·            UTC⁹         =            ·             ·            ·
//	interval    ·             ·            ·            ·            =             ·            ·
//	json        ·             ·            ·            ·            ·             start, end   GeoJSON
//	struct, raw structured¹⁰  structured   structured   structured   ·             start, end   wkb, GeoJSON
//
//	 ¹ and BIGNUMERIC. "Fits" is the column's digits before and after the point:
//	   nothing is rounded. scale+value is Debezium's VariableScaleDecimal.
//	 ² by its shortest digits; beyond 2^53 only if these are its value.
//	 ³ the nearest double for a number with a point or exponent. An integer or a
//	   typed decimal must come back with the digits it had.
//	 ⁴ bad_values: string writes base64.
//	 ⁵ date, time, datetime, timestamp (with Z).
//	 ⁶ a document is kept byte for byte. An integer beyond 64 bits, a number with
//	   more digits than a double's, two members of one name and more than 500
//	   levels are bad values: BigQuery would change them, or refuse the request.
//	 ⁷ int64, uint64, float64, decimal, and a string or text of digits.
//	 ⁸ without a zone UTC to a TIMESTAMP, as BigQuery reads it. To a civil column Z
//	   or an offset of zero leaves the digits, another offset is a bad value.
//	 ⁹ civil values and instants become each other in UTC, as in BigQuery's own CAST.
//	 ¹⁰ Debezium's structured dates and times.
//
// A STRUCT takes a struct, a raw object, or a text or document that is one; a
// REPEATED column an array, a raw array, a text or document that is one, or
// PostgreSQL's text of one, {a,b}. Both take nothing else. NULL and the empty
// array are one to a REPEATED column; an array's NULL is a bad value.
//
// # From
//
// From says what a value means that its message doesn't type, at any magnitude.
// seconds, millis, micros, nanos and days count from 1970-01-01, midnight, or in
// an interval; nanoseconds are cut downwards, the one loss that needs no setting,
// and anything finer is a bad value. unsigned adds 2^64 to a negative integer,
// typed or not. hex, base64 and text say which bytes a text stands for.
//
// decimal, with the scale that base64 doesn't carry, says that an untyped text is base64: of the shortest big-endian two's complement
// of the unscaled value. What is no such base64 is a decimal's text. A text can be
// both ("1234"), and base64 wins then: only digits in groups of four can be both,
// texts of decimals need no From, and one setting has to mean one thing for the
// small and the large values of a column.
//
// # Policies
//
// A column's BadValues decides about what the table calls a bad value:
//
//	reject  the row is refused
//	null    NULL instead; a REQUIRED column refuses the row
//	clamp   the nearest value: the bound that a number, date or time is beyond, halves
//	        rounded away from zero where digits are too many, a text cut to its length,
//	        an array without its NULLs. What has nothing nearest is refused.
//	string  STRING: bytes as base64. JSON: what is no document, or one that BigQuery
//	        would change, as a JSON string. Elsewhere as reject
//
// A bad field makes its STRUCT bad unless the field's own policy helps, and a bad
// element its array. No policy applies to the primary key (NULL is no key, and
// clamping would make two rows one), to an unavailable value, or to columns that
// are unknown, ambiguous or missing. RowOptions.Adjusted counts what a policy did.
package rowproto
