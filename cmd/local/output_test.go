package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"beamcdc/cmd/internal/direct"
	"beamcdc/transforms/deadletter"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sampleResult() result {
	return result{
		Tables: []tableResult{
			{
				Name: "shop.orders",
				Columns: []column{
					{Name: "order_id", Numeric: true},
					{Name: "status"},
					{Name: "total", Numeric: true},
					{Name: "tags"},
					{Name: "note"},
				},
				Rows: []jsontext.Value{
					jsontext.Value(`{"order_id":"1","status":"cancelled","total":"61.9","tags":["web","gift"],"note":null}`),
					jsontext.Value(`{"order_id":"1250000","status":"é \u0000 two\nlines","total":"-1250000","tags":[],"note":"` + strings.Repeat("long ", 20) + `"}`),
				},
			},
			{Name: "shop.empty", Columns: []column{{Name: "id", Numeric: true}}},
		},
		Letters: []letter{
			{Stage: "decode", Reason: "malformed_json", Error: "decoding: it ends early", Data: []byte(`{"before":null,"after":{"order_id":2`)},
			{Stage: "decode", Reason: "malformed_json", Error: "decoding: no UTF-8", Data: []byte("\xff\x1b[31m\x00")},
			{Stage: "encode", Reason: "bad_value", Table: "public.orders", Error: "encoding a row of demo.shop.orders, column tags[3]: bad_value: an array can't hold NULL", Data: []byte(`{"n":3}`)},
			{Stage: "encode", Reason: "bad_value", Table: "public.lines", Error: "encoding a row of demo.shop.lines, column n: bad_value: it is NaN", Data: []byte(`{"n":4}`)},
			{Stage: "encode", Reason: "bad_value", Table: "public.orders", Error: "encoding a row of demo.shop.orders, column tags[12]: bad_value: an array can't hold NULL", Data: []byte(`{"n":5}`)},
		},
		Counts: direct.Counts{
			Messages: 1023, KeyChanges: 1, RowsUpserted: 1000, RowsDeleted: 3, Superseded: 12, Control: 4, DeadLetters: 5,
			BytesAppended: 150_000, BytesSuperseded: 1_800, Requests: 3,
		},
	}
}

func TestWriteTables(t *testing.T) {
	for name, style := range map[string]style{"plain": {}, "terminal": {terminal: true}} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := writeTables(&out, sampleResult(), style); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join("testdata", "tables_"+name+".txt"), out.String())
		})
	}
}

// One of a thing is no "1 rows", and every change more than a message is accounted for.
func TestWriteCounts_words(t *testing.T) {
	for want, counts := range map[string]direct.Counts{
		"1 row upserted\n":   {RowsUpserted: 1},
		"0 rows upserted\n":  {},
		"1 dead letter\n":    {DeadLetters: 1},
		"1 control message ": {Control: 1},
		"1 row deleted\n":    {RowsDeleted: 1},
		"9 below: one a message, and 1 more from 1 changed key, a DELETE and an UPSERT each\n":                                          {Messages: 8, KeyChanges: 1},
		"13 below: one a message, and 3 more from messages of several changes, 2 more from 2 changed keys, a DELETE and an UPSERT each": {Messages: 8, ExtraChanges: 3, KeyChanges: 2},
	} {
		var text strings.Builder
		out := bufio.NewWriter(&text)
		writeCounts(out, counts, style{})
		_ = out.Flush()
		if !strings.Contains(text.String(), want) {
			t.Errorf("%+v: %q is not in\n%s", counts, want, text.String())
		}
	}
}

// People are told what is not stored as they are shown it.
func TestWriteLetters_forms(t *testing.T) {
	stored := []deadletter.Stored{
		{Stage: "decode", MessageID: "m1", DataForm: deadletter.FormRedacted},
		{Stage: "key", MessageID: "m2", DataForm: deadletter.FormEncrypted, DataBase64: []byte("sealed")},
		{Stage: "encode", MessageID: "m3", DataLeftOut: true},
		{Stage: deadletter.StageMessage, MessageID: "m3", DataBase64: []byte("plain")},
	}
	letters := new(system).shown(stored) // no key opens any
	letters = append(letters, letter{Stage: "write", Data: []byte("opened"), Form: deadletter.FormEncrypted})
	var text strings.Builder
	out := bufio.NewWriter(&text)
	writeLetters(out, letters, style{})
	_ = out.Flush()
	for _, want := range []string{
		"\n    redacted: ", "\n    stored encrypted, by a key that doesn't open it\n", "\n    5 bytes: plain\n", "\n    6 bytes, stored encrypted: opened\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

// So are programs: "" of a redacted letter is no empty message.
func TestWriteJSON_forms(t *testing.T) {
	var out strings.Builder
	letters := []letter{{Stage: "decode", Form: deadletter.FormRedacted}, {Stage: "write", Data: []byte("opened"), Form: deadletter.FormEncrypted}, {Stage: "key"}}
	if err := writeJSON(&out, result{Letters: letters}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		DeadLetters []map[string]string `json:"dead_letters"`
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"redacted", "encrypted", ""} {
		l := got.DeadLetters[i]
		form, has := l["data_form"]
		if form != want || has != (want != "") || l["data"] != string(letters[i].Data) {
			t.Errorf("letter %d is %v", i, l)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	var out strings.Builder
	if err := writeJSON(&out, sampleResult()); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "result.json"), out.String())
	decoder := json.NewDecoder(strings.NewReader(out.String()))
	var got struct {
		Tables      map[string][]map[string]any `json:"tables"`
		DeadLetters []map[string]string         `json:"dead_letters"`
		Counts      map[string]int64            `json:"counts"`
	}
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Error("there is more than one object")
	}
	if rows, ok := got.Tables["shop.empty"]; !ok || rows == nil {
		t.Error("an empty table is not there as []")
	}
	if got.Counts["rows_upserted"] != 1000 {
		t.Errorf("counts: %v", got.Counts)
	}
}

func TestWriteJSON_empty(t *testing.T) {
	var out strings.Builder
	if err := writeJSON(&out, result{}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(out.String())) || !strings.Contains(out.String(), `"dead_letters": []`) {
		t.Errorf("got %s", out.String())
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s\nrun the test with -update if this is meant", diff)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
