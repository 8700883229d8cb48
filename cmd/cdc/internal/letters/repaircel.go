package letters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"beamcdc/schemas/change"
)

// celRepair compiles a CEL expression over data, text, attributes, ordering_key,
// message_id and publish_time. Since CEL changes nothing, x.with("after.total", v) is
// x with a member set to v, and x.without("after.total") without it.
//
// A number of the data is an int, a uint, or a double where that is exact; else, as
// 12.50, it is what it was in the data, which double(…) makes a number of.
func celRepair(expression string) (repair, error) {
	env, err := cel.NewEnv(
		ext.Strings(),
		cel.Variable("data", cel.DynType), cel.Variable("text", cel.DynType),
		cel.Variable("attributes", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("ordering_key", cel.StringType), cel.Variable("message_id", cel.StringType), cel.Variable("publish_time", cel.TimestampType),
		cel.Function("with", cel.MemberOverload("dyn_with", []*cel.Type{cel.DynType, cel.StringType, cel.DynType}, cel.DynType,
			cel.FunctionBinding(func(args ...ref.Val) ref.Val { return edited(args[0], args[1], args[2]) }))),
		cel.Function("without", cel.MemberOverload("dyn_without", []*cel.Type{cel.DynType, cel.StringType}, cel.DynType,
			cel.BinaryBinding(func(of, path ref.Val) ref.Val { return edited(of, path, nil) }))),
	)
	if err != nil {
		return nil, fmt.Errorf("the CEL expression: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("the CEL expression: %w", issues.Err())
	}
	program, err := env.Program(ast, cel.InterruptCheckFrequency(1000))
	if err != nil {
		return nil, fmt.Errorf("the CEL expression: %w", err)
	}
	return func(ctx context.Context, m *change.Message) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, repairFor)
		defer cancel()
		var data any
		if v, err := readJSON(m.Data); err == nil {
			data = toCEL(v)
		}
		attributes := m.Attributes
		if attributes == nil {
			attributes = map[string]string{}
		}
		result, _, err := program.ContextEval(ctx, map[string]any{
			"data": data, "text": textOf(m), "attributes": attributes, "ordering_key": m.OrderingKey, "message_id": m.ID, "publish_time": m.PublishTime,
		})
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the CEL expression took longer than %v", repairFor)
		case err != nil: // its text may quote the data
			return nil, errors.New("the CEL expression fails on this message; show the letter, and see what the expression makes of its data")
		}
		v, err := fromCEL(result)
		if err != nil {
			return nil, fmt.Errorf("the CEL expression gives %w", err)
		}
		return dataOf(v, "CEL")
	}, nil
}

// digits is a number of the data that no number of CEL's is equal to. To CEL it is a
// text, but it is written as a number again.
type digits struct{ types.String }

func toCEL(v any) any {
	switch v := v.(type) {
	case json.Number:
		text := v.String()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
			return n
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && formatted(f) == text {
			return f
		}
		return digits{types.String(text)}
	case []any:
		for i := range v {
			v[i] = toCEL(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = toCEL(v[name])
		}
	}
	return v
}

func formatted(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// fromCEL returns what gojq marshals. The error goes on after "gives".
func fromCEL(v ref.Val) (any, error) {
	switch v := v.(type) {
	case digits:
		return json.Number(v.String), nil
	case types.Null:
		return nil, nil //nolint:nilnil // null is a value
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return json.Number(strconv.FormatInt(int64(v), 10)), nil
	case types.Uint:
		return json.Number(strconv.FormatUint(uint64(v), 10)), nil
	case types.Double:
		text := formatted(float64(v))
		if strings.ContainsAny(text, "IN") { // infinities, and what is no number
			return nil, errors.New("a number that JSON has not")
		}
		return json.Number(text), nil
	case types.String:
		return string(v), nil
	case types.Bytes:
		return []byte(v), nil
	case traits.Mapper:
		m := make(map[string]any)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, errors.New("an object with a name that is no text")
			}
			member, err := fromCEL(v.Get(key))
			if err != nil {
				return nil, err
			}
			m[string(name)] = inObject(member)
		}
		return m, nil
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			element, err := fromCEL(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, inObject(element))
		}
		return list, nil
	}
	return nil, fmt.Errorf("a %s, which JSON has not", v.Type().TypeName())
}

// inObject returns a value as JSON has it in an object: bytes are a text there.
func inObject(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}

// edited returns an object with the member at a path, "after.total", set, or removed
// where value is nil.
func edited(of, path, value ref.Val) ref.Val {
	native, err := toNative(of)
	if err != nil {
		return types.WrapErr(err)
	}
	names := strings.Split(string(path.(types.String)), ".")
	at := native
	for _, name := range names[:len(names)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			return types.NewErr("there is no object at the path")
		}
		at = next
	}
	last := names[len(names)-1]
	if value == nil {
		delete(at, last)
	} else {
		at[last] = value
	}
	return types.DefaultTypeAdapter.NativeToValue(native)
}

// toNative copies an object as deep as its objects go.
func toNative(v ref.Val) (map[string]any, error) {
	mapper, ok := v.(traits.Mapper)
	if !ok {
		return nil, errors.New("only an object has members")
	}
	m := make(map[string]any)
	for it := mapper.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errors.New("an object's names are texts")
		}
		member := mapper.Get(key)
		if _, isObject := member.(traits.Mapper); isObject {
			inner, err := toNative(member)
			if err != nil {
				return nil, err
			}
			m[string(name)] = inner
			continue
		}
		m[string(name)] = member
	}
	return m, nil
}

var _ ref.Val = digits{} // by its String

// ConvertToNative keeps a number of the data from becoming a text on the way.
func (d digits) ConvertToNative(to reflect.Type) (any, error) {
	if to == reflect.TypeFor[json.Number]() {
		return json.Number(d.String), nil
	}
	return d.String.ConvertToNative(to)
}
