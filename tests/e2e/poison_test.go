package e2e

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Ten thousand good messages with a poison one in every hundred: all good rows
// land, and each poison message is dead-lettered once, with its original bytes,
// stage and reason (invariant 7).
func TestPoison(t *testing.T) {
	const good, every = 10_000, 100
	type letter struct{ Stage, Reason, Data string }
	poison := func(i int) letter {
		base := pgChange{table: "public.orders", op: "c", after: fmt.Sprintf(`{"order_id":%d,"status":"poison"}`, 1_000_000+i), lastCommit: 10, lsn: 11}
		switch i % 6 {
		case 0:
			return letter{"decode", "bad_json", base.message().data[:120+i%40]}
		case 1:
			return letter{"decode", "bad_envelope", fmt.Sprintf(`{"poison":%d}`, i)}
		case 2:
			base.after = fmt.Sprintf(`{"order_id":"number %d","status":"poison"}`, i)
			return letter{"key", "bad_value", base.message().data}
		case 3:
			base.table = "public.unknown"
			return letter{"key", "unlisted_table", base.message().data}
		case 4:
			base.lsn = 0
			return letter{"key", "no_position", base.message().data}
		default:
			return letter{"decode", "bad_json", fmt.Sprintf("\xff\xfe\x00%d", i)}
		}
	}
	var messages []message
	var wantRows []row
	wantLetters := map[string]letter{}
	for i := range good {
		messages = append(messages, pgChange{
			table: "public.orders", op: "c", key: fmt.Sprintf(`{"order_id":%d}`, i+1),
			after: fmt.Sprintf(`{"order_id":%d,"status":"good"}`, i+1), lastCommit: 10, lsn: uint64(100 + i),
		}.message())
		wantRows = append(wantRows, row{"order_id": strconv.Itoa(i + 1), "status": "good"})
		if i%every == every/2 {
			p := poison(i / every)
			wantLetters[p.Data] = p
			messages = append(messages, message{data: p.Data})
		}
	}
	out := runLocal(t, fmt.Sprintf(ordersConfig, "200ms"), messages)
	if diff := cmp.Diff(wantRows, out.Tables["shop.orders"]); diff != "" {
		t.Errorf("rows, -want +got:\n%s", diff)
	}
	got := map[string]letter{}
	for _, l := range out.DeadLetters {
		data := l.Data
		if l.DataBase64 != "" {
			raw, err := base64.StdEncoding.DecodeString(l.DataBase64)
			if err != nil {
				t.Fatal(err)
			}
			data = string(raw)
		}
		if _, twice := got[data]; twice {
			t.Errorf("%q is dead-lettered twice", data)
		}
		got[data] = letter{l.Stage, l.Reason, data}
	}
	if diff := cmp.Diff(wantLetters, got); diff != "" {
		t.Errorf("dead letters, -want +got:\n%s", diff)
	}
}
