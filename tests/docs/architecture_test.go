package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goFile   = regexp.MustCompile("`([a-z/0-9]+\\.go)`((?:(?:,| and)? `[A-Za-z.]+`)*)")
	quoted   = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)`")
)

// ARCHITECTURE.md names Go files, and behind a file what is declared there: functions,
// methods (bundle.finish) and types. Each of them is there.
func TestArchitecture_declarations(t *testing.T) {
	text := architecture(t)
	all, _ := goFiles(t)
	files, names := 0, 0
	for _, found := range goFile.FindAllStringSubmatch(text, -1) {
		files++
		var at []string
		for _, file := range all {
			if strings.HasSuffix(file, "/"+found[1]) {
				at = append(at, file)
			}
		}
		if len(at) != 1 {
			t.Errorf("`%s` is the end of %d files' paths, not of one: %q", found[1], len(at), at)
			continue
		}
		declared := declarations(t, at[0])
		for _, name := range quoted.FindAllStringSubmatch(found[2], -1) {
			names++
			if !declared[name[1]] {
				t.Errorf("`%s` declares no `%s`", found[1], name[1])
			}
		}
	}
	if files < 8 || names < 8 {
		t.Errorf("only %d files and %d names in them were found", files, names)
	}
}

// Each test that ARCHITECTURE.md names is there.
func TestArchitecture_tests(t *testing.T) {
	text := architecture(t)
	_, tests := goFiles(t)
	declared := map[string]bool{}
	for _, file := range tests {
		for name := range declarations(t, file) {
			declared[name] = true
		}
	}
	names := testName.FindAllStringSubmatch(text, -1)
	for _, name := range names {
		if !declared[name[1]] {
			t.Errorf("there is no test `%s`", name[1])
		}
	}
	if len(names) < 15 {
		t.Errorf("only %d names of tests were found", len(names))
	}
}

func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goFiles returns the paths of the project's Go files and, apart, of their tests.
func goFiles(t *testing.T) (files, tests []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && name != root):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			tests = append(tests, filepath.ToSlash(name))
		case strings.HasSuffix(name, ".go"):
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, tests
}

// declarations returns the names of a file's functions, methods with their receivers'
// types, and types.
func declarations(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			names[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					names[s.Name.Name] = true
				}
			}
		}
	}
	return names
}

// receiver returns a method's type and a dot, of a function nothing.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
