package googlesql

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

var errJSONPath = errors.New("Invalid JSONPath") //nolint:staticcheck // BigQuery's text

// step is a part of a JSON path: a member's name, or an item's position.
type step struct {
	name  string
	index int // -1 for a name
}

// parseJSONPath reads $.a.b[0]['c']."d".
func parseJSONPath(path string) ([]step, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, errJSONPath
	}
	var steps []step
	for rest != "" {
		switch {
		case rest[0] == '.' && len(rest) > 1 && rest[1] == '"':
			end := strings.IndexByte(rest[2:], '"')
			if end < 0 {
				return nil, errJSONPath
			}
			steps = append(steps, step{rest[2 : 2+end], -1})
			rest = rest[3+end:]
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 || rest[1] == '*' {
				return nil, errJSONPath
			}
			steps = append(steps, step{rest[1 : 1+end], -1})
			rest = rest[1+end:]
		case rest[0] == '[' && len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
			quote := rest[1:2]
			end := strings.Index(rest[2:], quote+"]")
			if end < 0 {
				return nil, errJSONPath
			}
			steps = append(steps, step{rest[2 : 2+end], -1})
			rest = rest[4+end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, errJSONPath
			}
			n, err := strconv.Atoi(rest[1:end])
			if err != nil || n < 0 {
				return nil, errJSONPath
			}
			steps = append(steps, step{"", n})
			rest = rest[end+1:]
		default:
			return nil, errJSONPath
		}
	}
	return steps, nil
}

// jsonAt goes along the steps; nil if there is nothing. What it returns is text as it
// was written.
func jsonAt(text []byte, steps []step) []byte {
	if !json.Valid(text) {
		return nil
	}
	for _, s := range steps {
		if text = jsonChild(text, s); text == nil {
			return nil
		}
	}
	return bytes.TrimSpace(text)
}

// jsonChild finds a member or an item of valid JSON. Of members of one name, the first counts.
func jsonChild(text []byte, s step) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	open, err := decoder.Token()
	if err != nil || open != json.Delim('{') && s.index < 0 || open != json.Delim('[') && s.index >= 0 {
		return nil
	}
	for i := 0; decoder.More(); i++ {
		found := i == s.index
		if s.index < 0 {
			key, err := decoder.Token()
			if err != nil {
				return nil
			}
			found = key == s.name
		}
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return nil
		}
		if found {
			return raw
		}
	}
	return nil
}

// jsonScalar is a string's, a number's or a boolean's text; ok is false for the rest.
func jsonScalar(text []byte) (string, bool) {
	if len(text) == 0 {
		return "", false
	}
	switch text[0] {
	case '{', '[', 'n':
		return "", false
	case '"':
		var s string
		err := json.Unmarshal(text, &s)
		return s, err == nil
	}
	return string(text), true
}

// compactJSON drops the blanks between tokens.
func compactJSON(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}

func checkJSON(text string) error {
	if !json.Valid([]byte(text)) {
		return errValue
	}
	return nil
}

// jsonText quotes a string for JSON, leaving < > and & as they are.
func jsonText(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonItems are the items of an array; ok is false for anything else.
func jsonItems(text []byte) (items []json.RawMessage, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return nil, false
	}
	err := json.Unmarshal(text, &items)
	return items, err == nil
}
