// Package databases tests the whole system against what it is for: a real
// PostgreSQL and a real MariaDB, a real Debezium that captures them, Pub/Sub, the
// graph in a real cmd/launch, and BigQuery's emulator; wal2json and Maxwell in
// Debezium's place, too. A seeded random workload
// writes to the source; in the end each table of the source and its table in
// BigQuery must hold the same rows with the same values.
//
// What a value is to be in BigQuery is told by the source database itself, in SQL,
// and never by the project's encoder, so that one mistake can't hide on both sides.
//
// It needs programs that Go doesn't bring: PostgreSQL, MariaDB, Java, the small Java
// program in debezium/ and Maxwell. The script install in this folder installs and
// builds them. Where one is missing the tests fail; -short skips them.
//
// BEAMCDC_E2E_TRANSACTIONS sets how many transactions each long workload makes, 3,000 by
// default, 1,000 for wal2json and Maxwell; "make e2e" makes 50,000. BEAMCDC_E2E_SEED
// repeats a run: each test prints its seed. BEAMCDC_E2E_CAPTURE=DIRECTORY keeps all
// captured messages there.
package databases
