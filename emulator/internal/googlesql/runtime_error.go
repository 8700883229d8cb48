package googlesql

import (
	"errors"
	"regexp"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// runtimeErrors are texts of DuckDB's and what BigQuery says instead.
var runtimeErrors = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`Overflow in (?:addition|subtraction|multiplication) of INT64 \(([^)]*)\)`), "int64 overflow: $1"},
	{regexp.MustCompile(`Overflow in (?:addition|subtraction|multiplication) of DECIMAL\(38\) \(([^)]*)\)|Overflow in HUGEINT \w+`), "numeric overflow"},
	{regexp.MustCompile(`Overflow on abs\(([^)]*)\)|Overflow in negation|Cannot negate value`), "int64 overflow"},
	{regexp.MustCompile(`Type INT128 with value (\S+) can't be cast because the value is out of range for the destination type INT64`), "int64 overflow: $1"},
	{regexp.MustCompile(`More than one row returned by a subquery used as an expression`), "Scalar subquery produced more than one element"},
	{regexp.MustCompile(`column "([^"]*)" must appear in the GROUP BY clause`), "SELECT list expression references column $1 which is neither grouped nor aggregated"},
	{regexp.MustCompile(`aggregate function calls cannot be nested`), "Aggregations of aggregations are not allowed"},
	{regexp.MustCompile(`WHERE clause cannot contain aggregates`), "Aggregate function not allowed in WHERE clause"},
	{regexp.MustCompile(`WHERE clause cannot contain window functions`), "Analytic function not allowed in WHERE clause"},
	{regexp.MustCompile(`window function calls cannot be nested`), "Analytic function cannot be an argument of another analytic function"},
	{regexp.MustCompile(`GROUP BY clause cannot contain aggregates`), "Aggregate function not allowed in GROUP BY"},
	{regexp.MustCompile(`at least one window function must appear in the SELECT column or QUALIFY clause`), "The QUALIFY clause requires analytic function to be present in the QUALIFY clause or SELECT list"},
}

var errorPrefix = regexp.MustCompile(`^(?:[A-Z][A-Za-z ]*Error: )?(?:database/sql/driver: )?(?:API error: )?`)

// RuntimeError is the text, in BigQuery's words as far as they are known, of an error
// that DuckDB gave while it ran a translation.
func RuntimeError(err error) string {
	text := err.Error()
	if typed, ok := errors.AsType[*duckdb.Error](err); ok {
		text = typed.Msg
	}
	for _, e := range runtimeErrors {
		if m := e.pattern.FindStringSubmatchIndex(text); m != nil {
			return string(e.pattern.ExpandString(nil, e.text, text, m))
		}
	}
	text = strings.TrimPrefix(text, errorPrefix.FindString(text))
	if line := strings.Index(text, "\n\nLINE "); line >= 0 { // of a statement that the caller never wrote
		text = text[:line]
	}
	return text
}
