package position

import (
	"strings"

	"beamcdc/schemas/change"
)

// LSN is a log sequence number of SQL Server, of 80 bits: the virtual log file
// and the log block in it, of 32 bits each, and the slot in that block.
type LSN struct {
	Block uint64 // file<<32 | block
	Slot  uint16
}

// IsZero reports whether the LSN is 0, which is no position of a change.
func (l LSN) IsZero() bool { return l == LSN{} }

// MaxSerial is the highest serial number that SQLServer takes.
const MaxSerial = 1<<31 - 1

// SQLServer returns the sequence of a change by its transaction's commit, its
// own place in the log, and Debezium's event_serial_no, which counts the events
// made of one place.
//
// It is the order of commits for each key: commit LSNs grow in the order of the
// commits, the rows of a change table are numbered by (commit, change) within
// it, and a changed key's two events, which share both, have the serials 1 and
// 2. Two LSNs and the serial are 192 bits, just what three sections hold:
//
//	commit's file and block (64)
//	commit's slot (16), change's file (32), change's block, high half (16)
//	change's block, low half (16), change's slot (16), serial (31), ordinal (1)
//
// Laying numbers of fixed width end to end keeps their lexicographic order,
// wherever the sections' borders fall. The trap is an LSN's 20 hexadecimal
// digits, four more than a section holds. A snapshot's row has its commit LSN
// alone, the highest when it began, and sorts below all changes of that commit.
func SQLServer(epoch uint64, commit, at LSN, serial uint64, op change.Op) change.Sequence {
	if op == change.OpSnapshot {
		return change.NewSequence(epoch, commit.Block, uint64(commit.Slot)<<48, 0)
	}
	return change.NewSequence(epoch, commit.Block,
		uint64(commit.Slot)<<48|at.Block>>16,
		at.Block<<48|uint64(at.Slot)<<32|serial<<1|Ordinal(op))
}

// ParseSQLServerLSN reads "0000003c:000015f8:0009", or its 20 digits without the
// colons, with "0x" before them or without.
func ParseSQLServerLSN(text string) (LSN, bool) {
	if len(text) == 22 && text[8] == ':' && text[17] == ':' {
		file, fileOK := parseHex(text[:8])
		block, blockOK := parseHex(text[9:17])
		slot, slotOK := parseHex(text[18:])
		return LSN{file<<32 | block, uint16(slot)}, fileOK && blockOK && slotOK
	}
	if text = strings.TrimPrefix(text, "0x"); len(text) != 20 {
		return LSN{}, false
	}
	block, blockOK := parseHex(text[:16])
	slot, slotOK := parseHex(text[16:])
	return LSN{block, uint16(slot)}, blockOK && slotOK
}

// parseHex reads up to 16 hexadecimal digits, and nothing else.
func parseHex(text string) (n uint64, ok bool) {
	if text == "" || len(text) > 16 {
		return 0, false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(c)
	}
	return n, true
}
