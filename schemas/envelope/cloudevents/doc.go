// Package cloudevents decodes the CloudEvents in JSON that Debezium's
// CloudEventsConverter makes of change events.
//
//	{"specversion": "1.0", "id": "…", "source": "/debezium/postgresql/acme", "type": "…DataChangeEvent",
//	 "iodebeziumop": "u", "iodebeziumconnector": "postgresql", "iodebeziumlsn": "130", …,
//	 "data": {"before": null, "after": {"id": 7}}}
//
// The op and the source block are the event's extensions, all of them texts; the
// images are its data, with a schema ({"schema": …, "payload": …}) or without.
// Positions, images, keys and ops are Debezium's: see package debezium.
//
// An extension is called iodebezium and the field's name without its
// underscores. What the source calls txId and the transaction calls id is
// nearly one name: iodebeziumtxId is read, and iodebeziumtxid is not. The
// event's own id is not read either: rows of one MySQL statement share it.
//
// # Kinds
//
//	iodebeziumop c, u, d, r, t, m  as in package debezium
//	empty                          a tombstone; the converter makes empty messages of heartbeats,
//	                               transaction markers and schema changes too: where tombstones delete,
//	                               their keys name other columns than a table's, and they are dead letters
//
// Where such messages come through another converter they are what package
// debezium makes of them.
//
// # Forms
//
// In CloudEvents' binary mode the attributes of the message are the event's, with
// "ce-" before their names, and its data is the event's.
// Data that isn't JSON (Avro, in "data" as base64 or by a registry) is refused
// by its datacontenttype. data_base64 is read where that is JSON. Metadata that
// the converter was told to put into headers (metadata.source) is not read.
package cloudevents
