package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"beamcdc/schemas/table"
)

// DistinctQuery returns the query of the history's view: each change once, as it was
// published first.
func DistinctQuery(name table.Name) string {
	return fmt.Sprintf("SELECT *\nFROM %s\nWHERE TRUE\nQUALIFY ROW_NUMBER() OVER (PARTITION BY %s ORDER BY %s, %s) = 1",
		quoteName(name.String()), changeID, publish, messageID)
}

// RebuildQuery returns the query, in GoogleSQL, that makes of a history the table
// whose changes it has, with the columns and types that t has: of each key the change
// with the highest sequence, unless that is a DELETE. rule is the table's; the columns
// that its settings need and no source has are left out.
func RebuildQuery(t *table.Table, rule *table.Rule, name table.Name) string {
	t = &table.Table{Name: t.Name, Columns: sourceColumns(t, rule)}
	emptied := ""
	if rule.Truncates == "delete_keys" || rule.Truncates == "recreate" {
		emptied = fmt.Sprintf("(SELECT COALESCE(MAX(%s), '') FROM %s WHERE %s = 'truncate')", sequence, quoteName(name.String()), operation)
	}
	documents, from := after, latest(name, emptied)
	if rule.UnavailableValues == "fill" {
		documents, from = "", filled(t, name, emptied)
	}
	var b strings.Builder
	b.WriteString("SELECT\n")
	for i := range t.Columns {
		c := &t.Columns[i]
		document, path := documents, "$"+member(c.Name)
		if document == "" {
			document, path = fmt.Sprintf("c%d", i+1), "$"
		}
		fmt.Fprintf(&b, "  %s AS %s", valueOf(c, document, path, 0), quoteName(c.Name))
		if i < len(t.Columns)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(from)
	return b.String()
}

func sourceColumns(t *table.Table, rule *table.Rule) []table.Column {
	own := rule.OwnColumns()
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c table.Column) bool {
		return slices.ContainsFunc(own, func(other table.Column) bool { return strings.EqualFold(other.Name, c.Name) })
	})
}

// latest selects of each key the change with the highest sequence, if it left a row, and
// that after the last truncate: emptied is the expression of its sequence, "" for a
// table that keeps its rows.
func latest(name table.Name, emptied string) string {
	query := fmt.Sprintf(`FROM (
  SELECT %[1]s, %[2]s, %[3]s
  FROM %[4]s
  WHERE %[2]s IS NOT NULL
  QUALIFY ROW_NUMBER() OVER (PARTITION BY %[5]s ORDER BY %[1]s DESC, %[2]s DESC, %[6]s DESC, %[7]s DESC) = 1
)
WHERE %[2]s = 'UPSERT'`, sequence, changeType, after, quoteName(name.String()), key, publish, messageID)
	if emptied != "" {
		query += fmt.Sprintf("\nAND %s > %s", sequence, emptied)
	}
	return query
}

// filled selects of each key, column by column, the last value that the source sent
// since the row's last DELETE, and since the last truncate, as latest has it: as c1, c2,
// … JSON of the values.
func filled(t *table.Table, name table.Name, emptied string) string {
	var b strings.Builder
	b.WriteString("FROM (\n  SELECT")
	for i := range t.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    ARRAY_AGG(JSON_QUERY(%s, %s) IGNORE NULLS ORDER BY %s DESC, %s DESC, %s DESC LIMIT 1)[SAFE_OFFSET(0)] AS c%d",
			after, quoteText("$"+member(t.Columns[i].Name)), sequence, publish, messageID, i+1)
	}
	since := ""
	if emptied != "" {
		since = fmt.Sprintf(" AND %s > %s", sequence, emptied)
	}
	fmt.Fprintf(&b, `
  FROM (
    SELECT *, MAX(IF(%[1]s = 'DELETE', %[2]s, '')) OVER (PARTITION BY %[3]s) AS deleted
    FROM %[4]s
    WHERE %[1]s IS NOT NULL
  )
  WHERE %[1]s = 'UPSERT' AND %[2]s >= deleted%[5]s
  GROUP BY %[3]s
)`, changeType, sequence, key, quoteName(name.String()), since)
	return b.String()
}

// valueOf returns the expression of the value that document has at path, of the
// column's type. depth numbers the names of nested arrays.
func valueOf(c *table.Column, document, path string, depth int) string {
	if c.Mode == table.Repeated {
		element := *c
		element.Mode = table.Nullable
		item, at := fmt.Sprintf("item%d", depth), fmt.Sprintf("at%d", depth)
		return fmt.Sprintf("ARRAY(SELECT %s FROM UNNEST(JSON_QUERY_ARRAY(%s, %s)) AS %s WITH OFFSET AS %s ORDER BY %s)",
			valueOf(&element, item, "$", depth+1), document, quoteText(path), item, at, at)
	}
	text := fmt.Sprintf("JSON_VALUE(%s, %s)", document, quoteText(path))
	switch c.Type {
	case table.String:
		return text
	case table.Bytes:
		return "FROM_BASE64(" + text + ")"
	case table.JSON:
		return "PARSE_JSON(" + text + ", wide_number_mode => 'round')"
	case table.Geography:
		return "ST_GEOGFROM(" + text + ")"
	case table.Range:
		return fmt.Sprintf("CAST(%s AS RANGE<%s>)", text, c.Element)
	case table.Struct:
		fields := make([]string, len(c.Fields))
		for i := range c.Fields {
			f := &c.Fields[i]
			fields[i] = valueOf(f, document, path+member(f.Name), depth) + " AS " + quoteName(f.Name)
		}
		return fmt.Sprintf("IF(JSON_TYPE(JSON_QUERY(%s, %s)) = 'object', STRUCT(%s), NULL)", document, quoteText(path), strings.Join(fields, ", "))
	default:
		return fmt.Sprintf("CAST(%s AS %s)", text, c.Type)
	}
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member returns a member's name as a JSONPath has it. No column's name has quotes.
func member(name string) string {
	if plainMember.MatchString(name) {
		return "." + name
	}
	return `."` + name + `"`
}

func quoteName(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}

func quoteText(text string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(text) + "'"
}
