// Package debezium decodes Debezium's change events in JSON, as Debezium
// Server's Pub/Sub sink publishes them, with their schema or without.
package debezium
