package position_test

import (
	"testing"

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
