// Package spanner decodes the change records of Spanner's change streams: the JSON
// that Google's template "Spanner change streams to Pub/Sub" publishes, and that of
// the API, whose members have other names:
//
//	{"commitTimestamp":{"seconds":1741507626,"nanos":5004001},"recordSequence":"00000001","tableName":"Orders","modType":"UPDATE",
//	 "valueCaptureType":"OLD_AND_NEW_VALUES",
//	 "rowType":[{"name":"Id","type":{"code":"{\"code\":\"INT64\"}"},"isPrimaryKey":true,"ordinalPosition":1}],
//	 "mods":[{"keysJson":"{\"Id\":\"7001\"}","oldValuesJson":"{\"Price\":\"120\"}","newValuesJson":"{\"Price\":\"123.45\"}"}]}
//
//	{"commit_timestamp":"2025-03-09T08:07:06.005004001Z","record_sequence":"00000001","table_name":"Orders","mod_type":"UPDATE",
//	 "value_capture_type":"NEW_ROW","column_types":[{"name":"Id","type":{"code":"INT64"},"is_primary_key":true}],
//	 "mods":[{"keys":{"Id":"7001"},"new_values":{"Price":"123.45"},"old_values":{}}]}
//
// Names in snake_case and camelCase mean the same. The columns stand in rowType,
// column_types or column_metadata; keys and values are texts of JSON, objects, or
// the API's lists of column_metadata_index and value.
//
// # Kinds of messages
//
//	INSERT  a create of each mod
//	UPDATE  an update to each mod
//	DELETE  a delete of each mod
//
// A message makes as many changes as it has mods. A key of Spanner's never changes;
// the source sends a delete and an insert instead.
//
// # Position
//
// It is read of the commit timestamp, to the nanosecond, the record sequence and the
// mod's index, which are the order of commits (see internal/position).
//
// # Values
//
// The columns' types type them, exactly: INT64 from its text, NUMERIC, FLOAT64 with
// NaN and the infinities, BYTES from base64, dates, timestamps (whose nanoseconds
// are cut to BigQuery's microseconds), JSON byte for byte, arrays of these. A column
// without a type that is known stays as it is written.
//
// A column that an update lacks is unchanged, and unavailable, where the value
// capture type is OLD_AND_NEW_VALUES, NEW_VALUES or not given: such an update is a
// dead letter. Let the change stream capture NEW_ROW, whose updates are whole rows. A
// column that an insert lacks is NULL. Columns that the stream doesn't watch are in
// no message: the destination must not have them.
//
// # Avro
//
// The template's Avro form is read too. Its commit timestamp has no more than
// microseconds, and transactions of one microsecond on one row tie: choose JSON.
//
// # Not supported
//
// Heartbeats and child partitions, which the template doesn't publish. PROTO columns
// are bytes, and ENUM columns numbers.
package spanner
