package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("(?m)^#+ (.+)$")
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Each link from one document to another, and to a heading of it, leads somewhere.
func TestLinks(t *testing.T) {
	links := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && name != root):
			return fs.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, found[1])
				continue
			}
			if anchor == "" || filepath.Ext(path) != ".md" {
				continue
			}
			of, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !hasHeading(string(of), anchor) {
				t.Errorf("%s: the link %s leads to no heading", name, found[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// hasHeading reports whether the page has a heading that is linked to by the anchor, which
// is made of it in lower case, without punctuation, with dashes for spaces.
func hasHeading(page, anchor string) bool {
	for _, of := range heading.FindAllStringSubmatch(page, -1) {
		text := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(of[1])), "")
		if strings.ReplaceAll(text, " ", "-") == anchor {
			return true
		}
	}
	return false
}
