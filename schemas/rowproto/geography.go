package rowproto

import (
	"strings"
	"unicode/utf8"

	"beamcdc/schemas/change"
)

// appendGeography appends a GEOGRAPHY: WKT and GeoJSON as they are, for BigQuery
// to check, and well-known binary (bytes, PostGIS's hexadecimal text, Debezium's
// object or struct of wkb and srid) as WKT with the same coordinates. A spatial
// reference other than 4326 is a bad value: BigQuery's points are longitude and
// latitude on that one.
func appendGeography(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString:
		if isHexWKB(v.Text()) {
			raw, ok := appendHex(e.raw[:0], v.Text())
			e.raw = raw
			if ok {
				return appendGeometry(dst, raw)
			}
		}
		return appendGeographyText(dst, v.Text())
	case change.KindJSON:
		return appendGeographyText(dst, v.Text())
	case change.KindBytes:
		return appendGeometry(dst, bytesOf(v.Text()))
	case change.KindRaw:
		columns, err := e.documents.open(v.Text(), '{')
		defer e.documents.close()
		if err != nil {
			return dst, err
		}
		if _, ok := change.Find(columns, "wkb"); ok {
			return e.appendWKBObject(dst, columns)
		}
		return appendGeographyText(dst, v.Text()) // GeoJSON
	case change.KindStruct:
		return e.appendWKBObject(dst, v.Elems())
	default:
		return dst, mismatch(f, v)
	}
}

func appendGeographyText(dst []byte, text string) ([]byte, *ValueError) {
	if text == "" || !utf8.ValidString(text) {
		return dst, bad("the text is neither WKT nor GeoJSON")
	}
	return appendString(dst, text), nil
}

// isHexWKB says that a text begins with WKB's byte order in hexadecimal, as
// neither WKT nor GeoJSON does.
func isHexWKB(text string) bool {
	return len(text) >= 10 && (strings.HasPrefix(text, "00") || strings.HasPrefix(text, "01"))
}

// appendWKBObject reads Debezium's Geometry, Geography and Point; the last has x
// and y too, which its wkb repeats.
func (e *Encoder) appendWKBObject(dst []byte, columns []change.Column) ([]byte, *ValueError) {
	var raw []byte
	for i := range columns {
		v := &columns[i].Value
		switch columns[i].Name {
		case "wkb":
			switch v.Kind() {
			case change.KindBytes:
				raw = bytesOf(v.Text())
			case change.KindText, change.KindString:
				decoded, ok := appendBase64(e.raw[:0], v.Text())
				e.raw = decoded
				if !ok {
					return dst, bad("its wkb is no base64")
				}
				raw = decoded
			default:
			}
		case "srid":
			if v.IsNull() {
				continue
			}
			n, err := wholeNumberOf(v)
			if err != nil {
				return dst, err.under("srid")
			}
			if n != 0 && n != wgs84 {
				return dst, bad("its spatial reference is not 4326")
			}
		case "x", "y":
		default:
			return dst, bad("the object is no geometry")
		}
	}
	if raw == nil {
		return dst, bad("the object has no wkb")
	}
	return appendGeometry(dst, raw)
}

// appendGeometry appends well-known binary as WKT.
func appendGeometry(dst, raw []byte) ([]byte, *ValueError) {
	start := len(dst)
	r := wkbReader{rest: raw}
	out := r.appendWKT(openLength(dst), 0)
	if r.problem == "" && len(r.rest) > 0 {
		r.problem = "bytes follow the geometry"
	}
	if r.problem != "" {
		return dst, bad("the value is no geometry that BigQuery holds: %s", r.problem)
	}
	return closeLength(out, start), nil
}
