// Package avro reads messages in Avro. It knows how a message says which schema it
// was written with, and turns each value into two things that the decoders of the
// formats take: the JSON that Kafka Connect's JSON converter would have written of
// it, and the schema that types that JSON (package connect). Avro is an encoding,
// not a format: every format of package envelope comes in it, is told by the same
// members, and makes the same events as in JSON. Its schema types the rows of
// debezium, debezium_flat, cloudevents, datastream and columns; the other formats
// say themselves what their values are. It is pure: schemas are found by a Schemas.
//
// # Framings
//
// In the order in which a message is held against them:
//
//	attribute googclient_schemaencoding = BINARY     a topic with a schema: one value; the schema is that of
//	                                                 googclient_schemaname and googclient_schemarevisionid
//	                                    = JSON       the same in Avro's JSON encoding; without a Schemas, or with
//	                                                 a schema of protocol buffers, it is plain JSON
//	00 and 4 bytes                                   Confluent's wire format: the schema's ID in a registry
//	00 and 8 bytes, the first 4 of them 0            older Apicurio's
//	Obj\x01                                          an object container file, of codec null, deflate or snappy;
//	                                                 its records are the message's changes, in their order
//	C3 01 and 8 bytes                                Avro's single-object encoding, of the configured schema alone
//	anything else, if a schema is configured         one value of that schema, beginning with whichever byte
//
// An empty message is a tombstone in all of them, and so is a value that is null.
// With a configured schema a zero byte begins a value, no ID. Without one no
// framing begins as JSON does, so that one subscription can hold both.
//
// # Types
//
// A connect.name says what values mean, as converters write it
// (https://docs.confluent.io/platform/current/schema-registry/connect.html); the
// name of a record is its own where it has none. Else the logical type does, and
// else the type:
//
//	null, boolean, int, long, float, double, string   NULL, BOOL, INT64, FLOAT64, STRING
//	bytes, fixed                              BYTES
//	enum                                      STRING: the symbol
//	array                                     ARRAY
//	map                                       the JSON text, untyped: bytes in it are base64
//	record                                    STRUCT
//	union of null and one type                that type
//	union of types that JSON tells apart      the value, untyped, as JSON writes it
//	any other union                           STRUCT of one field, called like the branch
//	a type inside of itself                   the JSON text, untyped
//
//	decimal                                   decimal, exact at any scale, of bytes and fixed, whatever its precision
//	big-decimal                               decimal
//	date                                      DATE
//	time-millis, time-micros                  TIME
//	timestamp-millis, -micros, -nanos         TIMESTAMP; nanoseconds are cut to microseconds, downwards
//	local-timestamp-millis, -micros, -nanos   DATETIME
//	uuid                                      STRING, of a fixed too
//	duration                                  INTERVAL
//
// A logical type beside a field's type, and not in it, counts for nothing, as
// Avro has it. Of Datastream's unified types
// (https://cloud.google.com/datastream/docs/unified-types):
//
//	number                                    its digits, untyped, as in Datastream's JSON
//	json                                      JSON
//	time-interval-micros                      TIME, which may be negative or longer than a day; an INTERVAL column takes it
//	record varchar {value, length}            the value
//	record timestampTz {timestamp, offset}    TIMESTAMP
//	record datetime {date, time}              DATETIME
//	record interval {months, hours, micros}   INTERVAL
//
// Names stay as Avro has them. Debezium makes some of its own for it
// (field.name.adjustment.mode=avro turns "order-id" into order_id), which nothing
// turns back. A float is the number of fewest digits that is that float, as in
// JSON. A field's default means nothing: the message was written with this schema.
//
// # What is not read
//
// Keys in Avro: an ordering key is a text, and is read as JSON. Avro inside of
// JSON, as CloudEvents can hold it. IDs in headers
// (Kafka's are not Pub/Sub's), Confluent's schemas of JSON and protocol buffers,
// schemas that refer to others of their registry, files of other codecs, and
// schemas found by their fingerprint: each is an error that says so.
//
// # Bounds
//
// A message's JSON is bounded by 16 MiB and eight times its bytes, a file by
// 32 MiB decompressed and 100,000 records, values by a nesting of 200, schemas
// by 4 MiB of text and a nesting of 100. A Reader remembers 1024 schemas.
package avro
