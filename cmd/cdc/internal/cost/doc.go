// Package cost is the command that estimates what BigQuery bills for a pipeline's
// tables. Every figure is an estimate: of a sample taken for the whole, of list prices,
// and of this model, which follows BigQuery's documentation of CDC ingestion:
//
//	rows and bytes   of a sample: decoded, keyed, encoded and superseded by the pipeline's
//	                 own code; of a rate: as they are given
//	a window         of W leaves one row of each key: measured on the sample's arrival
//	                 times; of a rate r on K keys that are equally likely, of r·W rows
//	                 K·(1 - (1 - 1/K)^(r·W))
//	write            the encoded bytes that are left. The tags and lengths around rows and
//	                 the pseudo-columns are in them, repetitions of requests are not
//	applies          of max_staleness S one each S in which there is a change:
//	                 month / S · (1 - e^(-rows per second · S)). BigQuery promises one at
//	                 least so often, and may apply more often
//	apply bytes      of each the whole baseline, since no partition is left out, and each
//	                 changed row once: applies · baseline + write
//	queries          of a table with max_staleness read the share of the baseline that
//	                 -query_share says, as long as applies come in time
//	runtime merges   of a table without: every query, which reads the whole baseline and
//	                 the changes since the last apply, on average those of half an interval;
//	                 how often BigQuery applies then, it doesn't say: -unset_apply
//
// Left out: storage, Pub/Sub, the runner's machines, minimums (10 MB a query and table),
// slots of a reservation, which don't follow from bytes, and the two free tiers' other
// users.
package cost
