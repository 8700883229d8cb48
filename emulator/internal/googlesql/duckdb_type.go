package googlesql

import (
	"fmt"
	"strings"
)

// ParseType reads a type as GoogleSQL writes it.
func ParseType(text string) (t *Type, err error) {
	defer rescue(text, &err)
	p := &parser{tokens: newTokens(text)}
	t = p.typeName()
	if p.peek(0).kind != "<eof>" {
		p.unexpected("end of type")
	}
	return t, nil
}

// FromDuckDB returns the type of a DuckDB type, as typeof() names it. It can't tell JSON
// and GEOGRAPHY from STRING, nor BIGNUMERIC from BYTES: where a Translation made the
// result, its Columns tell.
func FromDuckDB(duck string) (*Type, error) {
	t, rest, err := fromDuckDB(duck)
	if err == nil && rest != "" {
		err = fmt.Errorf("DuckDB type %s has no type in BigQuery", duck)
	}
	return t, err
}

var fromDuckNames = map[string]Kind{
	"BOOLEAN": Bool, "TINYINT": Int64, "SMALLINT": Int64, "INTEGER": Int64, "BIGINT": Int64, "UTINYINT": Int64, "USMALLINT": Int64,
	"UINTEGER": Int64, "FLOAT": Float64, "DOUBLE": Float64, "VARCHAR": String, "BLOB": Bytes, "DATE": Date, "TIME": Time,
	"TIMESTAMP": DateTime, "TIMESTAMP WITH TIME ZONE": Timestamp, "TIMESTAMPTZ": Timestamp, "INTERVAL": Interval, "JSON": JSON,
	`"NULL"`: Int64,
}

func fromDuckDB(text string) (t *Type, rest string, err error) {
	end := strings.IndexAny(text, "([,)")
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	rest = text[end:]
	kind, known := fromDuckNames[name]
	switch {
	case name == "STRUCT" && strings.HasPrefix(rest, "("):
		t = &Type{Kind: Struct}
		for rest = rest[1:]; ; rest = strings.TrimPrefix(rest[1:], " ") {
			var f Field
			f.Name, rest = duckName(rest)
			if f.Type, rest, err = fromDuckDB(rest); err != nil {
				return nil, "", err
			}
			t.Fields = append(t.Fields, f)
			if !strings.HasPrefix(rest, ",") {
				break
			}
		}
		if rest, known = strings.CutPrefix(rest, ")"); !known {
			return nil, "", fmt.Errorf("DuckDB type %s isn't closed", text)
		}
	case name == "DECIMAL" && strings.HasPrefix(rest, "("):
		_, after, ok := strings.Cut(rest, ")")
		if !ok {
			return nil, "", fmt.Errorf("DuckDB type %s isn't closed", text)
		}
		t, rest = Of(Numeric), after
	case !known:
		return nil, "", fmt.Errorf("DuckDB type %s has no type in BigQuery", name)
	default:
		t = Of(kind)
	}
	for strings.HasPrefix(rest, "[]") {
		t, rest = ArrayOf(t), rest[2:]
	}
	return t, rest, nil
}

// duckName reads a STRUCT field's name, maybe in quotes, and the blank after it.
func duckName(text string) (name, rest string) {
	if !strings.HasPrefix(text, `"`) {
		name, rest, _ = strings.Cut(text, " ")
		return name, rest
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		default:
			return b.String(), strings.TrimPrefix(text[i+1:], " ")
		}
	}
	return b.String(), ""
}
