package slab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// TestArena_Columns: what was handed out stays as it is, whatever comes after,
// and whatever its holder appends.
func TestArena_Columns(t *testing.T) {
	var a slab.Arena
	var got, want [][]change.Column
	for i := range 200 {
		var src []change.Column
		for j := range i % 70 {
			src = append(src, change.Column{Name: fmt.Sprint(i, " ", j)})
		}
		columns := append(a.Columns(i%50), src...) // room enough, or not
		if i%11 == 0 {
			continue // forgotten
		}
		a.KeepColumns(columns)
		got, want = append(got, slices.Clip(columns)), append(want, src)
	}
	for i := range got {
		_ = append(got[i], change.Column{Name: "appended"})
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(change.Value{})); diff != "" {
		t.Errorf("the columns have changed (-want +got):\n%s", diff)
	}
}

func TestArena_Keep(t *testing.T) {
	var a slab.Arena
	var got, want []string
	for i := range 3000 {
		text := strings.Repeat(string(rune('a'+i%26)), i%1500)
		// More room than is used, and room that isn't used at all.
		b := append(a.Reserve(len(text)+i%7), text...)
		if i%11 == 0 {
			continue
		}
		got, want = append(got, a.Keep(b)), append(want, text)
	}
	got, want = append(got, a.Join("public", ".", "orders")), append(want, "public.orders")
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("text %d is %.20q… of %d bytes, want %.20q… of %d", i, got[i], len(got[i]), want[i], len(want[i]))
		}
	}
}

// TestArena_Table: a name is joined once, and again when it is another.
func TestArena_Table(t *testing.T) {
	var a slab.Arena
	for _, of := range [][2]string{{"public", "orders"}, {"public", "orders"}, {"public.x", "orders"}, {"public", "x.orders"}, {"public", "order"}, {"publi", "c.order"}, {"", "orders"}, {"public", ""}, {"shop", "orders"}} {
		want := of[0] + "." + of[1]
		if got := a.Table(of[0], of[1]); got != want {
			t.Errorf("the table %q is %q, want %q", of, got, want)
		}
	}
	if got := testing.AllocsPerRun(10, func() { a.Table("shop", "orders") }); got != 0 {
		t.Errorf("%g allocations", got)
	}
}

func TestArena_Unquote(t *testing.T) {
	var a slab.Arena
	for raw, want := range map[string]string{
		`""`:                      "",
		`"abc"`:                   "abc",
		`"a\"b"`:                  `a"b`,
		`"\\"`:                    `\`,
		`"caf\u00e9\ud83d\ude00"`: "café😀",
		`"\u0000"`:                "\x00",
	} {
		if got, err := a.Unquote(raw); got != want || err != nil {
			t.Errorf("Unquote(%s) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{``, `"`, `"\x"`, `"\ud83d"`} {
		if got, err := a.Unquote(raw); err == nil {
			t.Errorf("Unquote(%s) = %q, want an error", raw, got)
		}
	}
}
