package rowproto

import (
	"encoding/hex"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestGeography(t *testing.T) {
	plain := table.Column{Type: table.Geography}
	wkb := func(text string) string {
		raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const one, two, three = "000000000000F03F", "0000000000000040", "0000000000000840" // little-endian doubles
	point := wkb("01 01000000 000000000000F83F 00000000000002C0")
	line := "01 02000000 02000000" + one + two + two + three
	ring := "04000000" + one + one + two + one + two + two + one + one
	runCases(t, []valueCase{
		{name: "WKT", column: plain, value: change.Text("POINT(1.5 -2.25)"), want: "POINT(1.5 -2.25)"},
		{name: "GeoJSON", column: plain, value: change.Raw(`{"type": "Point", "coordinates": [1.50, -2.25]}`), want: `{"type": "Point", "coordinates": [1.50, -2.25]}`},
		{name: "GeoJSON in a document", column: plain, value: change.JSON(`{"type":"Point","coordinates":[1.5,-2.25]}`), want: `{"type":"Point","coordinates":[1.5,-2.25]}`},
		badCase("empty", plain, change.Text(""), "neither WKT"),
		badCase("not UTF-8", plain, change.Text("POINT\xFF"), "neither WKT"),
		badCase("number", plain, change.Number("1"), "takes no JSON number"),

		{name: "Debezium's point", column: plain, value: change.Raw(`{"x":1.5,"y":-2.25,"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":null}`), want: "POINT(1.5 -2.25)"},
		{name: "Debezium's geometry, typed", column: plain, value: change.Struct([]change.Column{{Name: "wkb", Value: change.Bytes(point)}, {Name: "srid", Value: change.Int64(4326)}}), want: "POINT(1.5 -2.25)"},
		badCase("another reference", plain, change.Raw(`{"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":3857}`), "not 4326"),
		badCase("no base64", plain, change.Raw(`{"wkb":"?","srid":4326}`), "no base64"),
		badCase("circle", plain, change.Raw(`{"wkb":"","radius":1}`), "no geometry"),
		badCase("struct without a wkb", plain, change.Struct(nil), "no wkb"),
		{name: "bytes", column: plain, value: change.Bytes(point), want: "POINT(1.5 -2.25)"},
		{name: "big-endian", column: plain, value: change.Bytes(wkb("00 00000001 3FF8000000000000 C002000000000000")), want: "POINT(1.5 -2.25)"},
		{name: "PostGIS's text with a reference", column: plain, value: change.Text("0101000020E6100000000000000000F83F00000000000002C0"), want: "POINT(1.5 -2.25)"},
		badCase("PostGIS's text with another", plain, change.Text("0101000020110F0000000000000000F83F00000000000002C0"), "not 4326"),
		{name: "empty point", column: plain, value: change.Bytes(wkb("01 01000000 000000000000F87F 000000000000F87F")), want: "POINT EMPTY"},
		{name: "line", column: plain, value: change.Bytes(wkb(line)), want: "LINESTRING(1 2, 2 3)"},
		{name: "empty line", column: plain, value: change.Bytes(wkb("01 02000000 00000000")), want: "LINESTRING EMPTY"},
		{name: "polygon", column: plain, value: change.Bytes(wkb("01 03000000 01000000" + ring)), want: "POLYGON((1 1, 2 1, 2 2, 1 1))"},
		{name: "points", column: plain, value: change.Bytes(wkb("01 04000000 02000000 01 01000000" + one + two + "01 01000000" + two + three)), want: "MULTIPOINT((1 2), (2 3))"},
		{name: "lines", column: plain, value: change.Bytes(wkb("01 05000000 01000000" + line)), want: "MULTILINESTRING((1 2, 2 3))"},
		{name: "polygons", column: plain, value: change.Bytes(wkb("01 06000000 01000000 01 03000000 01000000" + ring)), want: "MULTIPOLYGON(((1 1, 2 1, 2 2, 1 1)))"},
		{name: "collection", column: plain, value: change.Bytes(wkb("01 07000000 02000000 01 01000000" + one + two + line)), want: "GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(1 2, 2 3))"},
		badCase("three dimensions", plain, change.Bytes(wkb("01 E9030000"+one+one+one)), "two dimensions"),
		badCase("PostGIS's three dimensions", plain, change.Bytes(wkb("01 01000080"+one+one+one)), "two dimensions"),
		badCase("a circular string", plain, change.Bytes(wkb("01 08000000 00000000")), "type is unknown"),
		badCase("byte order", plain, change.Bytes(wkb("02 01000000"+one+one)), "byte order"),
		badCase("cut short", plain, change.Bytes(point[:20]), "ends early"),
		badCase("a count too large", plain, change.Bytes(wkb("01 02000000 FFFFFFFF"+one+one)), "ends early"),
		badCase("a member of another type", plain, change.Bytes(wkb("01 04000000 01000000"+line)), "another type"),
		badCase("infinite", plain, change.Bytes(wkb("01 01000000 000000000000F07F"+one)), "coordinate"),
		badCase("more behind", plain, change.Bytes(point+"\x00"), "follow"),
		badCase("nothing", plain, change.Bytes(""), "ends early"),
		badCase("deep", plain, change.Bytes(strings.Repeat(wkb("01 07000000 01000000"), 100)), "deep"),
	})
}
