package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Row is an expression over a row: its columns, those of the image before the
// change, and what is known of the change. It is safe for any number of goroutines.
type Row struct {
	text    string
	program cel.Program
	gives   *cel.Type
	data    bool // it reads the message's JSON
	names   []string
	row     *image
	before  *image
	last    atomic.Pointer[document]
}

// Scope is what a row expression can name.
type Scope struct {
	Row    []Field // of row
	Before []Field // of before
	// Open says that there may be more columns than these, of any type: else a column
	// that is not known is an error of compiling.
	Open bool
}

// Field is a column that an expression can name. A zero Type is one that is not known.
type Field struct {
	Name string
	Type table.Type
	Mode table.Mode
}

// Input is what one evaluation sees.
type Input struct {
	Event    *change.Event
	Sequence change.Sequence
	Row      Columns
	Before   Columns
}

// CompileRow compiles an expression over a row. The error names the place in the text.
func CompileRow(text string, scope *Scope) (*Row, error) {
	base, err := rowEnvironment()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	r := &Row{text: text, row: newImage(scope.Row, scope.Open), before: newImage(scope.Before, scope.Open)}
	env, err := base.Extend(cel.CustomTypeProvider(&provider{Registry: registry, images: map[string]*image{rowType.TypeName(): r.row, beforeType.TypeName(): r.before}}))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		problem, place, _ := strings.Cut(issues.Err().Error(), "\n") // which is shown in lines of its own
		return nil, fmt.Errorf("compiling the expression: %s%s\n%s", problem, scope.hint(problem), place)
	}
	r.gives = ast.OutputType()
	for _, ref := range ast.NativeRep().ReferenceMap() {
		r.data = r.data || ref.Name == "data"
		if ref.Name != "" && len(ref.OverloadIDs) == 0 && !slices.Contains(r.names, ref.Name) {
			r.names = append(r.names, ref.Name)
		}
	}
	slices.Sort(r.names)
	if r.program, err = env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit)); err != nil {
		return nil, fmt.Errorf("compiling the expression: %w", err)
	}
	return r, nil
}

// hint adds to what CEL says of an expression what is likely meant instead.
func (s *Scope) hint(problem string) string {
	for _, f := range s.Row {
		if strings.Contains(problem, "undeclared reference to '"+f.Name+"'") {
			return "; the row's column is row." + f.Name
		}
	}
	if strings.Contains(problem, "applied to '(decimal, double)'") {
		return `; beside a decimal, 1.19 is written decimal("1.19")`
	}
	return ""
}

// Columns returns the names of the row's columns that the expression uses.
func (r *Row) Columns() []string { return r.row.names }

// Before returns the names of the columns of the image before that it uses.
func (r *Row) Before() []string { return r.before.names }

// Variables returns the names of what the expression reads besides functions, in order:
// "commit_time", "row". A type that it names is among them.
func (r *Row) Variables() []string { return r.names }

// ReadsData reports whether the expression reads the message's JSON.
func (r *Row) ReadsData() bool { return r.data }

// Check returns why the expression can't give a column's values, as far as its type
// tells: no number becomes one of another kind unasked.
func (r *Row) Check(c Field) error {
	word := kindOf(r.gives)
	if word == "dyn" || c.Type == "" && word != "duration" && word != "type" && word != "" {
		return nil
	}
	if takes := takers[word]; c.Mode != table.Repeated && slices.Contains(takes, c.Type) || c.Mode == table.Repeated && word == "list" || word == "null" && c.Mode != table.Required {
		return nil
	}
	return fmt.Errorf("the expression gives a %s, and column %s is %s%s", show(r.gives), c.Name, sqlType(c), advice(word, c))
}

// CheckCondition returns why the expression is no condition.
func (r *Row) CheckCondition() error {
	if word := kindOf(r.gives); word != "bool" && word != "dyn" {
		return fmt.Errorf("the expression gives a %s; a condition is true or false", show(r.gives))
	}
	return nil
}

// TypeOf returns the type of a column that can hold what the expression gives, ""
// where its type alone doesn't tell: a decimal's may be NUMERIC or BIGNUMERIC, with
// or without parameters.
func (r *Row) TypeOf() table.Type {
	switch kindOf(r.gives) {
	case "bool":
		return table.Bool
	case "int":
		return table.Int64
	case "double":
		return table.Float64
	case "string":
		return table.String
	case "bytes":
		return table.Bytes
	case "timestamp":
		return table.Timestamp
	}
	return ""
}

// Eval returns the expression's value for a column: as its type alone says what may
// become what, so does [Row.Check] with the value.
func (r *Row) Eval(in *Input, c Field) (change.Value, error) {
	v, err := r.eval(in)
	if err != nil {
		return change.Value{}, err
	}
	value, err := fromCEL(v, 0)
	if err != nil {
		return change.Value{}, fmt.Errorf("the expression gives %w", err)
	}
	if c.Type != "" && value.Kind() == change.KindFloat64 && c.Mode != table.Repeated && !slices.Contains(takers["double"], c.Type) {
		return change.Value{}, fmt.Errorf("the expression gives a double, and column %s is %s", c.Name, sqlType(c))
	}
	return value, nil
}

// Holds evaluates a condition. Only true is true: NULL is an error, as it is to CEL.
func (r *Row) Holds(in *Input) (bool, error) {
	v, err := r.eval(in)
	if err != nil {
		return false, err
	}
	holds, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression gives a %s; a condition is true or false", v.Type().TypeName())
	}
	return bool(holds), nil
}

func (r *Row) eval(in *Input) (ref.Val, error) {
	v := activations.Get().(*activation)
	defer activations.Put(v)
	*v = activation{
		variables: variables{event: in.Event, last: &r.last}, sequence: in.Sequence,
		row: bound{in.Row, r.row}, before: bound{in.Before, r.before},
	}
	result, _, err := r.program.Eval(v)
	*v = activation{}
	if err != nil {
		return nil, blunt(r.text, err)
	}
	return result, nil
}

var activations = sync.Pool{New: func() any { return new(activation) }}

// activation is what an expression over a row sees.
type activation struct {
	variables
	sequence    change.Sequence
	row, before bound
}

// ResolveName returns a variable's value.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "row":
		return &a.row, true
	case "before":
		return &a.before, true
	case "sequence":
		return a.sequence.String(), true
	case "position":
		return a.event.Position, true
	case "commit_time":
		if a.event.CommitTime.IsZero() {
			return types.NullValue, true
		}
	}
	return a.variables.ResolveName(name)
}

// rowEnvironment declares what doc.go lists for rows, but the columns.
var rowEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	options := append(changeVariables(), decimals()...)
	return cel.NewEnv(append(options,
		cel.EnableIdentifierEscapeSyntax(),
		cel.Variable("row", rowType),
		cel.Variable("before", beforeType),
		cel.Variable("sequence", cel.StringType),
		cel.Variable("position", cel.StringType),
	)...)
})
