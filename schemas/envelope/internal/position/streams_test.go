package position_test

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
)

// TestOrder_streams lists changes of sources that are no database's connector from
// the earliest to the latest.
func TestOrder_streams(t *testing.T) {
	const c, u, d = change.OpCreate, change.OpUpdate, change.OpDelete
	dms := func(text string, record uint64, op change.Op) change.Sequence {
		s, ok := position.DMS(0, text, record, op)
		if !ok {
			t.Errorf("DMS can't read %q", text)
		}
		return s
	}
	for what, order := range map[string][]change.Sequence{
		"Maxwell": {
			position.Lowest(0), // bootstrap-insert
			position.Maxwell(0, 41, 9000, 7, false, u),
			position.Maxwell(0, 42, 120, 0, false, d), // rows of one event
			position.Maxwell(0, 42, 120, 0, false, c),
			position.Maxwell(0, 42, 120, 1, false, u),
			position.Maxwell(0, 42, 120, 0, true, u), // the last of its transaction has no offset
			position.Maxwell(0, 42, 900, 0, true, u),
			position.Maxwell(0, 999999, 800, 0, true, u),
			position.Maxwell(0, 1000000, 4, 0, true, u),
			position.Maxwell(1, 3, 4, 0, true, u),
		},
		"wal2json, a transaction": {
			position.Wal2JSON(0, 100, 0, u),
			position.Wal2JSON(0, 100, 1, d),
			position.Wal2JSON(0, 100, 1, c),
			position.Wal2JSON(0, 100, 10, u), // by number, not by text
			position.Wal2JSON(0, 200, 0, u),
			position.Wal2JSON(0, 0x10<<32|0x200, 0, u),
			position.Wal2JSON(0, 0x10<<32|0x200, position.MaxIndex, u),
			position.Wal2JSON(1, 1, 0, u),
		},
		"wal2json, a record": {
			position.Wal2JSONRecord(0, 100, u),
			position.Wal2JSONRecord(0, 120, d),
			position.Wal2JSONRecord(0, 120, c),
			position.Wal2JSONRecord(0, 0xF<<32|0xFFFFFF00, u),
			position.Wal2JSONRecord(0, 0x10<<32|0x200, u),
			position.Wal2JSONRecord(1, 1, u),
		},
		"Sequin": {
			position.Lowest(0), // read
			position.Wal2JSON(0, 100, 0, c),
			position.Wal2JSON(0, 120, 0, u),
			position.Wal2JSON(0, 130, 0, d),
		},
		"DMS of MySQL": {
			position.Lowest(0), // load
			dms("mysql-bin.000041:9000:-1:1:2:mysql-bin.000041:8000", 3, u),
			dms("mysql-bin.000042:120:-1", 0, d),
			dms("mysql-bin.000042:120:-1", 0, c),
			dms("mysql-bin.000042:120:-1", 1, u),
			dms("mysql-bin.000042:1000", 0, u),
			dms("mysql-bin.1000000:4", 0, u),
		},
		"DMS of PostgreSQL": {
			position.Lowest(0),
			dms("00000009/1A2B0048.4.00000009/1A2B0048", 3, u),
			dms("00000009/1A2B0100.4.00000009/1A2B0048", 1, d),
			dms("00000009/1A2B0100.4.00000009/1A2B0048", 1, c),
			dms("0000000F/FFFFFF00.4.0000000F/FFFFFF00", 0, u),
			dms("00000010/00000200.4.00000010/00000200", 0, u),
		},
		"DMS by time": {
			position.Lowest(0),
			position.DMSCommit(0, 1741507626005004, 1, u),
			position.DMSCommit(0, 1741507626005004, 2, d),
			position.DMSCommit(0, 1741507626005004, 2, c),
			position.DMSCommit(0, 1741507626005005, 0, u),
		},
	} {
		for i, later := range order {
			if n := len(later.Sections()); n != 4 {
				t.Errorf("%s %d: %s has %d sections, want 4", what, i, later, n)
			}
			if i > 0 && order[i-1].Compare(later) >= 0 {
				t.Errorf("%s: %s (%d) is not earlier than %s", what, order[i-1], i-1, later)
			}
		}
	}
}

func TestDMS_unreadable(t *testing.T) {
	for _, text := range []string{
		"", ".", ":", "/", "0/0.4.0/0", "9/x.1", "100000000/0.1", "mysql-bin:4", "mysql-bin.000042", "mysql-bin.x:4", "mysql-bin.000042:x",
		"0000003c:00001600:0002", "12345.67", "000042:7310",
	} {
		if s, ok := position.DMS(0, text, 0, change.OpUpdate); ok {
			t.Errorf("DMS(%q) = %s, want none", text, s)
		}
	}
	if _, ok := position.DMS(0, "mysql-bin.000042:4", position.MaxRow, change.OpUpdate); ok {
		t.Error("DMS took a record id that doesn't fit")
	}
}

func TestParseFilePos(t *testing.T) {
	for _, test := range []struct {
		text      string
		file, pos uint64
		ok        bool
	}{
		{"mysql-bin.000042:7310", 42, 7310, true},
		{"mysql-bin.1000000:4", 1000000, 4, true},
		{"host:3306.000007:9", 7, 9, true},
		{"mysql-bin.000042", 0, 0, false},
		{"mysql-bin:4", 0, 0, false},
		{"mysql-bin.000042:", 0, 0, false},
		{"mysql-bin.000042:-4", 0, 0, false},
		{":4", 0, 0, false},
		{"", 0, 0, false},
	} {
		file, pos, ok := position.ParseFilePos(test.text)
		if ok != test.ok || (ok && (file != test.file || pos != test.pos)) {
			t.Errorf("ParseFilePos(%q) = %d, %d, %t, want %d, %d, %t", test.text, file, pos, ok, test.file, test.pos, test.ok)
		}
	}
}
