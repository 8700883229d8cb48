package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Cases 13 and 34: a DELETE is sent though the row was made in the same window, or
// never seen: BigQuery may have an older one.
func TestDeletesAreSent(t *testing.T) {
	out := runLocal(t, fmt.Sprintf(itemsConfig, "1m"), []message{
		item("c", "1", `,"qty":1`, 9, 10), item("u", "1", `,"qty":2`, 9, 11), item("d", "1", "", 9, 12),
		item("d", "9", "", 10, 11),
	})
	if got := [2]int64{out.Counts["rows_deleted"], out.Counts["rows_upserted"]}; got != [2]int64{2, 0} {
		t.Errorf("%d rows deleted and %d upserted, want 2 and 0", got[0], got[1])
	}
	if rows := out.Tables["shop.items"]; len(rows) > 0 {
		t.Errorf("there are rows: %v", rows)
	}
}

// Case X12: BigQuery remembers a delete for two days. An older change of the row
// that comes within them is late; one that comes after them brings the row back,
// which README says and no pipeline without a memory of its own can help.
func TestLateAfterDelete(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms"))
	advance := func(by time.Duration) {
		t.Helper()
		for _, call := range []string{"clock", "apply"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.bigquery.RESTAddr()+"/emulator/v1/"+call,
				strings.NewReader(map[string]string{"clock": fmt.Sprintf(`{"advance":%q}`, by), "apply": `{}`}[call]))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode/100 != 2 {
				t.Fatalf("%s answers %s", call, response.Status)
			}
		}
	}
	l := s.launch()
	late := pgChange{table: "public.orders", op: "u", after: `{"order_id":1,"status":"old"}`, lastCommit: 30, lsn: 40}.message()
	s.publish(pgChange{table: "public.orders", op: "d", before: `{"order_id":1,"status":null}`, lastCommit: 45, lsn: 50}.message())
	s.waitAcked(l)
	for _, step := range []struct {
		by   time.Duration
		want map[int]string
	}{
		{0, map[int]string{}}, {47 * time.Hour, map[int]string{}}, {2 * time.Hour, map[int]string{1: "old"}},
	} {
		advance(step.by)
		s.publish(late)
		s.waitAcked(l)
		if diff := cmp.Diff(step.want, s.orders()); diff != "" {
			t.Errorf("%s later, -want +got:\n%s", step.by, diff)
		}
	}
	l.stop()
}
