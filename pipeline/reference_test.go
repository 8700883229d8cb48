package pipeline

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateReference = flag.Bool("update-reference", false, "write docs/configuration.md")

const referencePage = "../docs/configuration.md"

// docs/configuration.md is made from the tables of settings, words and keys.
func TestReference(t *testing.T) {
	page := reference()
	if *updateReference {
		if err := os.WriteFile(referencePage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page, string(is)); diff != "" {
		t.Errorf("docs/configuration.md differs from the code (-code +page); go test ./pipeline -run Reference -update-reference writes it:\n%s", diff)
	}
}

// The tables have each key that the file's reader takes, and no other.
func TestReference_keys(t *testing.T) {
	documented := make(map[string][]string)
	note := func(path string) {
		parent, name := "", path
		if dot := strings.LastIndex(path, "."); dot >= 0 {
			parent, name = path[:dot], path[dot+1:]
		}
		if !slices.Contains(documented[parent], name) {
			documented[parent] = append(documented[parent], name)
		}
	}
	for _, s := range settings {
		if section := s.Section(); section != "" {
			note(section)
		}
		note(s.Key)
	}
	note("tables")
	for _, k := range ruleKeys {
		note("tables[]." + k.Path)
	}
	for _, w := range ruleWords {
		note("tables[]." + w.Key)
	}
	for parent, names := range documented {
		slices.Sort(names)
		text := "zzzzzz: 1"
		for _, part := range slices.Backward(strings.Split(parent, ".")) {
			switch name, isList := strings.CutSuffix(part, "[]"); {
			case isList:
				text = name + ": [{" + text + "}]"
			case name != "":
				text = name + ": {" + text + "}"
			}
		}
		findings := Parse("keys.yaml", []byte(text+"\n")).findings
		if len(findings) != 1 {
			t.Errorf("%s: %v", text, findings)
			continue
		}
		_, known, _ := strings.Cut(findings[0].Problem, "here are ")
		if want := strings.Join(names, ", "); known != want {
			t.Errorf("%q takes %q, the documents have %q", parent, known, want)
		}
	}
}

// reference returns docs/configuration.md.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Generated from the code: go test ./pipeline -run Reference -update-reference. -->

One YAML file, the same for every runner. [examples/shop/pipeline.yaml](../examples/shop/pipeline.yaml)
is a whole one. The scalars outside of ` + "`tables`" + ` are flags of ` + "`launch`" + ` and parameters of the Flex
Template too, by the names in the second column, and then override the file.

Durations are written ` + "`5s`, `15m`, `36h`" + `. An unknown key, a bad value and rules that contradict each
other are found before anything starts, together, each with file, line and key.
`)
	for _, group := range []struct{ title, about string }{
		{"Tables", "What is read, which tables are created, and when rows are written."},
		{"Source", "Where changes come from."},
		{"Dead letters", "Where messages go that can't be used: exactly one place."},
		{"Environment and bounds", "What differs from one environment to the next, under `runtime`."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | flag | takes | default | |\n|---|---|---|---|---|\n", group.title, group.about)
		for _, s := range settings {
			if s.Group() == group.title {
				fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", s.Key, s.Flag, s.Kind, code(s.Default), cell(s.Help))
			}
		}
	}
	b.WriteString("\n## Each table\n\nKeys of the entries of `tables`. The order of the entries counts: the first that matches a source's table is its rule.\n\n| key | takes | default | |\n|---|---|---|---|\n")
	for _, k := range ruleKeys {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, cell(k.Takes), cell(k.Default), cell(k.Help))
	}
	b.WriteString("\n## What a table does with\n\nEach takes one of a few words; the first is the default.\n\n| key | words | |\n|---|---|---|\n")
	for _, w := range ruleWords {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", w.Key, strings.Join(w.Done, "`, `"), cell(w.Help))
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
