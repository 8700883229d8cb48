package datastream

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
)

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(op change.Op) (change.Sequence, string) {
	switch {
	case d.isMySQL():
		return d.mysql(op)
	case d.isPostgres():
		return d.postgres(op)
	}
	return change.Sequence{}, "positions of this source are not supported yet"
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
