package spanner

import (
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/position"
)

// commit reads the commit timestamp: {"seconds":…,"nanos":…} or RFC 3339, or
// microseconds in Avro. It returns nanoseconds since 1970, and why there are none.
func (d *Decoder) commit(e *change.Event) (nanos uint64, why string) {
	raw := d.msg.commit
	var (
		t  time.Time
		ok bool
	)
	switch {
	case raw == "" || raw == "null":
		return 0, "the message has no commitTimestamp"
	case raw[0] == '{':
		t, ok = d.structured(raw)
	case raw[0] == '"':
		var err error
		t, err = time.Parse(time.RFC3339Nano, d.rows.Text(raw))
		ok = err == nil
	case d.isAvro: // microseconds: the template's schema leaves the nanoseconds out
		var micros uint64
		if micros, ok = position.ParseUint(raw); ok && micros < 1<<53 {
			t = time.UnixMicro(int64(micros))
		}
	default:
		return 0, "commitTimestamp is a number, whose unit nothing tells"
	}
	if !ok || t.Unix() <= 0 || t.Unix() > 1<<33 { // nanoseconds of up to the year 2242
		return 0, "commitTimestamp can't be read"
	}
	e.CommitTime = t.UTC()
	b := e.CommitTime.AppendFormat(d.scan.Arena.Reserve(len(time.RFC3339Nano)+1+len(d.msg.record)), time.RFC3339Nano)
	d.place = d.scan.Arena.Keep(append(append(b, '/'), d.msg.record...))
	return uint64(t.UnixNano()), ""
}

// structured reads {"seconds":…,"nanos":…}.
func (d *Decoder) structured(raw string) (time.Time, bool) {
	seconds, nanos := "", "0"
	s := d.scan
	s.Walk(raw)
	s.Object()
	for {
		name, more := s.Member()
		if !more {
			break
		}
		switch name {
		case "seconds":
			seconds = s.Scalar()
		case "nanos":
			nanos = s.Scalar()
		default:
			s.Skip()
		}
	}
	sec, ok := position.ParseUint(seconds)
	ns, nanosOK := position.ParseUint(nanos)
	if !ok || !nanosOK || sec > 1<<40 || ns >= 1e9 {
		return time.Time{}, false
	}
	return time.Unix(int64(sec), int64(ns)), true
}
