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
func (d *Decoder) readSource() error {
	s := d.scan
	if s.Peek() != '{' {
		if err := s.Skip(); err != nil {
			return err
		}
		return outcome.Errorf(outcome.BadEnvelope, "source is no object")
	}
	if err := s.Token(); err != nil {
		return err
	}
	for s.Peek() == '"' {
		name, err := s.Value()
		if err != nil {
			return err
		}
		field := d.msg.source.field(name)
		if field == nil {
			if err := s.Skip(); err != nil {
				return err
			}
			continue
		}
		if *field, err = d.scalar(); err != nil {
			return err
		}
	}
	return s.Token()
}

// field returns where the member of this name goes, nil for nowhere. Names come
// in their quotes.
func (s *source) field(quoted string) *string {
	switch quoted {
	case `"connector"`:
		return &s.connector
	case `"db"`:
		return &s.db
	case `"schema"`:
		return &s.schema
	case `"table"`:
		return &s.table
	case `"snapshot"`:
		return &s.snapshot
	case `"sequence"`:
		return &s.sequence
	case `"lsn"`:
		return &s.lsn
	case `"file"`:
		return &s.file
	case `"pos"`:
		return &s.pos
	case `"row"`:
		return &s.row
	case `"ts_ms"`:
		return &s.tsMillis
	case `"ts_us"`:
		return &s.tsMicros
	case `"ts_ns"`:
		return &s.tsNanos
	}
	return nil
}

// scalar reads a string's content, or another value as it is written; null is "".
func (d *Decoder) scalar() (string, error) {
	raw, err := d.scan.Value()
	if err != nil {
		return "", err
	}
	switch raw[0] {
	case '"':
		return d.arena.Unquote(raw)
	case 'n':
		return "", nil
	}
	return raw, nil
}

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
	if n, err := strconv.ParseInt(s.tsNanos, 10, 64); err == nil {
		t = time.Unix(0, n)
	} else if n, err := strconv.ParseInt(s.tsMicros, 10, 64); err == nil {
		t = time.UnixMicro(n)
	} else if n, err := strconv.ParseInt(s.tsMillis, 10, 64); err == nil {
		t = time.UnixMilli(n)
	} else {
		return time.Time{}
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
