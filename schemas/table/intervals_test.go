package table_test

import (
	"testing"

	"beamcdc/schemas/table"
)

func TestStar(t *testing.T) {
	interval := table.Column{Name: "i", Type: table.Interval}
	list := table.Column{Name: "l", Type: table.Interval, Mode: table.Repeated}
	for want, columns := range map[string][]table.Column{
		"*": {
			{Name: "a", Type: table.Int64},
			{Name: "s", Type: table.Struct, Fields: []table.Column{{Name: "a", Type: table.String, Mode: table.Repeated}}},
		},
		"* REPLACE (CAST(`i` AS STRING) AS `i`)": {{Name: "a", Type: table.Int64}, interval},
		"* REPLACE (ARRAY(SELECT CAST(element_0 AS STRING) FROM UNNEST(`l`) AS element_0 WITH OFFSET AS place_0 ORDER BY place_0) AS `l`)": {list},
		"* REPLACE (IF(`s` IS NULL, NULL, STRUCT(`s`.`a` AS `a`, CAST(`s`.`i` AS STRING) AS `i`)) AS `s`)": {
			{Name: "s", Type: table.Struct, Fields: []table.Column{{Name: "a", Type: table.Int64}, interval}},
		},
		"* REPLACE (ARRAY(SELECT IF(element_0 IS NULL, NULL, STRUCT(ARRAY(SELECT CAST(element_1 AS STRING) FROM UNNEST(element_0.`l`) AS element_1 " +
			"WITH OFFSET AS place_1 ORDER BY place_1) AS `l`)) FROM UNNEST(`s`) AS element_0 WITH OFFSET AS place_0 ORDER BY place_0) AS `s`)": {
			{Name: "s", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{list}},
		},
	} {
		if got := (&table.Table{Columns: columns}).Star(); got != want {
			t.Errorf("\n%s, want\n%s", got, want)
		}
	}
}
