package table

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is BigQuery's limit for the name of a dataset or table.
const maxNameBytes = 1024

// ParseName reads "[project.]dataset.table". project is the default for a name
// that has none; "" means that there is no default. A legacy project may hold a
// domain: "example.com:project.dataset.table". The error says which part can't
// be BigQuery's, and holds no more than its beginning.
func ParseName(text, project string) (Name, error) {
	name, err := splitName(text, project)
	if err == nil {
		err = name.check()
	}
	if err != nil {
		return Name{}, fmt.Errorf("table name %q: %w", clip(text), err)
	}
	return name, nil
}

// splitName splits at the last two dots: only a project may hold any.
func splitName(text, project string) (Name, error) {
	rest, table, found := cutLast(text)
	if !found {
		return Name{}, errors.New("it names no dataset; write [project.]dataset.table")
	}
	name := Name{Project: project, Table: table}
	if before, dataset, found := cutLast(rest); found {
		name.Project, name.Dataset = before, dataset
	} else {
		name.Dataset = rest
	}
	if name.Project == "" && !strings.HasPrefix(rest, ".") {
		return Name{}, errors.New("it names no project, and there is no default; write project.dataset.table")
	}
	return name, nil
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+1:], true
}

func (n Name) check() error {
	if err := checkProject(n.Project); err != nil {
		return err
	}
	if err := checkDataset(n.Dataset); err != nil {
		return err
	}
	return checkTable(n.Table)
}

// checkProject is lenient about lengths: an emulator's projects may be shorter
// than Google Cloud's.
func checkProject(project string) error {
	domain, id, found := strings.Cut(project, ":")
	if !found {
		domain, id = "", project
	}
	switch {
	case found && (domain == "" || strings.Trim(domain, lowerDigits+".-") != ""):
		return fmt.Errorf("project %q: before the colon stands a domain, as in example.com:project", clip(project))
	case id == "":
		return errors.New("its project is empty")
	case id[0] < 'a' || id[0] > 'z':
		return fmt.Errorf("project %q does not begin with a lower-case letter", clip(project))
	case len(id) > 63 || strings.Trim(id, lowerDigits+"-") != "":
		return fmt.Errorf("project %q: its ID has lower-case letters, digits and dashes, 63 at most", clip(project))
	}
	return nil
}

const lowerDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// checkDataset applies BigQuery's rule for datasets: letters, digits and
// underscores (https://cloud.google.com/bigquery/docs/datasets#dataset-naming).
func checkDataset(dataset string) error {
	switch {
	case dataset == "":
		return errors.New("its dataset is empty")
	case len(dataset) > maxNameBytes:
		return fmt.Errorf("its dataset has %d bytes, more than %d", len(dataset), maxNameBytes)
	}
	for _, r := range dataset {
		if !isASCIIWord(r) {
			return fmt.Errorf("dataset %q has %q: a dataset's name has letters, digits and underscores", clip(dataset), r)
		}
	}
	return nil
}

// checkTable applies BigQuery's rule for tables: letters, marks, numbers,
// connectors, dashes and spaces of any script
// (https://cloud.google.com/bigquery/docs/tables#table_naming).
func checkTable(table string) error {
	switch {
	case table == "":
		return errors.New("its table is empty")
	case len(table) > maxNameBytes:
		return fmt.Errorf("its table has %d bytes, more than %d", len(table), maxNameBytes)
	case !utf8.ValidString(table):
		return errors.New("its table is not UTF-8")
	}
	for _, r := range table {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc, unicode.Pd, unicode.Zs) {
			return fmt.Errorf("table %q has %q: a table's name has letters, digits, underscores, dashes and spaces", clip(table), r)
		}
	}
	return nil
}

func isASCIIWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// clip bounds what a name from a message can put into an error.
func clip(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}
