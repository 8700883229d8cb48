package ddl

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/internal/spelling"
)

// told is what was told of a source's tables.
type told struct {
	sources []*Source
	others  []string // tables that no rule lists
	notes   []string // about none of the sources
}

// lacking says that nothing was told of a table, and which tables something was told of.
func (t *told) lacking(name string) string {
	text := fmt.Sprintf("what was given has no table that %q is for", name)
	if near := spelling.Nearest(name, t.others); near != "" {
		return text + ", and has " + near + ", which no rule is for: look whether the rule's source is misspelled"
	}
	if len(t.others) > 0 {
		return text + "; no rule is for what it has: " + listed(t.others)
	}
	return text
}

// others counts the messages of tables that no rule lists.
type others struct {
	names    []string // in the order in which they came
	messages map[string]int
	last     map[string]int // the message that was counted last
	all      int
	counted  int // the message that was counted last of all, from 1
}

// add counts a message of a table, once for each table that it is of.
func (o *others) add(name string, message int) {
	if o.messages == nil {
		o.messages, o.last = map[string]int{}, map[string]int{}
	}
	last, known := o.last[name]
	if !known {
		name = strings.Clone(name) // it may share a message's memory
		o.names = append(o.names, name)
	}
	if !known || last != message {
		o.messages[name]++
		o.last[name] = message
	}
	if o.counted != message+1 {
		o.all++
		o.counted = message + 1
	}
}

// note says which they are and how many.
func (o *others) note() string {
	names := make([]string, len(o.names))
	for i, name := range o.names {
		shown := name
		if shown == "" {
			shown = "a table that they don't name"
		}
		names[i] = fmt.Sprintf("%s (%d)", shown, o.messages[name])
	}
	return fmt.Sprintf("%s of tables that no rule lists, and left out here: %s", are(o.all, "message"), listed(names))
}

// listed writes names, the first of them where they are many.
func listed(names []string) string {
	const most = 20
	if more := len(names) - most; more > 0 {
		return strings.Join(append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", more)), ", ")
	}
	return strings.Join(names, ", ")
}

// counted writes a number of things: "1 table", "2 tables".
func counted(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

func are(n int, of string) string {
	if n == 1 {
		return counted(n, of) + " is"
	}
	return counted(n, of) + " are"
}
