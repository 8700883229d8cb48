package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beamcdc/emulator"
	"beamcdc/transforms/deadletter"
)

const secretsConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 100ms
dead_letters: {directory: %q}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    columns:
      - {name: order_id, type: STRING, mode: REQUIRED}
      - {name: status, type: STRING}
      - {name: total, type: "NUMERIC(10,2)"}
      - {name: placed, type: TIMESTAMP}
      - {name: doc, type: JSON}
      - {name: area, type: GEOGRAPHY}
      - {name: rank, type: INT64}
    enrich:
      - where: row.status != "left out"
      - set: {rank: 'row.status == "expression" ? int(string(row.doc)) : 1'}
`

// Values and keys of rows are in no log at the default level, in no metric, no count and
// no error of a dead letter, whatever becomes of them.
func TestNoValueIsTold(t *testing.T) {
	t.Parallel() // it waits more than it works
	const text, digits = "s3ntinel", "8008135"
	letters := filepath.Join(t.TempDir(), "dead")
	s := startServices(t, fmt.Sprintf(secretsConfig, letters))
	order := func(lsn uint64, op, columns string) message {
		m := pgChange{table: "public.orders", op: op, key: `{"order_id":"` + text + `"}`, after: `{"order_id":"` + text + fmt.Sprint(lsn) + `",` + columns + `}`, lastCommit: 10, lsn: lsn}.message()
		m.attributes = map[string]string{"origin": text}
		return m
	}
	good := order(100, "c", `"status":"placed `+text+`","total":"`+digits+`.25"`)
	broken := order(101, "c", `"status":"`+text+`"`)
	broken.data = broken.data[:strings.Index(broken.data, text)+40]
	noTable, noOp, noKey := order(102, "c", `"status":"`+text+`"`), order(103, "x", `"status":"`+text+`"`), order(104, "c", `"status":"`+text+`"`)
	noTable.data = strings.ReplaceAll(noTable.data, `"orders"`, `"nothing"`)
	noKey.data = strings.ReplaceAll(noKey.data, `"order_id":"s3ntinel104",`, `"order_id":null,`)
	noPosition := order(0, "c", `"status":"`+text+`"`)
	messages := []message{
		good, broken, noTable, noOp, noKey, noPosition,
		order(110, "c", `"total":"`+digits+`.255"`),
		order(111, "c", `"total":"`+text+`"`),
		order(112, "c", `"placed":"`+text+`"`),
		order(113, "c", `"placed":"`+digits+`-01-01"`),
		order(114, "c", `"doc":"{`+text+`"`),
		order(115, "c", `"area":"POINT(`+text+` `+digits+`)"`),
		order(116, "c", `"unknown":"`+text+`"`),
		order(117, "c", `"status":"expression","doc":"\"`+text+`\""`),
		order(118, "c", `"status":"left out","doc":"\"`+text+`\""`),
		order(119, "c", `"status":"`+strings.Repeat(text+" ", 1_200_000)+`"`),
		order(120, "c", `"status":{"`+text+`":[`+digits+`]}`),
		order(121, "d", `"status":"`+text+`"`),
		pgChange{table: "public.orders", op: "t", lastCommit: 10, lsn: 122}.message(),
		{data: text + " is no JSON", orderingKey: text},
		{data: `{"` + text + `":"` + digits + `"}`},
		{data: "\x1f\x8b" + text, attributes: map[string]string{"content-encoding": "gzip"}},
		{data: "\x00\x00\x00\x00\x07" + text},
	}
	// Some requests fail, so that the log has what it tells of repetitions.
	if err := s.bigquery.SetFaults([]emulator.Fault{{Table: "demo.shop.orders", Times: 2, Effect: emulator.Effect{Code: "UNAVAILABLE"}}}); err != nil {
		t.Fatal(err)
	}
	l := s.launch("--metrics_address", "127.0.0.1:0", "--log_format", "json")
	s.publish(messages...)
	s.waitAcked(l)
	response, err := http.Get("http://" + l.address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read
	if err != nil || !strings.Contains(string(metrics), "dead") {
		t.Fatalf("%v\n%s", err, metrics)
	}
	counts := l.stop()
	said := l.stdout.String() + l.stderr.String() + string(metrics)
	if strings.Contains(said, text) || strings.Contains(said, digits) {
		t.Errorf("the process says\n%.5000s", said)
	}
	stored, err := deadletter.ReadDirectory(letters)
	if err != nil || len(stored) < 15 || int64(len(stored)) != counts["dead_letters"] {
		t.Errorf("%d letters of %d, %v", len(stored), counts["dead_letters"], err)
	}
	reasons := make(map[string]bool)
	for _, letter := range stored {
		reasons[letter.Stage+" "+letter.Reason] = true
		for _, told := range []string{letter.Error, letter.Reason, letter.Stage, letter.ID, letter.Table} {
			if strings.Contains(told, text) || strings.Contains(told, digits) {
				t.Errorf("a letter of %s: %s", letter.Reason, told)
			}
		}
	}
	if len(reasons) < 10 {
		t.Errorf("only these reasons: %v", reasons)
	}
	if files, err := os.ReadDir(letters); err != nil {
		t.Error(err)
	} else {
		for _, f := range files {
			if strings.Contains(f.Name(), text) {
				t.Errorf("a file's name is %s", f.Name())
			}
		}
	}
}
