package datastream

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/scan"
)

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(op change.Op) (change.Sequence, string) {
	switch d.msg.source() {
	case mysql:
		return d.mysql(op)
	case postgres:
		return d.postgres(op)
	case sqlServer:
		return d.sqlServer(op)
	case oracle:
		return d.oracle(op)
	case mongoDB:
		return d.mongoDB(op)
	}
	return change.Sequence{}, "positions of this source are not supported"
}

// postgres reads source_metadata.lsn, "7/A1B2C3D8".
func (d *Decoder) postgres(op change.Op) (change.Sequence, string) {
	lsn, ok := position.ParseLSN(d.msg.lsn)
	switch {
	case (d.msg.lsn == "" || (ok && lsn == 0)) && op == change.OpSnapshot:
		return position.Lowest(d.options.Epoch), "none in a backfill"
	case d.msg.lsn == "":
		return change.Sequence{}, "source_metadata has no lsn"
	case !ok:
		return change.Sequence{}, "source_metadata.lsn is no LSN"
	case lsn == 0:
		return change.Sequence{}, "source_metadata.lsn is 0, which is no position of a change"
	}
	return position.Postgres(d.options.Epoch, 0, lsn, op), position.FormatLSN(&d.scan.Arena, lsn)
}

// mysql reads log_file and log_position of source_metadata, or binlog_file and
// binlog_position.
func (d *Decoder) mysql(op change.Op) (change.Sequence, string) {
	file, at := d.msg.logFile, d.msg.logPosition
	if file == "" {
		file, at = d.msg.binFile, d.msg.binPosition
	}
	number, ok := position.FileNumber(file)
	pos, posOK := position.ParseUint(at)
	switch {
	case op == change.OpSnapshot && (!ok || !posOK || pos == 0):
		return position.Lowest(d.options.Epoch), "none in a backfill"
	case file == "":
		return change.Sequence{}, "source_metadata has neither log_file nor binlog_file"
	case !ok:
		return change.Sequence{}, "the binary log's file has no number at its end"
	case !posOK || pos == 0:
		return change.Sequence{}, "the position in the binary log is no number above 0"
	}
	return position.MySQL(d.options.Epoch, number, pos, 0, op), d.scan.Arena.Join(file, ":", at)
}

// sqlServer reads source_metadata.lsn, "0000003c:00001600:0002".
func (d *Decoder) sqlServer(op change.Op) (change.Sequence, string) {
	lsn, ok := position.ParseSQLServerLSN(d.msg.lsn)
	switch {
	case op == change.OpSnapshot:
		return position.Lowest(d.options.Epoch), "none in a backfill"
	case d.msg.lsn == "":
		return change.Sequence{}, "source_metadata has no lsn"
	case !ok || lsn.IsZero():
		return change.Sequence{}, "source_metadata.lsn is no LSN"
	}
	return position.SQLServer(d.options.Epoch, lsn, lsn, 0, op), d.msg.lsn
}

// oracle reads scn, rs_id and ssn of source_metadata.
func (d *Decoder) oracle(op change.Op) (change.Sequence, string) {
	scn, ok := position.ParseUint(d.msg.scn)
	switch {
	case op == change.OpSnapshot:
		return position.Lowest(d.options.Epoch), "none in a backfill"
	case d.msg.scn == "":
		return change.Sequence{}, "source_metadata has no scn"
	case !ok || scn == 0:
		return change.Sequence{}, "source_metadata.scn is no decimal number above 0"
	case d.msg.rsID == "":
		return change.Sequence{}, "source_metadata has no rs_id"
	}
	within, ok := position.OracleRecord(d.msg.rsID, d.msg.ssn)
	if !ok {
		return change.Sequence{}, "rs_id and ssn of source_metadata are no place in the redo log"
	}
	return position.Oracle(d.options.Epoch, 0, scn, within, op), d.scan.Arena.Join(d.msg.scn, " ", d.msg.rsID)
}

// mongoDB reads source_metadata.cluster_time, or the sort_keys, which hold the
// same two numbers.
func (d *Decoder) mongoDB(op change.Op) (change.Sequence, string) {
	if op == change.OpSnapshot {
		return position.Lowest(d.options.Epoch), "none in a backfill"
	}
	secondsText, incrementText := d.msg.seconds, d.msg.increment
	if secondsText == "" && d.msg.sortKeys != "" {
		n := 0
		scan.EachElement(d.msg.sortKeys, func(element string) bool {
			switch n {
			case 0:
				secondsText = element
			case 1:
				incrementText = element
			}
			n++
			return true
		})
	}
	seconds, ok := position.ParseUint(secondsText)
	increment, incrementOK := position.ParseUint(incrementText)
	switch {
	case secondsText == "":
		return change.Sequence{}, "there is neither a cluster_time nor sort_keys"
	case !ok || seconds == 0 || !incrementOK:
		return change.Sequence{}, "cluster_time, or sort_keys, is no seconds and increment"
	}
	return position.MongoDB(d.options.Epoch, seconds, increment, 0, op), d.scan.Arena.Join(secondsText, ":", incrementText)
}
