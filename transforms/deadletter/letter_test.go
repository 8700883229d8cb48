package deadletter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

func drawLetter(t *rapid.T) Letter {
	text := rapid.String()
	return Letter{
		Message: change.Message{
			ID:          text.Draw(t, "id"),
			Data:        rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data"),
			Attributes:  map[string]string{"a": text.Draw(t, "a"), text.Draw(t, "name"): ""},
			OrderingKey: text.Draw(t, "ordering key"),
			PublishTime: time.Unix(0, rapid.Int64().Draw(t, "publish time")).UTC(),
			Token:       rapid.Uint64().Draw(t, "token"),
		},
		Stage: text.Draw(t, "stage"), Reason: text.Draw(t, "reason"), Error: text.Draw(t, "error"), Table: text.Draw(t, "table"),
		Part: rapid.Uint32().Draw(t, "part"), Shared: rapid.Bool().Draw(t, "shared"),
		Receipts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) change.Receipt {
			return change.Receipt{Token: rapid.Uint64().Draw(t, "t"), Part: rapid.Uint32().Draw(t, "p"), Parts: rapid.Uint32Min(1).Draw(t, "n")}
		}), 1, 4).Draw(t, "receipts"),
	}
}

func TestLetter_Coding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawLetter(t)
		got, err := decodeLetter(encodeLetter(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("a coded letter is another (-want +got):\n%s", diff)
		}
	})
}

// FuzzDecodeLetter: any bytes are an error or a letter that codes to itself; never a panic.
func FuzzDecodeLetter(f *testing.F) {
	f.Add(encodeLetter(Letter{Message: change.Message{ID: "1", Data: []byte("x")}, Stage: "decode", Receipts: []change.Receipt{{Token: 7, Parts: 1}}}))
	f.Add([]byte{codedLetter, 200})
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := decodeLetter(src)
		if err != nil {
			return
		}
		again, err := decodeLetter(encodeLetter(l))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLetter_ID(t *testing.T) {
	receipts := func(parts ...uint32) []change.Receipt {
		list := []change.Receipt{{}, {Token: 8, Part: 0, Parts: 4}} // of a superseded row
		for _, part := range parts {
			list = append(list, change.Receipt{Token: 7, Part: part, Parts: 4})
		}
		return list
	}
	for _, test := range []struct {
		want string
		l    Letter
	}{
		{"1/decode/0", Letter{Message: change.Message{ID: "1"}, Stage: "decode"}},
		{"1/key/3", Letter{Message: change.Message{ID: "1"}, Stage: "key", Part: 3}},
		{"1/key/3/12", Letter{Message: change.Message{ID: "1", Replays: 12}, Stage: "key", Part: 3}},
		{"1/write/2", Letter{Message: change.Message{ID: "1", Token: 7}, Stage: "write", Receipts: receipts(3, 2)}},
		{"1/write/0", Letter{Message: change.Message{ID: "1", Token: 7}, Stage: "write", Receipts: receipts(0, 1)}},
	} {
		if got := test.l.ID(); got != test.want {
			t.Errorf("id = %s, want %s", got, test.want)
		}
	}
}
