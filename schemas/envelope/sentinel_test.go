package envelope_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// variants calls each with the document as it is but for one member's value, which is
// replaced, and with the member's path.
func variants(document any, replacement any, path string, each func(path string, replaced any)) {
	switch document := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(document)) {
			variants(document[name], replacement, path+"."+name, func(path string, replaced any) {
				changed := maps.Clone(document)
				changed[name] = replaced
				each(path, changed)
			})
		}
	case []any:
		for i := range document {
			variants(document[i], replacement, path+"[]", func(path string, replaced any) {
				changed := slices.Clone(document)
				changed[i] = replaced
				each(path, changed)
			})
		}
	}
	each(path, replacement)
}

// named are the members whose values an error may show: names of tables and columns,
// operations, types and positions. All others are rows'.
var named = regexp.MustCompile(`^\.(payload\.|data\.)?(schema(\.|$)|source\.|metadata\.|source_metadata\.|(__)?(op|table)$|database$|tableName$|datacontenttype$|iodebezium(op|schema|table)$|_CHANGE_SEQUENCE_NUMBER$)` +
	`|^\.change\[\]\.(schema|table|columnnames\[\])$|^\.columns\[\]\.name$`)

// TestDecode_noValueInErrors_anywhere puts a value into each place of each golden
// message, one after the other: no error holds it, unless the place is a name's.
func TestDecode_noValueInErrors_anywhere(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	errs := 0
	for _, file := range files {
		m := readMessage(t, file)
		var document any
		decoder := json.NewDecoder(strings.NewReader(string(m.Data)))
		decoder.UseNumber()
		if decoder.Decode(&document) != nil {
			continue // a message that is to be no JSON
		}
		format := filepath.Base(filepath.Dir(file))
		d, err := envelope.New(envelope.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		for _, replacement := range []any{"s3ntinel\x1b[2J", json.Number("8008135008135.5e3"), []any{map[string]any{"a": "s3ntinel"}}} {
			variants(document, replacement, "", func(path string, replaced any) {
				data, err := json.Marshal(replaced)
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = d.Decode(change.Message{Data: data, Attributes: m.Attributes, OrderingKey: m.OrderingKey}, nil)
				if err == nil {
					return
				}
				errs++
				text := err.Error()
				if !named.MatchString(path) && (strings.Contains(text, "s3ntinel") || strings.Contains(text, "8008135")) {
					t.Errorf("%s: of a %T at %s: %s", file, replacement, path, text)
				}
				if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%s: of a %T at %s: a terminal would obey %q", file, replacement, path, text)
				}
			})
		}
	}
	if errs < 1000 {
		t.Errorf("%d errors: what is there to be told?", errs)
	}
}
