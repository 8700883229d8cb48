package expression_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/expression"
)

func event() *change.Event {
	return &change.Event{
		Message: change.Message{
			ID: "7", Data: []byte(`{"v":41,"big":18446744073709551615,"huge":18446744073709551616,"price":1.50,"lsn":"16/B374D848","gone":null,
				"source":{"file":"mysql-bin.1000000","pos":4,"list":[3,2]}}`),
			Attributes: map[string]string{"version": "1f"}, OrderingKey: "k", PublishTime: time.UnixMicro(1741507626005004),
		},
		Table: "public.orders", Op: change.OpUpdate, Part: 2, CommitTime: time.Unix(1741507626, 0),
		Key:    []change.Column{{Name: "id", Value: change.Number("9")}},
		Before: []change.Column{{Name: "id", Value: change.Int64(8)}},
		After: []change.Column{
			{Name: "id", Value: change.Int64(9)},
			{Name: "version", Value: change.Number("255")},
			{Name: "at", Value: change.Timestamp(16)},
			{Name: "doc", Value: change.Unavailable()},
			{Name: "secret", Value: change.String("s3cret")},
			{Name: "none", Value: change.Null()},
			{Name: "raw", Value: change.Raw(`{"rev":10}`)},
			{Name: "u", Value: change.Uint64(1 << 63)},
		},
	}
}

func TestSequence(t *testing.T) {
	for text, want := range map[string]string{
		`data.lsn`:      "16/B374D848",
		`"ff/0a"`:       "FF/A",
		`after.version`: "FF",
		`data.big`:      "FFFFFFFFFFFFFFFF",
		`after.u`:       "8000000000000000",
		`after.raw.rev`: "A",
		`[file_number(data.source.file), data.source.pos, part]`: "F4240/4/2",
		`[lsn(data.lsn), 1u]`:     "16B374D848/1",
		`hex(attributes.version)`: "1F",
		`data.source.list`:        "3/2",
		`before.id`:               "8",
		`key["id"]`:               "9",
		`after.at`:                "10",
		`int(commit_time)`:        "67CD4C2A",
		`op == "update" && table.startsWith("public.") ? message_id : ordering_key`: "7",
		`data.gone == null ? 1 : 2`:  "1",
		`after.none == null ? 1 : 2`: "1",
		`has(after.doc) ? 1 : 2`:     "2",
	} {
		s, err := expression.CompileSequence(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := s.Eval(event())
		if err != nil || got.String() != want {
			t.Errorf("%s = %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestSequence_evaluationErrors(t *testing.T) {
	for text, want := range map[string]string{
		`data.absent`:               "no such key: absent",
		`after.doc`:                 "no such key: doc",
		`data.price`:                "a text that is not one to four sections",
		`data.huge`:                 "a text that is not one to four sections",
		`""`:                        "a text that is not one to four sections",
		`"1/2/3/4/5"`:               "a text that is not one to four sections",
		`-1`:                        "a negative number",
		`[1,-1]`:                    "a list with a negative number",
		`[]`:                        "an empty list",
		`[1,2,3,4,5]`:               "a list of more than 4 sections",
		`["1"]`:                     "a string where a whole number is needed",
		`data.gone`:                 "a null_type",
		`int(after.secret)`:         "evaluating the sequence expression",
		`hex(after.secret)`:         "hex: the text has not the form of one",
		`lsn(after.secret)`:         "lsn: the text has not the form of one",
		`file_number(after.secret)`: "file_number: the text has not the form of one",
		`after[after.secret]`:       "evaluating the sequence expression",
		`[1, 2][after.id + 4702]`:   "index out of bounds",
		`"x".charAt(after.id+4702)`: "evaluating the sequence expression",
	} {
		s, err := expression.CompileSequence(text)
		if err != nil {
			t.Errorf("%s: compiling: %v", text, err)
			continue
		}
		_, err = s.Eval(event())
		switch {
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		case strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "4711"):
			t.Errorf("%s: the error shows a value: %v", text, err)
		}
	}
}

func TestSequence_dataIsNoJSON(t *testing.T) {
	s, err := expression.CompileSequence("data.lsn")
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "s3cret", `{"lsn":"1"} x`} {
		e := event()
		e.Message.Data = []byte(data)
		if _, err := s.Eval(e); err == nil || !strings.Contains(err.Error(), "JSON") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: error %v", data, err)
		}
	}
}

// TestSequence_manyChanges: the JSON of a message is not read for each of its changes
// again, and never taken for that of another.
func TestSequence_manyChanges(t *testing.T) {
	s, err := expression.CompileSequence(`[lsn(data.nextlsn), part]`)
	if err != nil {
		t.Fatal(err)
	}
	const changes = 20_000
	rest := strings.Repeat(`{"kind":"insert","columnvalues":[1]},`, changes)
	start := time.Now()
	for i, lsn := range []string{"0/A", "0/B", "0/A"} {
		e := change.Event{Message: change.Message{Data: []byte(`{"nextlsn":"` + lsn + `","change":[` + rest + `{}]}`)}, Parts: changes}
		for e.Part = range e.Parts {
			got, err := s.Eval(&e)
			if want := lsn[2:] + "/" + strings.ToUpper(strconv.FormatUint(uint64(e.Part), 16)); err != nil || got.String() != want {
				t.Fatalf("message %d: %s, %v, want %s", i, got, err, want)
			}
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestCompileSequence_errors(t *testing.T) {
	for text, want := range map[string]string{
		``:                 "compiling",
		`data.`:            "1:",
		`sequence`:         "undeclared reference to 'sequence'",
		`true`:             "gives a bool",
		`after`:            "gives a map",
		`commit_time`:      "gives a google.protobuf.Timestamp",
		`lsn(1)`:           "no matching overload for 'lsn'",
		`ordering_key + 1`: "no matching overload",
	} {
		if _, err := expression.CompileSequence(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}
