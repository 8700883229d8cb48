// Package clients runs the programs of examples/clients against cmd/emulator: Google's
// own libraries for Go, Python and Java, and Beam's BigQueryIO, all unchanged. What
// they print and the tables that they leave must be what examples/clients/README.md
// shows. The README's curl commands are run too.
//
// tests/clients/install prepares the programs that aren't Go's, curl too. The tests are skipped
// by -short; otherwise a program that is missing fails them.
package clients
