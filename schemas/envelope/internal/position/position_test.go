package position_test

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/slab"
)

func TestParseLSN(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"7/A1B2C3D8", 0x7A1B2C3D8, true},
		{"7/a1b2c3d8", 0x7A1B2C3D8, true},
		{"0/0", 0, true},
		{"10/200", 0x1000000200, true},
		{"FFFFFFFF/FFFFFFFF", 1<<64 - 1, true},
		{"32777618640", 32777618640, true},
		{"18446744073709551615", 1<<64 - 1, true},
		{"18446744073709551616", 0, false},
		{"100000000/0", 0, false},
		{"0/100000000", 0, false},
		{"7/", 0, false},
		{"/7", 0, false},
		{"7/1/2", 0, false},
		{"", 0, false},
		{"-1", 0, false},
		{"+1", 0, false},
		{"7A", 0, false},
		{" 7", 0, false},
		{"7.0", 0, false},
		{"7e3", 0, false},
		{"0x7/1", 0, false},
		{"1_0", 0, false},
	} {
		if got, ok := position.ParseLSN(test.text); got != test.want || ok != test.ok {
			t.Errorf("ParseLSN(%q) = %X, %t, want %X, %t", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestFormatLSN(t *testing.T) {
	var a slab.Arena
	for _, want := range []string{"0/0", "7/A1B2C3D8", "10/200", "FFFFFFFF/FFFFFFFF"} {
		lsn, _ := position.ParseLSN(want)
		if got := position.FormatLSN(&a, lsn); got != want {
			t.Errorf("FormatLSN(%X) = %q, want %q", lsn, got, want)
		}
	}
}

func TestFileNumber(t *testing.T) {
	for _, test := range []struct {
		file string
		want uint64
		ok   bool
	}{
		{"mysql-bin.000042", 42, true},
		{"mysql-bin.999999", 999999, true},
		{"mysql-bin.1000000", 1000000, true},
		{"mysql-bin-changelog.9", 9, true},
		{"host.example.com-bin.000007", 7, true},
		{"mysql-bin.index", 0, false},
		{"mysql-bin.", 0, false},
		{"mysql-bin", 0, false},
		{"", 0, false},
		{"mysql-bin.-1", 0, false},
		{"mysql-bin.18446744073709551616", 0, false},
	} {
		if got, ok := position.FileNumber(test.file); got != test.want || ok != test.ok {
			t.Errorf("FileNumber(%q) = %d, %t, want %d, %t", test.file, got, ok, test.want, test.ok)
		}
	}
}

// TestOrder lists changes from the earliest to the latest.
func TestOrder(t *testing.T) {
	const c, u, d, r = change.OpCreate, change.OpUpdate, change.OpDelete, change.OpSnapshot
	for what, order := range map[string][]change.Sequence{
		"PostgreSQL": {
			position.Lowest(0),
			position.Postgres(0, 90, 100, u),
			position.Postgres(0, 0, 120, r),   // a snapshot at 120
			position.Postgres(0, 100, 120, u), // after it, though its lastCommit is from before
			position.Postgres(0, 100, 150, d), // the two halves of a changed key that is the same one again
			position.Postgres(0, 100, 150, c),
			position.Postgres(0, 200, 130, u), // began early, committed late
			position.Postgres(0, 200, 140, u),
			position.Postgres(0, 0x10<<32|0x200, 0x10<<32|0x300, u), // 10/300 is later than F/FFFFFF00
			position.Postgres(1, 1, 2, u),                           // after a failover
		},
		"MySQL": {
			position.Lowest(0),
			position.MySQL(0, 41, 9000, 0, u),
			position.MySQL(0, 42, 120, 0, r),
			position.MySQL(0, 42, 120, 0, d),
			position.MySQL(0, 42, 120, 0, c),
			position.MySQL(0, 42, 120, 1, d),
			position.MySQL(0, 42, 120, 1, u),
			position.MySQL(0, 42, 121, 0, u),
			position.MySQL(0, 999999, 800, 0, u),
			position.MySQL(0, 1000000, 4, 0, u),
			position.MySQL(0, 1000000, 4, position.MaxRow, u),
			position.MySQL(1, 3, 4, 0, u),
		},
		"SQL Server": {
			position.Lowest(0),
			position.SQLServer(0, lsn(1, 0xFFFFFFFF, 0xFFFF), lsn(1, 2, 3), 1, u),
			position.SQLServer(0, lsn(2, 5, 9), lsn(0, 0, 0), 0, r),
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 5, 4), 1, d), // the two events of a changed key
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 5, 4), 1, c), // without serial numbers they tie but for the ordinal
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 5, 4), 2, u),
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 5, 4), position.MaxSerial, u),
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 5, 5), 1, d),
			position.SQLServer(0, lsn(2, 5, 9), lsn(2, 0x00010000, 0), 1, d), // across the border of two sections
			position.SQLServer(0, lsn(2, 5, 9), lsn(3, 0, 1), 1, d),
			position.SQLServer(0, lsn(2, 5, 10), lsn(1, 1, 1), 1, u),
			position.SQLServer(0, lsn(2, 6, 0), lsn(1, 1, 1), 1, u),
			position.SQLServer(0, lsn(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF), lsn(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF), position.MaxSerial, u),
			position.SQLServer(1, lsn(1, 1, 1), lsn(1, 1, 1), 1, u),
		},
		"Oracle": {
			position.Lowest(0),
			position.Oracle(0, 99, 90, 1, u),
			position.Oracle(0, 0, 100, 0, r),
			position.Oracle(0, 100, 95, 1, d),
			position.Oracle(0, 100, 95, 1, c),
			position.Oracle(0, 100, 95, 2, d), // as number 2 of its transaction
			position.Oracle(0, 100, 96, 1, u),
			position.Oracle(0, 100, 96, position.MaxWithin, u),
			position.Oracle(0, 70, 101, 1, u),  // another redo thread's last commit, but written after 100's
			position.Oracle(0, 1000, 50, 1, u), // began early, committed late; as text it is before 999
			position.Oracle(1, 2, 1, 1, u),
		},
		"MongoDB": {
			position.Lowest(0),
			position.MongoDB(0, 1741507626, 30, 0, u),
			position.MongoDB(0, 1741507626, 31, 0, r),
			position.MongoDB(0, 1741507626, 31, 0, d),
			position.MongoDB(0, 1741507626, 31, 0, c),
			position.MongoDB(0, 1741507626, 31, 1, d), // in a transaction
			position.MongoDB(0, 1741507626, 31, 2, u),
			position.MongoDB(0, 1741507626, 100, 0, u),
			position.MongoDB(0, 1741507627, 1, 0, u),
			position.MongoDB(1, 1, 1, 0, u),
		},
		"Spanner": {
			position.Lowest(0),
			position.SpannerMod(0, 1741507626005004001, 1, 0, d),
			position.SpannerMod(0, 1741507626005004001, 1, 0, u),
			position.SpannerMod(0, 1741507626005004001, 1, 1, d),
			position.SpannerMod(0, 1741507626005004001, 2, 0, u),
			position.SpannerMod(0, 1741507626005004001, 10, 0, u),
			position.SpannerMod(0, 1741507626005004002, 0, 0, d),
			position.SpannerMod(1, 1, 0, 0, d),
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

func lsn(file, block uint64, slot uint16) position.LSN {
	return position.LSN{Block: file<<32 | block, Slot: slot}
}

func TestParseSQLServerLSN(t *testing.T) {
	for _, test := range []struct {
		text string
		want position.LSN
		ok   bool
	}{
		{"0000003c:000015f8:0009", lsn(0x3C, 0x15F8, 9), true},
		{"0000003C:000015F8:0009", lsn(0x3C, 0x15F8, 9), true},
		{"ffffffff:ffffffff:ffff", lsn(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF), true},
		{"0000003c000015f80009", lsn(0x3C, 0x15F8, 9), true},
		{"0x0000003C000015F80009", lsn(0x3C, 0x15F8, 9), true},
		{"00000000:00000000:0000", lsn(0, 0, 0), true},
		{"3c:15f8:9", position.LSN{}, false},
		{"0000003c:000015f8:00090", position.LSN{}, false},
		{"0000003c:000015g8:0009", position.LSN{}, false},
		{"0000003c:000015f8:-009", position.LSN{}, false},
		{"0000003c-000015f8-0009", position.LSN{}, false},
		{"0x0000003c:000015f8:09", position.LSN{}, false},
		{"", position.LSN{}, false},
	} {
		got, ok := position.ParseSQLServerLSN(test.text)
		if ok != test.ok || (ok && got != test.want) {
			t.Errorf("ParseSQLServerLSN(%q) = %X, %t, want %X, %t", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestOracleRecord(t *testing.T) {
	for _, test := range []struct {
		rsID, ssn string
		want      uint64
		ok        bool
	}{
		{"0004d2.0001f0a3.0090", "1", 0x1F0A3<<30 | 0x90<<14 | 1, true},
		{" 0x0004d2.0001f0a3.0090 ", "1", 0x1F0A3<<30 | 0x90<<14 | 1, true},
		{"6.8.4", "", 8<<30 | 4<<14, true},
		{"ffffffff.ffffffff.ffff", "16383", 1<<62 - 1, true},
		{"6.8.4", "16384", 0, false},
		{"6.8.4", "x", 0, false},
		{"6.8.4", "-1", 0, false},
		{"6.8", "1", 0, false},
		{"6.8.4.1", "1", 0, false},
		{"6.100000000.4", "1", 0, false},
		{"6.8.10000", "1", 0, false},
		{".8.4", "1", 0, false},
		{"", "1", 0, false},
	} {
		got, ok := position.OracleRecord(test.rsID, test.ssn)
		if ok != test.ok || (ok && got != test.want) {
			t.Errorf("OracleRecord(%q, %q) = %X, %t, want %X, %t", test.rsID, test.ssn, got, ok, test.want, test.ok)
		}
	}
}

// TestSQLServer_order: whatever the numbers, sequences are ordered as the
// numbers are, one after the other. Near ones are drawn too, so that borders of
// sections show.
func TestSQLServer_order(t *testing.T) {
	type place struct {
		commitBlock, commitSlot, block, slot, serial, ordinal uint64
	}
	draw := func(t *rapid.T, near *place) place {
		number := func(name string, limit, base uint64) uint64 {
			if near != nil && rapid.Bool().Draw(t, name+" near") {
				return min(limit, base+rapid.Uint64Range(0, 1).Draw(t, name+" further")<<rapid.IntRange(0, 40).Draw(t, name+" by"))
			}
			return rapid.Uint64Range(0, limit).Draw(t, name)
		}
		if near == nil {
			near = &place{}
		}
		return place{
			number("commit block", 1<<64-1, near.commitBlock), number("commit slot", 1<<16-1, near.commitSlot),
			number("block", 1<<64-1, near.block), number("slot", 1<<16-1, near.slot),
			number("serial", position.MaxSerial, near.serial), number("ordinal", 1, near.ordinal),
		}
	}
	sequence := func(p place) change.Sequence {
		op := change.OpDelete
		if p.ordinal == 1 {
			op = change.OpUpdate
		}
		return position.SQLServer(9, position.LSN{Block: p.commitBlock, Slot: uint16(p.commitSlot)}, position.LSN{Block: p.block, Slot: uint16(p.slot)}, p.serial, op)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t, nil)
		b := draw(t, &a)
		want := cmp.Or(cmp.Compare(a.commitBlock, b.commitBlock), cmp.Compare(a.commitSlot, b.commitSlot), cmp.Compare(a.block, b.block),
			cmp.Compare(a.slot, b.slot), cmp.Compare(a.serial, b.serial), cmp.Compare(a.ordinal, b.ordinal))
		if got := sequence(a).Compare(sequence(b)); got != want {
			t.Errorf("%+v (%s) against %+v (%s): %d, want %d", a, sequence(a), b, sequence(b), got, want)
		}
	})
}
