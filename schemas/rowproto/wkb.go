package rowproto

import (
	"encoding/binary"
	"math"
	"strconv"
)

// wgs84 is the spatial reference of BigQuery's GEOGRAPHY.
const wgs84 = 4326

// wkbReader turns well-known binary (OGC 06-103r4, 8.2, with PostGIS's flags for
// a spatial reference) into well-known text. The first problem sticks.
type wkbReader struct {
	rest    []byte
	order   binary.ByteOrder
	problem string
}

// The geometry types, and PostGIS's flags in the same number.
const (
	wkbPoint = iota + 1
	wkbLineString
	wkbPolygon
	wkbMultiPoint
	wkbMultiLineString
	wkbMultiPolygon
	wkbCollection

	ewkbZ    = 0x80000000
	ewkbM    = 0x40000000
	ewkbSRID = 0x20000000
)

var wktNames = [...]string{
	wkbPoint: "POINT", wkbLineString: "LINESTRING", wkbPolygon: "POLYGON", wkbMultiPoint: "MULTIPOINT",
	wkbMultiLineString: "MULTILINESTRING", wkbMultiPolygon: "MULTIPOLYGON", wkbCollection: "GEOMETRYCOLLECTION",
}

// maxWKBDepth bounds collections within collections.
const maxWKBDepth = 32

func (r *wkbReader) appendWKT(dst []byte, depth int) []byte {
	kind := r.header()
	if depth > maxWKBDepth {
		r.fail("it is nested too deep")
	}
	if r.problem != "" {
		return dst
	}
	dst = append(dst, wktNames[kind]...)
	if kind == wkbPoint && r.emptyPoint() {
		return append(dst, " EMPTY"...)
	}
	if kind == wkbPoint {
		return append(r.appendPosition(append(dst, '(')), ')')
	}
	return r.appendParts(dst, kind, depth)
}

// appendParts appends what follows the name of a geometry that has a count.
func (r *wkbReader) appendParts(dst []byte, kind uint32, depth int) []byte {
	n := r.count()
	if n == 0 {
		return append(dst, " EMPTY"...)
	}
	dst = append(dst, '(')
	for i := range n {
		if r.problem != "" {
			return dst
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch kind {
		case wkbLineString:
			dst = r.appendPosition(dst)
		case wkbPolygon:
			dst = r.appendParts(dst, wkbLineString, depth)
		case wkbCollection:
			dst = r.appendWKT(dst, depth+1)
		default:
			dst = r.appendMember(dst, kind-wkbMultiPoint+wkbPoint, depth)
		}
	}
	return append(dst, ')')
}

// appendMember appends a geometry of a MULTI… without its name.
func (r *wkbReader) appendMember(dst []byte, want uint32, depth int) []byte {
	if kind := r.header(); kind != want {
		r.fail("a member is of another type")
		return dst
	}
	if want == wkbPoint {
		return append(r.appendPosition(append(dst, '(')), ')')
	}
	return r.appendParts(dst, want, depth)
}

// header reads a byte order, a type, and PostGIS's spatial reference.
func (r *wkbReader) header() (kind uint32) {
	switch order := r.take(1); {
	case order == nil:
		return 0
	case order[0] == 0:
		r.order = binary.BigEndian
	case order[0] == 1:
		r.order = binary.LittleEndian
	default:
		r.fail("its byte order is unknown")
		return 0
	}
	kind = r.uint32()
	if kind&(ewkbZ|ewkbM) != 0 || kind&^ewkbSRID > 1000 {
		r.fail("it has more than two dimensions")
	}
	if kind&ewkbSRID != 0 {
		if srid := r.uint32(); srid != wgs84 && srid != 0 {
			r.fail("its spatial reference is not 4326")
		}
		kind &^= ewkbSRID
	}
	if kind < wkbPoint || kind > wkbCollection {
		r.fail("its type is unknown")
	}
	return kind
}

// emptyPoint consumes a point of two NaNs, which is how an empty one is written.
func (r *wkbReader) emptyPoint() bool {
	if len(r.rest) < 16 || !math.IsNaN(math.Float64frombits(r.order.Uint64(r.rest))) ||
		!math.IsNaN(math.Float64frombits(r.order.Uint64(r.rest[8:]))) {
		return false
	}
	r.rest = r.rest[16:]
	return true
}

func (r *wkbReader) appendPosition(dst []byte) []byte {
	dst = append(r.appendNumber(dst), ' ')
	return r.appendNumber(dst)
}

func (r *wkbReader) appendNumber(dst []byte) []byte {
	b := r.take(8)
	if b == nil {
		return dst
	}
	x := math.Float64frombits(r.order.Uint64(b))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.fail("a coordinate is no number")
		return dst
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

// count reads how many parts follow; each takes at least four bytes.
func (r *wkbReader) count() int {
	n := r.uint32()
	if uint64(n)*4 > uint64(len(r.rest)) {
		r.fail("it ends early")
		return 0
	}
	return int(n)
}

func (r *wkbReader) uint32() uint32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return r.order.Uint32(b)
}

func (r *wkbReader) take(n int) []byte {
	if r.problem != "" || len(r.rest) < n {
		r.fail("it ends early")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *wkbReader) fail(problem string) {
	if r.problem == "" {
		r.problem = problem
	}
}
