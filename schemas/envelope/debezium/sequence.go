package debezium

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
)

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(op change.Op) (change.Sequence, string) {
	s := &d.msg.source
	if op == change.OpSnapshot && s.isIncremental() {
		return position.Lowest(d.options.Epoch), "none in an incremental snapshot"
	}
	switch s.connector {
	case "postgresql":
		return d.postgres(op)
	case "mysql", "mariadb":
		return d.mysql(op)
	case "":
		return change.Sequence{}, "the message names no connector"
	}
	return change.Sequence{}, "positions of this connector are not supported yet"
}

// postgres reads source.sequence, a JSON text such as ["32777618392","32777618640"]
// of the last commit's LSN and the change's own, and source.lsn.
func (d *Decoder) postgres(op change.Op) (change.Sequence, string) {
	s := &d.msg.source
	lastText, lsnText := splitSequence(s.sequence)
	if s.lsn != "" {
		lsnText = s.lsn
	}
	lsn, ok := position.ParseLSN(lsnText)
	switch {
	case lsnText == "" && op == change.OpSnapshot:
		return position.Lowest(d.options.Epoch), "none in a snapshot"
	case lsnText == "":
		return change.Sequence{}, "source has no lsn"
	case !ok:
		return change.Sequence{}, "source.lsn is no LSN"
	case lsn == 0 && op == change.OpSnapshot:
		return position.Lowest(d.options.Epoch), "none in a snapshot"
	case lsn == 0:
		return change.Sequence{}, "source.lsn is 0, which is no position of a change"
	}
	last, ok := position.ParseLSN(lastText)
	if !ok && lastText != "" {
		return change.Sequence{}, "source.sequence does not begin with an LSN"
	}
	return position.Postgres(d.options.Epoch, last, lsn, op), position.FormatLSN(&d.scan.Arena, lsn)
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

// mysql reads source.file, source.pos and source.row.
func (d *Decoder) mysql(op change.Op) (change.Sequence, string) {
	s := &d.msg.source
	if s.file == "" && op == change.OpSnapshot {
		return position.Lowest(d.options.Epoch), "none in a snapshot"
	}
	file, ok := position.FileNumber(s.file)
	if !ok {
		return change.Sequence{}, "source.file has no number at its end"
	}
	pos, ok := position.ParseUint(s.pos)
	if !ok {
		return change.Sequence{}, "source.pos is no number"
	}
	var row uint64
	if s.row != "" {
		if row, ok = position.ParseUint(s.row); !ok || row > position.MaxRow {
			return change.Sequence{}, "source.row is no number"
		}
	}
	return position.MySQL(d.options.Epoch, file, pos, row, op), d.scan.Arena.Join(s.file, ":", s.pos)
}
