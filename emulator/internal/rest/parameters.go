package rest

import (
	"encoding/json"
	"strings"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// queryParameter is a query's parameter. Google's struct can't tell NULL from "".
type queryParameter struct {
	Name           string         `json:"name"`
	ParameterType  *parameterType `json:"parameterType"`
	ParameterValue parameterValue `json:"parameterValue"`
}

type parameterType struct {
	Type             string         `json:"type"`
	ArrayType        *parameterType `json:"arrayType"`
	RangeElementType *parameterType `json:"rangeElementType"`
	StructTypes      []struct {
		Name string         `json:"name"`
		Type *parameterType `json:"type"`
	} `json:"structTypes"`
}

type parameterValue struct {
	Value        *string                   `json:"value"` // nil is NULL
	ArrayValues  []parameterValue          `json:"arrayValues"`
	StructValues map[string]parameterValue `json:"structValues"`
	RangeValue   *struct {
		Start *parameterValue `json:"start"`
		End   *parameterValue `json:"end"`
	} `json:"rangeValue"`
}

// UnmarshalJSON takes a scalar that isn't a string as its text, as Google's servers do.
func (v *parameterValue) UnmarshalJSON(text []byte) error {
	type plain parameterValue // without this method
	var raw struct {
		plain
		Value any `json:"value"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*v = parameterValue(raw.plain)
	var scalar struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(text, &scalar); err != nil {
		return err
	}
	switch s := raw.Value.(type) {
	case nil:
	case string:
		v.Value = &s
	default:
		written := string(scalar.Value)
		v.Value = &written
	}
	return nil
}

// parameters makes a query's parameters those of GoogleSQL: by name, or by position.
func parameters(mode string, list []queryParameter) (named map[string]googlesql.Parameter, positional []googlesql.Parameter, err error) {
	switch mode = strings.ToUpper(mode); mode {
	case "", "NAMED", "POSITIONAL":
	default:
		return nil, nil, engine.Invalid("Invalid value for parameterMode: %s", engine.Clip(mode))
	}
	for i, p := range list {
		t, err := p.ParameterType.sql(0)
		if err != nil {
			return nil, nil, err
		}
		v, err := p.ParameterValue.sql(t)
		if err != nil {
			return nil, nil, err
		}
		parameter := googlesql.Parameter{Type: t, Value: v}
		switch {
		case p.Name == "" && mode != "NAMED" && len(named) == 0:
			positional = append(positional, parameter)
		case p.Name != "" && mode != "POSITIONAL" && len(positional) == 0:
			if named == nil {
				named = map[string]googlesql.Parameter{}
			}
			name := strings.ToLower(p.Name)
			if _, twice := named[name]; twice {
				return nil, nil, engine.Invalid("Duplicate query parameter: %s", engine.Clip(p.Name))
			}
			named[name] = parameter
		default:
			return nil, nil, engine.Invalid("Query parameter %d: named and positional parameters can't be mixed", i+1)
		}
	}
	return named, positional, nil
}

// maxTypeDepth bounds a parameter's type, as BigQuery bounds STRUCTs.
const maxTypeDepth = 15

func (t *parameterType) sql(depth int) (*googlesql.Type, error) {
	if t == nil || depth > maxTypeDepth {
		return nil, engine.Invalid("Invalid query parameter type: it is missing, or nested too deeply")
	}
	switch strings.ToUpper(t.Type) {
	case "ARRAY":
		element, err := t.ArrayType.sql(depth + 1)
		if err != nil {
			return nil, err
		}
		if element.Kind == googlesql.Array {
			return nil, engine.Invalid("Invalid query parameter type: an ARRAY of ARRAYs")
		}
		return googlesql.ArrayOf(element), nil
	case "RANGE":
		element, err := t.RangeElementType.sql(depth + 1)
		if err != nil {
			return nil, err
		}
		switch element.Kind {
		case googlesql.Date, googlesql.DateTime, googlesql.Timestamp:
			return &googlesql.Type{Kind: googlesql.Range, Elem: element}, nil
		default:
			return nil, engine.Invalid("Invalid query parameter type: a RANGE of %s", element)
		}
	case "STRUCT", "RECORD":
		s := &googlesql.Type{Kind: googlesql.Struct}
		for _, field := range t.StructTypes {
			f, err := field.Type.sql(depth + 1)
			if err != nil {
				return nil, err
			}
			s.Fields = append(s.Fields, googlesql.Field{Name: field.Name, Type: f})
		}
		if len(s.Fields) == 0 {
			return nil, engine.Invalid("Invalid query parameter type: a STRUCT without fields")
		}
		return s, nil
	case "FLOAT":
		return googlesql.Of(googlesql.Float64), nil
	}
	scalar, err := googlesql.ParseType(t.Type)
	if err != nil || scalar.Kind == googlesql.Array || scalar.Kind == googlesql.Struct || scalar.Kind == googlesql.Range {
		return nil, engine.Invalid("Invalid query parameter type: %s", engine.Clip(t.Type))
	}
	return scalar, nil
}

func (v *parameterValue) sql(t *googlesql.Type) (any, error) {
	switch t.Kind {
	case googlesql.Array: // one without values is empty: BigQuery has no NULL arrays
		list := make([]any, len(v.ArrayValues))
		for i := range v.ArrayValues {
			element, err := v.ArrayValues[i].sql(t.Elem)
			if err != nil {
				return nil, err
			}
			list[i] = element
		}
		return list, nil
	case googlesql.Struct:
		if v.StructValues == nil {
			return nil, nil
		}
		list := make([]any, len(t.Fields))
		for i, f := range t.Fields {
			field := v.StructValues[f.Name]
			value, err := field.sql(f.Type)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case googlesql.Range:
		if v.RangeValue == nil {
			break
		}
		bound := func(b *parameterValue) string {
			if b == nil || b.Value == nil {
				return "UNBOUNDED"
			}
			return *b.Value
		}
		return "[" + bound(v.RangeValue.Start) + ", " + bound(v.RangeValue.End) + ")", nil
	default:
	}
	if v.Value == nil {
		return nil, nil
	}
	return *v.Value, nil
}
