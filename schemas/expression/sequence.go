package expression

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"beamcdc/schemas/change"
)

// costLimit bounds what one evaluation may cost, in CEL's units: about the
// number of operations. An expression over a message's members needs some tens.
const costLimit = 1_000_000

// Sequence is an expression that gives a change its sequence. It is safe for any
// number of goroutines.
type Sequence struct {
	text    string
	program cel.Program
	last    atomic.Pointer[document] // of the message of many changes that was read last
}

// CompileSequence compiles an expression that gives
//
//	a string           BigQuery's form, one to four hexadecimal sections: "16/B374D848"
//	an int or a uint   a sequence of one section
//	a list of these    one to four sections, the most significant first
//
// The error names the place in the text.
func CompileSequence(text string) (*Sequence, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compiling the expression: %w", issues.Err())
	}
	switch out := ast.OutputType(); out.Kind() {
	case types.StringKind, types.IntKind, types.UintKind, types.ListKind, types.DynKind:
	default:
		return nil, fmt.Errorf("the expression gives a %s; a sequence is a string, a number or a list of numbers", out)
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("compiling the expression: %w", err)
	}
	return &Sequence{text: text, program: program}, nil
}

// Eval returns the change's sequence. The expression alone says what it is: no
// epoch leads it and nothing is added, so that it can match what another writer
// of the same table sends.
func (s *Sequence) Eval(e *change.Event) (change.Sequence, error) {
	v := variables{event: e, last: &s.last}
	result, _, err := s.program.Eval(&v)
	if err != nil {
		return change.Sequence{}, fmt.Errorf("evaluating the sequence expression: %w", blunt(s.text, err))
	}
	sequence, err := sequenceOf(result)
	if err != nil {
		return change.Sequence{}, fmt.Errorf("the sequence expression gives %w", err)
	}
	return sequence, nil
}

func sequenceOf(v ref.Val) (change.Sequence, error) {
	switch v := v.(type) {
	case types.String:
		s, err := change.ParseSequence(string(v))
		if err != nil { // which shows the text
			return s, errors.New("a text that is not one to four sections of 1 to 16 hexadecimal digits, joined by /")
		}
		return s, nil
	case types.Int, types.Uint:
		n, err := section(v)
		if err != nil {
			return change.Sequence{}, err
		}
		return change.NewSequence(n), nil
	case traits.Lister:
		var sections []uint64
		for i := v.Iterator(); i.HasNext() == types.True; {
			n, err := section(i.Next())
			if err != nil {
				return change.Sequence{}, fmt.Errorf("a list with %w", err)
			}
			if sections = append(sections, n); len(sections) > change.MaxSections {
				return change.Sequence{}, fmt.Errorf("a list of more than %d sections", change.MaxSections)
			}
		}
		if len(sections) == 0 {
			return change.Sequence{}, errors.New("an empty list")
		}
		return change.NewSequence(sections...), nil
	}
	return change.Sequence{}, fmt.Errorf("a %s; a sequence is a string, a number or a list of numbers", v.Type().TypeName())
}

func section(v ref.Val) (uint64, error) {
	switch v := v.(type) {
	case types.Uint:
		return uint64(v), nil
	case types.Int:
		if v < 0 {
			return 0, errors.New("a negative number")
		}
		return uint64(v), nil
	}
	return 0, fmt.Errorf("a %s where a whole number is needed", v.Type().TypeName())
}

// blunt returns an error of CEL's without what it quotes of its input: a value
// has no place in an error. A key that is missing is named if the expression, which
// is source, names it; an error about a column stays as it is.
func blunt(source string, err error) error {
	if column := new(columnError); errors.As(err, &column) {
		return column
	}
	const noKey = "no such key"
	text := err.Error()
	if what, key, ok := strings.Cut(text, ": "); ok && what == noKey {
		if strings.Contains(source, key) {
			return err
		}
		return errors.New(noKey)
	}
	if at := strings.IndexAny(text, "\"`0123456789"); at >= 0 { // "index out of bounds: 4711"
		text = text[:at]
	}
	const limit = 120
	if len(text) > limit {
		text = text[:limit]
	}
	return errors.New(strings.TrimRight(text, " :"))
}
