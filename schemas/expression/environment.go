package expression

import (
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// environment declares what doc.go lists for a sequence. It is made once: that
// takes longer than any use of it.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	columns := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(append(changeVariables(),
		cel.Variable("key", columns),
		cel.Variable("before", columns),
		cel.Variable("after", columns),
	)...)
})

// changeVariables declares what every expression sees of a change, and the functions.
func changeVariables() []cel.EnvOption {
	return []cel.EnvOption{
		ext.Strings(),
		cel.Variable("data", cel.DynType),
		cel.Variable("attributes", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("ordering_key", cel.StringType),
		cel.Variable("message_id", cel.StringType),
		cel.Variable("publish_time", cel.TimestampType),
		cel.Variable("table", cel.StringType),
		cel.Variable("op", cel.StringType),
		cel.Variable("commit_time", cel.TimestampType),
		cel.Variable("part", cel.IntType),
		number("hex", parseHex),
		number("lsn", parseLSN),
		number("file_number", fileNumber),
	}
}

// number declares a function from a text to a number without a sign.
func number(name string, parse func(string) (uint64, bool)) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_string", []*cel.Type{cel.StringType}, cel.UintType,
		cel.UnaryBinding(func(v ref.Val) ref.Val {
			text, ok := v.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(v)
			}
			n, ok := parse(string(text))
			if !ok {
				return types.NewErr("%s: the text has not the form of one", name)
			}
			return types.Uint(n)
		})))
}

func parseHex(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil
}

func parseLSN(text string) (uint64, bool) {
	high, low, ok := strings.Cut(text, "/")
	if !ok {
		return 0, false
	}
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0, false
	}
	l, err := strconv.ParseUint(low, 16, 32)
	return h<<32 | l, err == nil
}

func fileNumber(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '.')+1:], 10, 64)
	return n, err == nil
}
