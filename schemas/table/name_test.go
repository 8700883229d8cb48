package table_test

import (
	"strings"
	"testing"

	"beamcdc/schemas/table"
)

func TestParseName(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, project, want string }{
		{"shop.orders", "demo", "demo.shop.orders"},
		{"my-project.shop.orders", "demo", "my-project.shop.orders"},
		{"example.com:my-project.shop.orders", "", "example.com:my-project.shop.orders"},
		{"shop.orders-2025", "demo", "demo.shop.orders-2025"},
		{"shop._Orders 日本", "demo", "demo.shop._Orders 日本"},
		{"1shop.1", "demo", "demo.1shop.1"},
	}
	for _, test := range tests {
		got, err := table.ParseName(test.text, test.project)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		} else if got.String() != test.want {
			t.Errorf("%q became %v, want %s", test.text, got, test.want)
		}
	}
}

func TestParseNameRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, project, want string }{
		{"", "demo", "it names no dataset; write [project.]dataset.table"},
		{"orders", "demo", "it names no dataset"},
		{"shop.orders", "", "it names no project, and there is no default"},
		{".orders", "demo", "its dataset is empty"},
		{"shop.", "demo", "its table is empty"},
		{".shop.orders", "demo", "its project is empty"},
		{"demo..orders", "demo", "its dataset is empty"},
		{"demo:shop.orders", "demo", `dataset "demo:shop" has ':'`},
		{"Demo.shop.orders", "", `project "Demo" does not begin with a lower-case letter`},
		{"de_mo.shop.orders", "", `project "de_mo": its ID has`},
		{"a.b.shop.orders", "", `project "a.b"`},
		{":p.shop.orders", "", "before the colon stands a domain"},
		{"sho-p.orders", "demo", `dataset "sho-p" has '-'`},
		{"shöp.orders", "demo", `has 'ö': a dataset's name`},
		{"shop.orders$20250101", "demo", `has '$': a table's name`},
		{"shop.orders`; DROP", "demo", "has '`'"},
		{"shop.{table}", "demo", "has '{'"},
		{"shop.or\nders", "demo", `has '\n'`},
		{"shop.or\xffders", "demo", "not UTF-8"},
		{"shop." + strings.Repeat("x", 1025), "demo", "1025 bytes"},
		{strings.Repeat("x", 1025) + ".orders", "demo", "1025 bytes"},
	}
	for _, test := range tests {
		_, err := table.ParseName(test.text, test.project)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: got %.200v, want it to say %q", test.text, err, test.want)
		} else if len(err.Error()) > 400 {
			t.Errorf("%.40q: the error has %d bytes", test.text, len(err.Error()))
		}
	}
}

// FuzzParseName: what is accepted has three parts that are written back and
// read as the same name, and nothing that could end a backquoted name.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"shop.orders", "p.shop.orders", "example.com:p.shop.orders", "..", "a.b`c", "ö.x", "shop.{table}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := table.ParseName(text, "demo")
		if err != nil {
			return
		}
		again, err := table.ParseName(name.String(), "")
		if err != nil || again != name {
			t.Errorf("%q was read as %#v, which was read as %#v, %v", text, name, again, err)
		}
		if strings.ContainsAny(name.String(), "`\\\n\r\"'{}$@") || strings.Contains(name.Dataset+name.Table, ".") {
			t.Errorf("%q was accepted", text)
		}
	})
}
