package rowproto

import (
	"strings"

	"beamcdc/schemas/change"
)

// parseArrayText reads PostgreSQL's text of an array of one dimension,
// {a,"b c",NULL}, as wal2json sends it. Its elements are untyped texts.
func parseArrayText(dst []change.Column, text string) (elements []change.Column, ok bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return dst, false
	}
	rest := text[1 : len(text)-1]
	if rest == "" {
		return dst, true
	}
	for {
		var v change.Value
		if rest != "" && rest[0] == '"' {
			if v, rest, ok = quotedElement(rest); !ok {
				return dst, false
			}
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			element := rest[:end]
			if element == "" || strings.ContainsAny(element, `{}"\`) {
				return dst, false
			}
			v, rest = change.Text(element), rest[end:]
			if strings.EqualFold(element, "NULL") {
				v = change.Null()
			}
		}
		dst = append(dst, change.Column{Value: v})
		if rest == "" {
			return dst, true
		}
		if rest[0] != ',' {
			return dst, false
		}
		rest = rest[1:]
	}
}

// quotedElement reads "…", in which a backslash takes the next character as it is.
func quotedElement(text string) (v change.Value, rest string, ok bool) {
	var content strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return change.Text(content.String()), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return v, "", false
			}
		}
		content.WriteByte(text[i])
	}
	return v, "", false
}
