package googlesql

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// The functions are there for all connections of a database, once they are registered
// again where it was opened again; registering twice is no error.
func TestRegister(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	for range 2 {
		db, err := sql.Open("duckdb", path)
		if err != nil {
			t.Fatal(err)
		}
		first, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := Register(t.Context(), first); err != nil {
				t.Fatal(err)
			}
		}
		var n int64
		if err := second.QueryRowContext(t.Context(), "SELECT bq_div(7, 2)").Scan(&n); err != nil || n != 3 {
			t.Errorf("%d, error %v", n, err)
		}
		for _, close := range []func() error{first.Close, second.Close, db.Close} {
			if err := close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// No function has a name twice, which DuckDB would take for another variant.
func TestFunctionNames(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range [][]function{numberUDFs, decimalUDFs, stringUDFs, timeUDFs, intervalUDFs, jsonUDFs, arrayUDFs} {
		for _, f := range table {
			if seen[f.name] {
				t.Errorf("%s is there twice", f.name)
			}
			seen[f.name] = true
		}
	}
	for name := range specialFunctions {
		if len(signatures()[name]) > 0 || aggregateNames[name] || windowNames[name] || unsupported[name] {
			t.Errorf("%s is in two tables", name)
		}
	}
	for name := range unsupported {
		if len(signatures()[name]) > 0 || aggregateNames[name] || windowNames[name] {
			t.Errorf("%s is there, but refused", name)
		}
	}
}
