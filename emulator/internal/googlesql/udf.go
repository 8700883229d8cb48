package googlesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/decimal"
)

// Register adds the functions that translations use to a DuckDB database, through any of
// its connections. They are Go's, are there for all connections, and aren't stored.
func Register(_ context.Context, conn *sql.Conn) error {
	for _, table := range [][]function{numberUDFs, decimalUDFs, stringUDFs, timeUDFs, intervalUDFs, jsonUDFs, arrayUDFs} {
		for _, f := range table {
			if err := duckdb.RegisterScalarUDF(conn, f.name, &scalarFunction{f}); err != nil {
				return fmt.Errorf("adding function %s to DuckDB: %w", f.name, err)
			}
		}
	}
	return nil
}

// function is a function of DuckDB's that Go computes. It is NULL if any argument is, and
// depends on nothing else.
type function struct {
	name   string
	params []string
	result string
	// call gets the arguments as DuckDB's driver reads them: int64, float64, string, []byte,
	// bool, time.Time, duckdb.Interval, duckdb.Decimal or []any.
	call func(args []driver.Value) (any, error)
}

type scalarFunction struct{ function }

// Config describes the function to DuckDB.
func (f *scalarFunction) Config() duckdb.ScalarFuncConfig {
	config := duckdb.ScalarFuncConfig{ResultTypeInfo: duckInfo(f.result)}
	for _, p := range f.params {
		config.InputTypeInfos = append(config.InputTypeInfos, duckInfo(p))
	}
	return config
}

// Executor computes the function for DuckDB, row by row.
func (f *scalarFunction) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: f.function.call}
}

var duckTypes = map[string]duckdb.Type{
	"BOOLEAN": duckdb.TYPE_BOOLEAN, "BIGINT": duckdb.TYPE_BIGINT, "DOUBLE": duckdb.TYPE_DOUBLE, "VARCHAR": duckdb.TYPE_VARCHAR,
	"BLOB": duckdb.TYPE_BLOB, "DATE": duckdb.TYPE_DATE, "TIME": duckdb.TYPE_TIME, "TIMESTAMP": duckdb.TYPE_TIMESTAMP,
	"TIMESTAMPTZ": duckdb.TYPE_TIMESTAMP_TZ, "INTERVAL": duckdb.TYPE_INTERVAL,
}

// duckInfo is a type of DuckDB's by its name: those of duckTypes, DECIMAL for NUMERIC's,
// and LIST:name.
func duckInfo(name string) duckdb.TypeInfo {
	var info duckdb.TypeInfo
	var err error
	switch {
	case name == "DECIMAL":
		info, err = duckdb.NewDecimalInfo(38, decimal.NumericScale)
	case len(name) > 5 && name[:5] == "LIST:":
		info, err = duckdb.NewListInfo(duckInfo(name[5:]))
	default:
		info, err = duckdb.NewTypeInfo(duckTypes[name])
	}
	if err != nil {
		panic("googlesql: " + name + ": " + err.Error()) // a mistake in the tables
	}
	return info
}

// params is a list of parameters' types.
func params(names ...string) []string { return names }

func interval(v driver.Value) IntervalValue {
	i := v.(duckdb.Interval)
	return IntervalValue{Months: int64(i.Months), Days: int64(i.Days), Micros: i.Micros}
}

func (i IntervalValue) duck() duckdb.Interval {
	return duckdb.Interval{Months: int32(i.Months), Days: int32(i.Days), Micros: i.Micros}
}
