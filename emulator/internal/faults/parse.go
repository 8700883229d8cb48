package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

// maxScript bounds the text of a script, in bytes.
const maxScript = 64 << 10

// Parse reads a list of faults in YAML, of which JSON is a part:
//
//   - {table: shop.orders, skip: 10, every: 5, times: 3, code: UNAVAILABLE}
//   - {method: GetWriteStream, delay: 2s}
//
// An unknown key is an error, and so is a fault for none of these methods. The text may
// be at most 64 kB long.
func Parse(text []byte, methods []string) ([]Fault, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the faults are %d bytes long, more than %d", len(text), maxScript)
	}
	if depth(text) > 10 {
		return nil, errors.New("the faults are nested too deeply")
	}
	var list []Fault
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&list)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the faults: %s", yaml.FormatError(err, false, false))
	}
	for i := range list {
		if err := list[i].Check(methods); err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	return list, nil
}

// depth is how deep brackets are nested at most: the parser takes long over many.
func depth(text []byte) int {
	deepest, now := 0, 0
	for _, b := range text {
		switch b {
		case '[', '{':
			now++
			deepest = max(deepest, now)
		case ']', '}':
			now--
		}
	}
	return deepest
}
