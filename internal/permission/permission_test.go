package permission

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables of docs/security.md")

const page = "../../docs/security.md"

// docs/security.md has the uses as its tables.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for title, uses := range map[string][]Use{"the pipeline": Pipeline, "the operator": Operator} {
		table := Markdown(uses, title)
		start := strings.Index(text, "| "+title+" | permissions |\n")
		if start < 0 {
			t.Fatalf("docs/security.md has no table of %s", title)
		}
		end := start + strings.Index(text[start:]+"\n\n", "\n\n") + 1
		if *update {
			text = text[:start] + table + text[end:]
		} else if diff := cmp.Diff(table, text[start:end]); diff != "" {
			t.Errorf("docs/security.md differs from this package; go test ./internal/permission -update writes it:\n%s", diff)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// roles returns the permissions of the custom roles that a text makes, by their names.
func roles(t *testing.T, path string, role *regexp.Regexp) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]string)
	for _, m := range role.FindAllStringSubmatch(string(data), -1) {
		names := regexp.MustCompile(`[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+`).FindAllString(m[2], -1)
		slices.Sort(names)
		found[m[1]] = names
	}
	return found
}

// The custom roles of the documents and of Terraform have what the package lists for a
// pipeline whose dead letters go to a topic, and no more.
func TestRoles(t *testing.T) {
	always, letters := Of(Pipeline, Always), Of(Pipeline, "dead_letters.topic")
	want := map[string][]string{
		"source":       On(always, Subscription),
		"dead_letters": On(letters, DeadTopic),
		"tables":       On(always, Dataset),
	}
	terraform := roles(t, "../../templates/terraform/account.tf", regexp.MustCompile(`(?s)google_project_iam_custom_role" "(\w+)" \{.*?permissions\s*=\s*\[(.*?)\]`))
	if diff := cmp.Diff(want, terraform); diff != "" {
		t.Errorf("templates/terraform/account.tf, -want +got:\n%s", diff)
	}
	gcloud := roles(t, page, regexp.MustCompile(`gcloud iam roles create beamcdc_(\w+) --project PROJECT \\\n\s*--permissions (\S+)`))
	if diff := cmp.Diff(want, gcloud); diff != "" {
		t.Errorf("docs/security.md, -want +got:\n%s", diff)
	}
}

// Each use is named once, and asks for nothing twice.
func TestUses(t *testing.T) {
	for _, uses := range [][]Use{Pipeline, Operator} {
		for i, u := range uses {
			for _, other := range uses[:i] {
				if other.What == u.What {
					t.Errorf("%q is there twice", u.What)
				}
			}
			for j, n := range u.Needs {
				if slices.Contains(u.Needs[:j], n) || n.Name == "" || n.On == "" {
					t.Errorf("%q: %+v", u.What, n)
				}
			}
		}
	}
}
