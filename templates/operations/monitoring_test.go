package operations_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	dashboards "google.golang.org/api/monitoring/v1"
	policies "google.golang.org/api/monitoring/v3"

	_ "beamcdc/pipeline" // its transforms declare their metrics
	"beamcdc/transforms/metric"
)

// The names that envsubst and Terraform put into dashboard and policies.
var placeholders = []string{"NAME", "SUBSCRIPTION", "DEAD_LETTER_TOPIC", "JOB"}

var placeholder = regexp.MustCompile(`\$\{?(\w*)\}?`)

// files returns the dashboard and the policies, by name.
func files(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("alerts/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "dashboard.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// The dashboard has no field that Cloud Monitoring's API doesn't, and its tiles don't
// lie on each other.
func TestDashboard(t *testing.T) {
	var d dashboards.Dashboard
	strictly(t, []byte(files(t)["dashboard.json"]), &d)
	if d.MosaicLayout == nil || d.MosaicLayout.Columns != 48 || len(d.MosaicLayout.Tiles) < 10 {
		t.Fatalf("%+v", d.MosaicLayout)
	}
	taken := map[[2]int64]string{}
	for _, tile := range d.MosaicLayout.Tiles {
		if tile.XPos+tile.Width > d.MosaicLayout.Columns || tile.Width < 1 || tile.Height < 1 {
			t.Errorf("%q is outside", tile.Widget.Title)
		}
		for x := tile.XPos; x < tile.XPos+tile.Width; x++ {
			for y := tile.YPos; y < tile.YPos+tile.Height; y++ {
				if other := taken[[2]int64{x, y}]; other != "" {
					t.Fatalf("%q lies on %q", tile.Widget.Title, other)
				}
				taken[[2]int64{x, y}] = tile.Widget.Title
			}
		}
		if tile.Widget.XyChart == nil {
			continue
		}
		for _, set := range tile.Widget.XyChart.DataSets {
			q := set.TimeSeriesQuery
			if (q.PrometheusQuery == "") == (q.TimeSeriesFilter == nil) {
				t.Errorf("%q has not just one query", tile.Widget.Title)
			}
		}
	}
}

// Each policy has no field that the API doesn't, one kind of condition, and says what to do.
func TestAlerts(t *testing.T) {
	for path, text := range files(t) {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var p policies.AlertPolicy
		strictly(t, asJSON, &p)
		if !strings.HasPrefix(p.DisplayName, "${NAME}: ") || p.Combiner != "OR" || p.Documentation == nil || len(p.Documentation.Content) < 40 || len(p.Conditions) == 0 {
			t.Errorf("%s: %+v", path, p)
		}
		for _, c := range p.Conditions {
			kinds := 0
			for _, is := range []bool{c.ConditionThreshold != nil, c.ConditionAbsent != nil, c.ConditionPrometheusQueryLanguage != nil} {
				if is {
					kinds++
				}
			}
			if kinds != 1 || c.DisplayName == "" {
				t.Errorf("%s: %+v", path, c)
			}
		}
	}
}

func strictly(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%v in %.80s…", err, text)
	}
}

// Dashboard and policies hold no other placeholder than Terraform and the README fill.
func TestPlaceholders(t *testing.T) {
	terraform, err := os.ReadFile("../terraform/alerts.tf")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for path, text := range files(t) {
		for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
			used[found[1]] = true
			if !slices.Contains(placeholders, found[1]) || found[0] != "${"+found[1]+"}" {
				t.Errorf("%s has %s", path, found[0])
			}
		}
		if strings.Contains(text, "%{") {
			t.Errorf("%s has %%{, which Terraform takes for its own", path)
		}
		if name := filepath.Base(path); filepath.Ext(path) == ".yaml" && !strings.Contains(string(readme), "(alerts/"+name+")") {
			t.Errorf("the README's table lacks %s", name)
		}
	}
	for _, p := range placeholders {
		if !used[p] || !regexp.MustCompile(`\n    `+p+` +=`).Match(terraform) || !strings.Contains(string(readme), "$"+p) {
			t.Errorf("%s: used is %t, and Terraform and the README must fill it", p, used[p])
		}
	}
}

var metricName = regexp.MustCompile(`metric_name=(~?)\\*"([^"\\]*)`)

// Every metric of the pipeline's that is shown or watched exists, and has one meaning:
// Dataflow's name of it lacks the hop.
func TestMetrics(t *testing.T) {
	byName := map[string]metric.Description{}
	for _, d := range metric.All() {
		if before, ok := byName[d.Name]; ok && before.Help != d.Help {
			d.Help = "" // has several meanings
		}
		byName[d.Name] = d
	}
	found := 0
	for path, text := range files(t) {
		for _, match := range metricName.FindAllStringSubmatch(text, -1) {
			for name := range strings.SplitSeq(match[2], "|") {
				found++
				family, isFamily := strings.CutSuffix(name, "/.*")
				base := family
				for _, suffix := range []string{"_MEAN", "_MAX", "_MIN", "_COUNT"} {
					base = strings.TrimSuffix(base, suffix)
				}
				d, ok := byName[base]
				switch {
				case !ok:
					t.Errorf("%s: there is no metric %s", path, base)
				case d.Help == "":
					t.Errorf("%s: several hops have a metric %s, of different meanings", path, base)
				case isFamily != (len(d.Labels) > 0):
					t.Errorf("%s: %s has the labels %v", path, name, d.Labels)
				case (base != family) != (d.Kind == metric.Distribution):
					t.Errorf("%s: %s is a %s", path, name, d.Kind)
				case d.Kind != metric.Distribution && d.Kind != metric.Counter:
					t.Errorf("%s: Dataflow doesn't show %s, a %s", path, name, d.Kind)
				case match[1] == "" && (isFamily || strings.Contains(match[2], "|")):
					t.Errorf("%s: %s is a pattern, and compared as a text", path, match[2])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d metrics found", found)
	}
}
