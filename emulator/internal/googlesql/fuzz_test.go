package googlesql

import (
	"errors"
	"testing"
)

// anything resolves every name to a table with a column of each type.
type anything struct{}

func (anything) Table(*TableRef) (Relation, error) {
	r := Relation{SQL: "t", RowID: "_id"}
	for k := Bool; k <= Interval; k++ {
		r.Columns = append(r.Columns, Column{Name: string(rune('a' + k)), Type: Of(k)})
	}
	r.Columns = append(r.Columns,
		Column{Name: "s", Type: &Type{Kind: Struct, Fields: []Field{{Name: "x", Type: Of(Int64)}, {Name: "y", Type: ArrayOf(Of(String))}}}},
		Column{Name: "r", Type: ArrayOf(Of(Int64))}, Column{Name: "hidden", Type: Of(String), Hidden: true})
	r.Partitioning = []string{"b", "hidden"}
	return r, nil
}

// FuzzParse: no text makes the parser or the translator panic or recurse without end, and
// each error is one that tells its place.
func FuzzParse(f *testing.F) {
	for _, s := range referenceStatements {
		f.Add(s)
	}
	for _, test := range queryTests {
		f.Add(test.sql)
	}
	for _, test := range selectTests {
		f.Add(test.sql)
	}
	for _, test := range timeTests {
		f.Add(test.sql)
	}
	for _, test := range errorTests {
		f.Add(test.sql)
	}
	f.Add("MERGE t USING u ON t.b = u.b WHEN MATCHED THEN UPDATE SET s.x = 1 WHEN NOT MATCHED THEN INSERT ROW")
	f.Add("SELECT ((((((((((1))))))))))")
	f.Add("SELECT * FROM a-1b.c")
	f.Fuzz(func(t *testing.T, text string) {
		statements, err := Parse(text)
		placed(t, err)
		for _, s := range statements {
			options := Options{Resolver: anything{}, Now: testNow}
			switch s := s.(type) {
			case *Query:
				var translation Translation
				translation, err = s.Translate(options)
				translation.Reads()
				s.Tables()
			case *DML:
				_, err = s.Translate(options)
				s.Tables()
			case *CreateTable:
				for _, o := range s.Options {
					o.Constant()
					_, _, err = o.SQL(options)
				}
			}
			placed(t, err)
		}
	})
}

func placed(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Message == "") {
		t.Errorf("error without a place: %v", err)
	}
}
