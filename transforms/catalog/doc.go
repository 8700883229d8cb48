// Package catalog knows the tables that the pipeline writes: which rule and which
// destination a source table has, what BigQuery says of it, and the plan that rows
// for it are encoded by. Where the configuration asks for it, it creates what is
// missing.
//
// Each process has one Catalog for each configuration. A table is read once, with
// one call however many ask, and again when a row has a column or a schema that is
// not known. Every version of a table's schema that was seen is kept: rows that
// were encoded by an older one are still on their way after a change.
//
// A table that follows its source is altered by [Catalog.Evolve], once however many
// processes want it. BigQuery's writers know an alteration minutes after tables.get
// does: until then the destination is Young, and tells how the table was Before, by the
// table's label beamcdc_altered also to a process that never saw it.
//
// What it can't tell: the plan of a schema that this process has never seen, and that
// differs from the table's by a column dropped or renamed. See [Catalog.Plan].
package catalog
