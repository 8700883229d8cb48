package captured

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/slab"
)

// Source is what is read of Debezium's source block, in whichever form a
// message gives it. Numbers are kept as they are written, since connectors'
// versions disagree on strings and numbers; null and what is absent are "".
type Source struct {
	Connector, DB, Schema string
	Table                 string // MongoDB's collection too
	Snapshot              string
	TSMillis              string
	TSMicros              string
	TSNanos               string

	Sequence string // PostgreSQL: JSON of the last commit's LSN and the change's own
	LSN      string // PostgreSQL

	File, Pos, Row, ServerID string // MySQL, MariaDB

	CommitLSN, ChangeLSN, Serial string // SQL Server

	CommitSCN, SCN, RsID, SSN, TxSeq, LCR string // Oracle

	Increment  string // MongoDB: "ord"
	TotalOrder string // of the transaction's metadata

	TxID, GTID        string // PostgreSQL, Oracle; MySQL, MariaDB
	ServerTransaction string // Spanner
	TransactionOf     string // the id of the transaction's metadata, whatever the connector

	RecordSequence, Mod, Capture string // Spanner
}

// Field returns where the source block's member of this name goes, nil for
// nowhere.
func (s *Source) Field(name string) *string {
	switch name {
	case "connector":
		return &s.Connector
	case "db":
		return &s.DB
	case "schema":
		return &s.Schema
	case "table", "collection":
		return &s.Table
	case "snapshot":
		return &s.Snapshot
	case "sequence":
		return &s.Sequence
	case "lsn":
		return &s.LSN
	case "file":
		return &s.File
	case "pos":
		return &s.Pos
	case "row":
		return &s.Row
	case "server_id":
		return &s.ServerID
	case "ts_ms":
		return &s.TSMillis
	case "ts_us":
		return &s.TSMicros
	case "ts_ns":
		return &s.TSNanos
	case "ord":
		return &s.Increment
	case "txId":
		return &s.TxID
	case "gtid":
		return &s.GTID
	}
	return s.otherField(name)
}

// otherField returns where the members of the less common connectors go.
func (s *Source) otherField(name string) *string {
	switch name {
	case "commit_lsn":
		return &s.CommitLSN
	case "change_lsn":
		return &s.ChangeLSN
	case "event_serial_no":
		return &s.Serial
	case "commit_scn":
		return &s.CommitSCN
	case "scn":
		return &s.SCN
	case "rs_id":
		return &s.RsID
	case "ssn":
		return &s.SSN
	case "txSeq":
		return &s.TxSeq
	case "lcr_position":
		return &s.LCR
	case "record_sequence":
		return &s.RecordSequence
	case "mod_number":
		return &s.Mod
	case "value_capture_type":
		return &s.Capture
	case "server_transaction_id":
		return &s.ServerTransaction
	}
	return nil
}

// Transaction returns what the source calls the transaction. Its own name is first:
// the metadata's, which a setting of the connector adds, is made of it and of a position.
func (s *Source) Transaction() string {
	if s.TxID == "null" { // as a header without a value is written
		s.TxID = ""
	}
	return cmp.Or(s.TxID, s.GTID, s.ServerTransaction, s.TransactionOf)
}

// IsMongo reports whether the source is MongoDB.
func (s *Source) IsMongo() bool { return s.Connector == "mongodb" }

// IsSnapshot reports whether the snapshot flag is set. It is a string, or a
// boolean in old versions.
func (s *Source) IsSnapshot() bool { return s.Snapshot != "" && s.Snapshot != "false" }

// isSnapshotInsert reports whether an insert is a snapshot's row, as connectors can
// be told to write them. The flag alone doesn't say so: Debezium's connector of
// PostgreSQL leaves it set on what it streams after a restart. What only a streamed
// change has does: a commit before it, a server that wrote it, a place of its own in
// the log.
func (s *Source) isSnapshotInsert() bool {
	switch {
	case !s.IsSnapshot():
		return false
	case s.Connector == "postgresql":
		lastCommit, _ := splitSequence(s.Sequence)
		return lastCommit == "" || lastCommit == "null"
	case s.Connector == "mysql", s.Connector == "mariadb":
		return s.ServerID == "" || s.ServerID == "0"
	case s.Connector == "sqlserver":
		return s.ChangeLSN == ""
	case s.Connector == "oracle":
		return s.CommitSCN == ""
	case s.Connector == "mongodb", s.Connector == "spanner":
		return false // they have an op of their own for a snapshot's rows
	}
	return true
}

// isIncremental reports whether the row was read by an incremental snapshot.
// Such a row has no position; old versions gave it a stale one (DBZ-4329).
func (s *Source) isIncremental() bool { return s.Snapshot == "incremental" }

// Name returns the source's name of the table, "" when it isn't given.
func (s *Source) Name(a *slab.Arena) string {
	space := s.Schema
	switch s.Connector {
	case "mysql", "mariadb", "mongodb":
		space = s.DB
	case "spanner": // its db is the connector's, and a named schema is in the table's name
		space = ""
	default:
		if space == "" {
			space = s.DB
		}
	}
	if s.Table == "" || space == "" {
		return s.Table
	}
	return a.Table(space, s.Table)
}

// CommitTime returns when the source committed, by the finest of its three
// times; zero when none can be read, or lies outside the years 1 to 9999.
func (s *Source) CommitTime() time.Time {
	var t time.Time
	if n, ok := parseInt(s.TSNanos); ok {
		t = time.Unix(0, n)
	} else if n, ok := parseInt(s.TSMicros); ok {
		t = time.UnixMicro(n)
	} else if n, ok := parseInt(s.TSMillis); ok {
		t = time.UnixMilli(n)
	} else {
		return time.Time{}
	}
	if t.Unix() < firstSecond || t.Unix() > lastSecond {
		return time.Time{}
	}
	return t.UTC()
}

// The first second of the year 1 and the last of 9999, since 1970.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

func parseInt(text string) (int64, bool) {
	if n, ok := position.ParseUint(text); ok && n <= math.MaxInt64 {
		return int64(n), true
	}
	if text == "" { // absent, as it often is: no error to allocate
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// capturesRows reports whether Spanner's change stream captures whole rows.
func (s *Source) capturesRows() bool {
	return s.Capture == "NEW_ROW" || s.Capture == "NEW_ROW_AND_OLD_VALUES"
}
