package debezium

import (
	"strconv"
	"time"

	"beamcdc/schemas/envelope/internal/outcome"
)

// source is what is read of the envelope's source block. Numbers are kept as
// they are written, since connectors' versions disagree on strings and numbers.
type source struct {
	connector, db, schema, table string
	snapshot                     string
	sequence, lsn                string // PostgreSQL
	file, pos, row               string // MySQL, MariaDB
	tsMillis, tsMicros, tsNanos  string
}

// readSource reads the source block.
func (d *Decoder) readSource() {
	s := d.scan
	if !s.Object() {
		d.fault(outcome.Errorf(outcome.BadEnvelope, "source is no object"))
		return
	}
	for {
		name, more := s.Member()
		if !more {
			return
		}
		switch field := d.msg.source.field(name); {
		case field == nil:
			s.Skip()
		case name == "sequence":
			*field = s.Value() // JSON in a JSON string, of which only digits matter
		default:
			*field = s.Scalar()
		}
	}
}

// field returns where the member of this name goes, nil for nowhere.
func (s *source) field(name string) *string {
	switch name {
	case "connector":
		return &s.connector
	case "db":
		return &s.db
	case "schema":
		return &s.schema
	case "table":
		return &s.table
	case "snapshot":
		return &s.snapshot
	case "sequence":
		return &s.sequence
	case "lsn":
		return &s.lsn
	case "file":
		return &s.file
	case "pos":
		return &s.pos
	case "row":
		return &s.row
	case "ts_ms":
		return &s.tsMillis
	case "ts_us":
		return &s.tsMicros
	case "ts_ns":
		return &s.tsNanos
	}
	return nil
}

// isBinlog reports whether the source is MySQL or MariaDB.
func (s *source) isBinlog() bool { return s.connector == "mysql" || s.connector == "mariadb" }

// isSnapshot reports whether the snapshot flag is set. It is a string, or a
// boolean in old versions.
func (s *source) isSnapshot() bool {
	switch s.snapshot {
	case "", "false":
		return false
	}
	return true
}

// isIncremental reports whether the row was read by an incremental snapshot.
// Such a row has no position; old versions gave it a stale one (DBZ-4329).
func (s *source) isIncremental() bool { return s.snapshot == "incremental" }

// commitTime returns when the source committed, by the finest of its three
// times; zero when none can be read, or lies outside the years 1 to 9999.
func (s *source) commitTime() time.Time {
	var t time.Time
	if n, ok := parseInt(s.tsNanos); ok {
		t = time.Unix(0, n)
	} else if n, ok := parseInt(s.tsMicros); ok {
		t = time.UnixMicro(n)
	} else if n, ok := parseInt(s.tsMillis); ok {
		t = time.UnixMilli(n)
	} else {
		return time.Time{}
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func parseInt(text string) (int64, bool) {
	if text == "" { // absent, as it often is: no error to allocate
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
