package pipeline

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/internal/logs"
	"beamcdc/transforms/metric"
)

// The hops in the order of the graph, by the namespaces of their metrics.
var hops = []struct{ namespace, title, text string }{
	{"pubsubsource", "Read, ack", "Off Dataflow alone: there the runner reads and acks."},
	{"decode", "Decode", "messages = decoded + control + letters."},
	{"keyed", "Key, encode, coalesce", "Of the values that policies replaced, [types](types.md) tells more."},
	{"fill", "Fill", "Of tables with `unavailable_values: fill` or `deletes: soft`."},
	{"enrich", "Enrich", "Of tables with `enrich`."},
	{"truncate", "Truncate", "Of tables with `truncates`. Its writer has the metrics of Write, too, in this namespace."},
	{"bqcdc", "Write", "rows_upserted + rows_deleted + rows_rejected + rows_superseded is the number of changes that came in as CDC rows. " +
		"The writers of histories and of truncates have the same metrics in their own namespaces, `history` and `truncate`."},
	{"history", "History", "Of tables with `history`. Its writer has the metrics of Write, too, in this namespace."},
	{"deadletter", "Dead letters", ""},
}

const metricsPage = "../docs/metrics.md"

// docs/metrics.md lists all metrics and log lines that there are: it is made of them.
func TestMetricsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(metricsHead)
	listed := 0
	all := metric.All()
	for _, hop := range hops {
		fmt.Fprintf(&page, "\n### %s\n\n", hop.title)
		if hop.text != "" {
			page.WriteString(hop.text + "\n\n")
		}
		fmt.Fprintf(&page, "| `%s/…` | kind | unit | for Prometheus | |\n|---|---|---|---|---|\n", hop.namespace)
		for _, d := range all {
			switch {
			case d.Namespace != hop.namespace:
			case d.BucketsOf != "", hop.namespace != "bqcdc" && slices.ContainsFunc(all, func(o metric.Description) bool {
				return o.Namespace == "bqcdc" && o.Name == d.Name && o.Help == d.Help
			}):
				listed++ // with its histogram, or with the writer
			default:
				listed++
				page.WriteString(metricRow(&d))
			}
		}
	}
	if listed != len(all) {
		t.Errorf("%d of %d metrics are of no hop that is listed", len(all)-listed, len(all))
	}
	page.WriteString(logsHead)
	page.WriteString("\n| key | |\n|---|---|\n")
	for _, k := range logs.Keys() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", k.Name(), k.Help())
	}
	page.WriteString("\n| where | level | `msg` | keys |\n|---|---|---|---|\n")
	for _, l := range logLines(t) {
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", l.hop, l.level, l.message, strings.Join(l.keys, ", "))
	}

	if *update {
		if err := os.WriteFile(metricsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(is)); diff != "" {
		t.Errorf("docs/metrics.md differs from the code (-code +page); go test ./pipeline -run TestMetricsPage -update writes it:\n%s", diff)
	}
}

func metricRow(d *metric.Description) string {
	name, kind, prometheus := d.Name, string(d.Kind), d.PrometheusName()
	if len(d.Labels) > 0 {
		name += "/" + strings.ToUpper(strings.Join(d.Labels, "/"))
		prometheus += "{" + strings.Join(d.Labels, ", ") + "}"
	}
	if d.Bounds != nil {
		kind = "histogram"
	}
	return fmt.Sprintf("| `%s` | %s | %s | `%s` | %s |\n", name, kind, d.Unit, prometheus, d.Help)
}

// logLine is a line that the pipeline may log.
type logLine struct {
	hop, level, message string
	keys                []string
}

// goFiles calls visit with all of the project's Go files but tests and what is for them.
func goFiles(t *testing.T, visit func(path string, text []byte)) {
	t.Helper()
	for _, root := range []string{"../cmd", "../internal", "../pipeline", "../schemas", "../transforms"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil {
				visit(filepath.ToSlash(path), text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// logLines returns the lines that there are, and reports those whose message or keys
// would not stay the same.
func logLines(t *testing.T) []logLine {
	t.Helper()
	files := token.NewFileSet()
	names := keyNames(t)
	var lines []logLine
	goFiles(t, func(path string, text []byte) {
		file, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			level, ok := member(call.Fun, "logs")
			if !ok || level != "Info" && level != "Warn" {
				return true
			}
			l := logLine{hop: filepath.Base(filepath.Dir(path)), level: strings.ToUpper(level)}
			if message, ok := call.Args[1].(*ast.BasicLit); ok {
				l.message, _ = strconv.Unquote(message.Value)
			} else {
				t.Errorf("%v: the message of a log line is no literal: it would not stay the same", files.Position(call.Pos()))
			}
			for _, attribute := range call.Args[2:] {
				var key string
				if of, ok := attribute.(*ast.CallExpr); ok {
					if selector, ok := of.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Of" {
						name, _ := member(selector.X, "logs")
						key = names[name]
					}
				}
				if key == "" {
					t.Errorf("%v: an attribute of a log line is not logs.KEY.Of(…)", files.Position(attribute.Pos()))
				}
				l.keys = append(l.keys, "`"+key+"`")
			}
			lines = append(lines, l)
			return true
		})
	})
	order := func(l logLine) int {
		return slices.IndexFunc(hops, func(h struct{ namespace, title, text string }) bool { return h.namespace == l.hop })
	}
	slices.SortFunc(lines, func(a, b logLine) int {
		if c := order(a) - order(b); c != 0 {
			return c
		}
		return strings.Compare(a.hop+a.message, b.hop+b.message)
	})
	if len(lines) < 10 {
		t.Errorf("only %d log lines were found", len(lines))
	}
	return lines
}

// member returns the name that an expression takes from a package.
func member(e ast.Expr, from string) (string, bool) {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := selector.X.(*ast.Ident)
	return selector.Sel.Name, ok && x.Name == from
}

// keyNames returns the keys by the names of their variables.
func keyNames(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/logs/keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if call, ok := spec.Values[0].(*ast.CallExpr); ok && len(call.Args) == 2 {
			names[spec.Names[0].Name], _ = strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
		}
		return true
	})
	return names
}

// Metrics are declared, with unit and help, and lines are logged, under keys that are
// listed, in one way each.
func TestOneWay(t *testing.T) {
	undeclared := []string{"beam.NewCounter(", "beam.NewDistribution(", "beam.NewGauge("}
	otherLogs := []string{`"log/slog"`, `"log"`, `"github.com/apache/beam/sdks/v2/go/pkg/beam/log"`}
	goFiles(t, func(path string, text []byte) {
		is := func(folder string) bool { return strings.HasPrefix(path, "../"+folder+"/") }
		for _, call := range undeclared {
			if strings.Contains(string(text), call) && !is("transforms/metric") {
				t.Errorf("%s: %s…) makes a metric that no table lists; declare it by package metric", path, call)
			}
		}
		for _, imported := range otherLogs {
			if strings.Contains(string(text), "\t"+imported+"\n") && !is("internal/logs") && !is("cmd") {
				t.Errorf("%s: it imports %s; lines of the pipeline are logged by package logs", path, imported)
			}
		}
	})
}

const metricsHead = `# Metrics, health, logs

<!-- Generated from the code: go test ./pipeline -run TestMetricsPage -update. -->

Each hop counts what passes it. Where the figures are depends on who runs the pipeline:

| runner | metrics | health |
|---|---|---|
| on one machine, or Flink with the workers in the launching process | ` + "`launch --metrics_address HOST:PORT`, `local -metrics HOST:PORT`: `/metrics`" + ` | ` + "`/healthz`" + ` there |
| Dataflow | the job's page, Cloud Monitoring | the job's state; [alerts](../templates/operations) |
| Flink, with workers elsewhere | Flink's own metrics | Flink's |

` + "```console" + `
./launch --config pipeline.yaml --metrics_address :9090
curl http://127.0.0.1:9090/metrics
curl http://127.0.0.1:9090/healthz
` + "```" + `

Both are served without TLS and to anybody who can connect, so that an address without a
host is 127.0.0.1's; in a container it is ` + "`0.0.0.0:9090`" + `. They hold names of tables and columns, but
no value of any row.

## Health

` + "`/healthz`" + ` answers 200 while the pipeline runs and messages move, or there are none, and 503 with
a reason in its JSON

- at the start, until the configuration's checks are done and the job is started (` + "`starting: …`" + `),
  and when the job has failed or ended;
- when nothing was acked for ` + "`--unhealthy_after`" + ` (five minutes, and on top the window and the
  longest ` + "`fill.hold_for`" + `) though messages are outstanding, as when BigQuery is away;
- when Pub/Sub was out of reach for as long.

` + "`beamcdc_healthy`" + ` is the same as a metric. A job that was just started is healthy:
that Pub/Sub or BigQuery is out of reach shows when that long has passed. To start the process
again mends little: it would wait for BigQuery again. Take 503 for a reason to wake somebody, rather.

## Metrics

Of a metric with labels Beam has a counter for each combination, ` + "`NAME/VALUE/VALUE`" + `, since its
metrics have no labels; Prometheus gets labels. The last label is bounded: in a process its
first 1,000 values have counters of their own, the others share ` + "`other`" + `. A histogram is
a distribution (number, sum, least, greatest), and counters ` + "`NAME_upto/BOUND`" + ` of the values up to a
bound and above the one before; to Prometheus it is a histogram, so that

` + "```console" + `
histogram_quantile(0.99, rate(beamcdc_bqcdc_publish_lag_seconds_bucket[5m]))
` + "```" + `

is the time that 99 of 100 rows take from their publishing to BigQuery's acknowledgement. Times
are in seconds there. A distribution that is no histogram is a summary without quantiles; the
least and greatest value since the process began are gauges beside either, ` + "`…_min` and `…_max`" + `.
Live metrics are the process's, asked for when they are scraped; no runner has them.

A metric without labels is served as 0 from the start. One with labels is absent until it first
counts, each combination of labels by itself, so that an alert must take absence for 0; so are gauges
until they are set, and ` + "`…_min` and `…_max`" + `. Beside them ` + "`/metrics`" + ` has the Go runtime's and the process's own, ` + "`go_…` and `process_…`" + `.

A bundle that fails counts nothing, and is counted when it is repeated. What the process counted
counts from its start.

On Dataflow they are user counters, found by ` + "`metric_name`" + ` in ` + "`dataflow.googleapis.com/job/user_counter`" + `
with the transform's name beside it; of a distribution there are ` + "`_MAX`, `_MIN`, `_MEAN` and `_COUNT`" + `.
Gauges don't get there. Names and labels of ours are text that Cloud Monitoring takes: at most 1,024
bytes (a value is cut at 300), control characters replaced. Dataflow drops what a job has above 50,000
custom metrics; a thousand tables make some ten thousand here.
`

const logsHead = `
## Logs

A line is a message that stays the same and attributes whose keys do: to standard error, as
` + "`key=value`" + ` or with ` + "`--log_format json`" + ` an object a line (` + "`time`, `level`, `msg`" + ` and the keys). On Dataflow
they are in the message's text, as ` + "`key=value`" + `. ` + "`--log_level`" + ` is ` + "`warn`" + ` off Dataflow. A line tells a fault, not
a row: what repeats is told again after half a minute, with the number that was left out. No line
holds a row's value, a key or a credential. Other lines are of Beam and of Google's clients.
`
