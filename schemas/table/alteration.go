package table

import (
	"fmt"
	"slices"
	"strings"
)

// AlterationKind is what an Alteration does.
type AlterationKind int

// What is done to a table that follows its source. Nothing is ever dropped,
// renamed or made stricter: a column that the source drops is NULL from then on,
// and one that it renames is a new one.
const (
	AddColumn   AlterationKind = iota + 1 // a column, or a field of a STRUCT, NULLABLE or REPEATED
	RelaxColumn                           // REQUIRED becomes NULLABLE
	WidenColumn                           // a type that holds more
)

// Alteration is one change of a table's columns.
type Alteration struct {
	Kind   AlterationKind
	Path   []string // the column's name, after those of the STRUCTs that it is in
	Column Column   // of AddColumn and WidenColumn: the column as it is to be
}

// Column names the column in errors and logs: "address.city".
func (a *Alteration) column() string { return strings.Join(a.Path, ".") }

// Key names the alteration, so that it is told from others of the same table.
func (a *Alteration) Key() string {
	return fmt.Sprintf("%d %s %s", a.Kind, fold(strings.Join(a.Path, "\x00")), a.Column.SQLType())
}

// Pending returns those of the alterations that the columns don't have yet, each
// once. A column that is there with another type counts as added: which of the two
// types it has, who was first decided.
func Pending(columns []Column, wanted []Alteration) []Alteration {
	var pending []Alteration
	columns = cloneColumns(columns)
	for i := range wanted {
		if apply(&columns, &wanted[i], wanted[i].Path) {
			pending = append(pending, wanted[i])
		}
	}
	return pending
}

// Altered returns the columns with the alterations.
func Altered(columns []Column, alterations []Alteration) []Column {
	columns = cloneColumns(columns)
	for i := range alterations {
		apply(&columns, &alterations[i], alterations[i].Path)
	}
	return columns
}

// apply makes an alteration, and reports whether it changed anything.
func apply(columns *[]Column, a *Alteration, path []string) bool {
	c := findColumn(*columns, path[0])
	switch {
	case len(path) > 1:
		return c != nil && apply(&c.Fields, a, path[1:])
	case a.Kind == AddColumn:
		if c == nil {
			*columns = append(*columns, cloneColumns([]Column{a.Column})...)
		}
		return c == nil
	case c == nil:
		return false // dropped meanwhile
	case a.Kind == RelaxColumn:
		relaxed := c.Mode == Required
		if relaxed {
			c.Mode = Nullable
		}
		return relaxed
	default:
		if Holds(c.Type, a.Column.Type) && c.Type != a.Column.Type || sameSize(c, &a.Column) {
			return false // as wide already, or wider
		}
		c.Type, c.MaxLength, c.Precision, c.Scale = a.Column.Type, a.Column.MaxLength, a.Column.Precision, a.Column.Scale
		return true
	}
}

func sameSize(a, b *Column) bool {
	return a.Type == b.Type && a.MaxLength == b.MaxLength && a.Precision == b.Precision && a.Scale == b.Scale
}

// DDL returns the statement that the alteration amounts to, in GoogleSQL, for the
// table with these columns before it. Names are quoted, whatever they hold. A field
// of a STRUCT that is added or altered is written as the STRUCT's new type.
func (a *Alteration) DDL(name Name, columns []Column) string {
	statement := "ALTER TABLE " + quoteName(name.String()) + " "
	if len(a.Path) > 1 {
		altered := Altered(columns, []Alteration{*a})
		if c := findColumn(altered, a.Path[0]); c != nil {
			return statement + "ALTER COLUMN " + quoteName(c.Name) + " SET DATA TYPE " + c.SQLType() + ";"
		}
	}
	return statement + a.action() + ";"
}

// action is what the statement does, of a column that is in no STRUCT.
func (a *Alteration) action() string {
	column := quoteName(a.Path[0])
	switch a.Kind {
	case AddColumn:
		var options strings.Builder
		writeColumnOptions(&options, &a.Column)
		return "ADD COLUMN " + column + " " + a.Column.SQLType() + options.String()
	case RelaxColumn:
		return "ALTER COLUMN " + column + " DROP NOT NULL"
	default:
		return "ALTER COLUMN " + column + " SET DATA TYPE " + a.Column.SQLType()
	}
}

// CheckGrowth returns why the table can't get the columns that are pending, or nil.
func CheckGrowth(t *Table, pending []Alteration, g *Growth) error {
	added := 0
	for i := range pending {
		if pending[i].Kind == AddColumn && len(pending[i].Path) == 1 {
			added++
		}
	}
	limit := min(g.MaxColumns, MaxColumns)
	if n := len(t.Columns); added > 0 && n+added > limit {
		i := slices.IndexFunc(pending, func(a Alteration) bool { return a.Kind == AddColumn })
		return fmt.Errorf("table %v: column %q: the table has %d columns, and with %d more it would have more than %d; raise max_columns, at most to BigQuery's %d, or leave columns out at the source",
			t.Name, clip(pending[i].column()), n, added, limit, MaxColumns)
	}
	return nil
}
