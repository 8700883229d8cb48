// Package conformance holds an implementation of BigQuery's change data capture,
// streaming and change history against the sentences that document them. It talks
// gRPC and REST with Google's clients and knows nothing of what it tests:
//
//	go test ./tests/conformance
//
// starts cmd/emulator as a process, and
//
//	BEAMCDC_CONFORMANCE_PROJECT=my-project BEAMCDC_CONFORMANCE_DATASET=scratch go test -timeout 2h ./tests/conformance
//
// takes BigQuery itself, with application default credentials; its tables are deleted
// afterwards. So far it was run against the emulator alone. Cases that need a clock
// that can be stepped, or background applies that can be held back, run only there,
// each on an emulator of its own.
//
// testdata/sentences.txt is the inventory: every sentence of the references that
// describes behavior. Each is cited by a case, or says why no client can see it.
// The cases that the emulator doesn't pass are listed in pending_test.go with the
// reason; one that passes in spite of being listed there fails the test.
package conformance
