package captured

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/slab"
)

// Position returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (s *Source) Position(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	if op == change.OpSnapshot && s.isIncremental() {
		return position.Lowest(epoch), "none in an incremental snapshot"
	}
	switch s.Connector {
	case "postgresql":
		return s.postgres(epoch, op, a)
	case "mysql", "mariadb":
		return s.binlog(epoch, op, a)
	case "sqlserver":
		return s.sqlServer(epoch, op, a)
	case "oracle":
		return s.oracle(epoch, op, a)
	case "mongodb":
		return s.mongo(epoch, op, a)
	case "spanner":
		return s.spanner(epoch, op, a)
	case "":
		return change.Sequence{}, "the message names no connector"
	}
	return change.Sequence{}, "positions of this connector are not supported"
}

// postgres reads sequence, a JSON text such as ["32777618392","32777618640"] of
// the last commit's LSN and the change's own, and lsn.
func (s *Source) postgres(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	lastText, lsnText := splitSequence(s.Sequence)
	if s.LSN != "" {
		lsnText = s.LSN
	}
	lsn, ok := position.ParseLSN(lsnText)
	switch {
	case lsnText == "" && op == change.OpSnapshot:
		return position.Lowest(epoch), "none in a snapshot"
	case lsnText == "":
		return change.Sequence{}, "source has no lsn"
	case !ok:
		return change.Sequence{}, "source.lsn is no LSN"
	case lsn == 0 && op == change.OpSnapshot:
		return position.Lowest(epoch), "none in a snapshot"
	case lsn == 0:
		return change.Sequence{}, "source.lsn is 0, which is no position of a change"
	}
	last, ok := position.ParseLSN(lastText)
	if !ok && lastText != "" {
		return change.Sequence{}, "source.sequence does not begin with an LSN"
	}
	return position.Postgres(epoch, last, lsn, op), position.FormatLSN(a, lsn)
}

// splitSequence returns the two elements of a sequence: of a JSON array of
// strings, numbers or null, which is a JSON string or not. Null is "".
func splitSequence(raw string) (lastCommit, lsn string) {
	lastCommit, lsn, _ = strings.Cut(raw, ",")
	return element(lastCommit), element(lsn)
}

// element cuts from an element's ends whatever stands around it: brackets,
// blanks, quotes, and the backslashes in front of those.
func element(text string) string {
	isAround := func(c byte) bool { return c == '[' || c == ']' || c == ' ' || c == '"' || c == '\\' }
	for text != "" && isAround(text[0]) {
		text = text[1:]
	}
	for text != "" && isAround(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if text == "null" {
		return ""
	}
	return text
}

// binlog reads file, pos and row.
func (s *Source) binlog(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	if s.File == "" && op == change.OpSnapshot {
		return position.Lowest(epoch), "none in a snapshot"
	}
	file, ok := position.FileNumber(s.File)
	if !ok {
		return change.Sequence{}, "source.file has no number at its end"
	}
	pos, ok := position.ParseUint(s.Pos)
	if !ok {
		return change.Sequence{}, "source.pos is no number"
	}
	var row uint64
	if s.Row != "" {
		if row, ok = position.ParseUint(s.Row); !ok || row > position.MaxRow {
			return change.Sequence{}, "source.row is no number"
		}
	}
	return position.MySQL(epoch, file, pos, row, op), a.Join(s.File, ":", s.Pos)
}

// sqlServer reads commit_lsn, change_lsn and event_serial_no.
func (s *Source) sqlServer(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	if s.CommitLSN == "" && op == change.OpSnapshot {
		return position.Lowest(epoch), "none in a snapshot"
	}
	commit, ok := position.ParseSQLServerLSN(s.CommitLSN)
	switch {
	case s.CommitLSN == "":
		return change.Sequence{}, "source has no commit_lsn"
	case !ok || commit.IsZero():
		return change.Sequence{}, "source.commit_lsn is no LSN"
	case op == change.OpSnapshot:
		return position.SQLServer(epoch, commit, position.LSN{}, 0, op), s.CommitLSN
	case s.ChangeLSN == "":
		return change.Sequence{}, "source has no change_lsn"
	}
	at, ok := position.ParseSQLServerLSN(s.ChangeLSN)
	if !ok || at.IsZero() {
		return change.Sequence{}, "source.change_lsn is no LSN"
	}
	var serial uint64
	if s.Serial != "" { // older versions have none
		if serial, ok = position.ParseUint(s.Serial); !ok || serial > position.MaxSerial {
			return change.Sequence{}, "source.event_serial_no is no number"
		}
	}
	return position.SQLServer(epoch, commit, at, serial, op), a.Join(s.CommitLSN, " ", s.ChangeLSN)
}

// oracle reads commit_scn, scn, and txSeq or else rs_id and ssn.
func (s *Source) oracle(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	scn, ok := position.ParseUint(s.SCN)
	switch {
	case op == change.OpSnapshot && (s.SCN == "" || (ok && scn == 0)):
		return position.Lowest(epoch), "none in a snapshot"
	case s.SCN == "" && s.LCR != "":
		return change.Sequence{}, "source has no scn; the lcr_position of Oracle XStream is not supported"
	case s.SCN == "":
		return change.Sequence{}, "source has no scn"
	case !ok || scn == 0:
		return change.Sequence{}, "source.scn is no decimal number above 0"
	case op == change.OpSnapshot:
		return position.Oracle(epoch, 0, scn, 0, op), s.SCN
	case s.CommitSCN == "":
		return change.Sequence{}, "source has no commit_scn"
	}
	commit, ok := position.ParseUint(s.CommitSCN)
	if !ok {
		return change.Sequence{}, "source.commit_scn is no decimal number"
	}
	var within uint64
	switch {
	case s.TxSeq != "":
		if within, ok = position.ParseUint(s.TxSeq); !ok || within > position.MaxWithin {
			return change.Sequence{}, "source.txSeq is no number"
		}
	case s.RsID != "":
		if within, ok = position.OracleRecord(s.RsID, s.SSN); !ok {
			return change.Sequence{}, "source.rs_id and source.ssn are no place in the redo log"
		}
	default:
		return change.Sequence{}, "source has neither txSeq nor rs_id"
	}
	return position.Oracle(epoch, commit, scn, within, op), a.Join(s.CommitSCN, " ", s.SCN)
}

// mongo reads ts_ms, which is a whole second, and ord; and in a transaction the
// change's number, where the connector tells it.
func (s *Source) mongo(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	millis, ok := position.ParseUint(s.TSMillis)
	if op == change.OpSnapshot && (millis == 0 || s.Increment == "") {
		return position.Lowest(epoch), "none in a snapshot"
	}
	if !ok || millis == 0 {
		return change.Sequence{}, "source.ts_ms is no number above 0"
	}
	increment, ok := position.ParseUint(s.Increment)
	switch {
	case s.Increment == "":
		return change.Sequence{}, "source has no ord"
	case !ok && op == change.OpSnapshot: // -1 where the oplog was empty
		return position.Lowest(epoch), "none in a snapshot"
	case !ok:
		return change.Sequence{}, "source.ord is no number"
	}
	var within uint64
	if s.TotalOrder != "" {
		if within, ok = position.ParseUint(s.TotalOrder); !ok || within > position.MaxWithin {
			return change.Sequence{}, "transaction.total_order is no number"
		}
	}
	return position.MongoDB(epoch, millis/1000, increment, within, op), a.Join(s.TSMillis, ":", s.Increment)
}

// spanner reads the commit time, the record's sequence, which is called sequence
// or record_sequence, and mod_number.
func (s *Source) spanner(epoch uint64, op change.Op, a *slab.Arena) (change.Sequence, string) {
	at := s.CommitTime()
	switch {
	case at.IsZero() && op == change.OpSnapshot:
		return position.Lowest(epoch), "none in a snapshot"
	case at.IsZero() || at.Year() < 1970 || at.Year() > 2261: // beyond which int64 holds no nanoseconds
		return change.Sequence{}, "source.ts_ms is no commit time"
	}
	text := s.RecordSequence
	if text == "" {
		text = element(s.Sequence)
	}
	sequence, ok := position.ParseUint(text)
	if !ok {
		return change.Sequence{}, "source.sequence is no number"
	}
	mod, ok := position.ParseUint(s.Mod)
	if !ok || mod > position.MaxWithin {
		return change.Sequence{}, "source.mod_number is no number"
	}
	return position.SpannerMod(epoch, uint64(at.UnixNano()), sequence, mod, op), a.Join(text, ":", s.Mod)
}
