// Package ddl is the command that prints the statements which make BigQuery's tables
// what a configuration implies, and runs them.
//
// What a table is to have comes from its rule and, for what the rule leaves open, from
// a source: a database's own description, Debezium's schemas, or messages. The rule's
// word counts before the source's.
//
//	a rule's columns               are the table's, with its types; a description that it lacks is the source's
//	the source's other columns     are the table's too, unless unknown_columns is ignore and the rule has typed columns
//	NOT NULL                       of a source is REQUIRED, but for columns that the pipeline may have to leave NULL:
//	                               with unavailable_values: fill, deletes: soft, truncates: recreate and bad_values: null
//	the primary key                is the rule's, else the source's
//	enrich                         its renames, drops, masks, metadata and lookups change the columns in its order
//
// # Types
//
// Each source type becomes the BigQuery type that holds all its values as Debezium sends
// them with its default settings (docs/types.md): varchar(n) is STRING and numeric(12,2)
// NUMERIC, without the parameters, since the source checks them already and a source that
// loosens them would otherwise need the table altered first. Decimals of a precision that
// NUMERIC, or even BIGNUMERIC, doesn't hold are BIGNUMERIC or STRING.
//
// Messages without a schema type nothing: what they seem to be is what
// `unknown_columns: add` would make of them ([rowproto.Encoder.Evolve]).
package ddl
