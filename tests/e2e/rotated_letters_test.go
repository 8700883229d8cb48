package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	aesgcmpb "github.com/tink-crypto/tink-go/v2/proto/aes_gcm_go_proto"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"google.golang.org/protobuf/proto"
)

// rotated returns a keyset's JSON whose primary key is new, and which holds a raw key of
// 32 bytes as its old one, as Tink imports one.
func rotated(t *testing.T, old []byte) []byte {
	t.Helper()
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(&aesgcmpb.AesGcmKey{KeyValue: old})
	if err != nil {
		t.Fatal(err)
	}
	keys := insecurecleartextkeyset.KeysetMaterial(h)
	keys.Key = append(keys.GetKey(), &tinkpb.Keyset_Key{
		KeyData: &tinkpb.KeyData{TypeUrl: "type.googleapis.com/google.crypto.tink.AesGcmKey", Value: value, KeyMaterialType: tinkpb.KeyData_SYMMETRIC},
		Status:  tinkpb.KeyStatusType_ENABLED, KeyId: keys.GetPrimaryKeyId() ^ 1, OutputPrefixType: tinkpb.OutputPrefixType_RAW,
	})
	serialized, err := proto.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(serialized))); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&text)); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// A key of dead letters is rotated by a keyset that has the new one as its primary and the
// old one beside it: letters from before and after are shown and replayed by it. By the old
// key alone those from before are, and of the others it is said why not; that goes for a
// wrong key and for one that is none, too, and nothing is told of a message.
func TestDeadLetters_rotatedKey(t *testing.T) {
	const sentinel = "5entinel"
	for _, sink := range []string{"table", "topic"} {
		t.Run(sink, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			old := []byte(strings.Repeat("k", 32))
			key := filepath.Join(t.TempDir(), "letters.key")
			write := func(path string, text []byte) {
				t.Helper()
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(key, []byte(hex.EncodeToString(old)))
			at := map[string]string{"table": "ops.dead_letters", "topic": launchDead}[sink]
			s := startServices(t, strings.Replace(fmt.Sprintf(ordersConfig, "100ms"), "{topic: projects/demo/topics/dead}",
				fmt.Sprintf("{%s: %q, data: encrypt, key: %q}", sink, at, key), 1))
			var where []string
			if sink == "topic" {
				if err := s.pubsub.CreateSubscription(t.Context(), deadSubscription, launchDead); err != nil {
					t.Fatal(err)
				}
				where = []string{"-dead_letter_subscription", deadSubscription}
			}
			run := func(status int, action string, args ...string) []map[string]any {
				t.Helper()
				return s.deadLettersCommand(status, action, append(slices.Clone(where), args...)...)
			}
			fail := func(n uint64) pgChange {
				c := pgChange{table: "public.orders", op: "c", key: "key " + sentinel, after: `{"order_id":"` + sentinel + `","status":"placed"}`, lastCommit: n, lsn: n + 2}
				l := s.launch()
				s.publish(c.message())
				s.waitAcked(l)
				l.stop()
				return c
			}
			before := fail(10)
			write(key, rotated(t, old))
			after := fail(20)

			data := func(lines []map[string]any) (found []string) {
				for _, line := range lines {
					found = append(found, fmt.Sprint(line["data"]))
				}
				slices.Sort(found)
				return found
			}
			want := []string{before.message().data, after.message().data}
			slices.Sort(want)
			if got := data(run(0, "show")); !slices.Equal(got, want) {
				t.Errorf("by the keyset they are %q, want %q", got, want)
			}
			others := filepath.Join(t.TempDir(), "other.key")
			for _, c := range []struct {
				what, key string
				opened    int
				why       string
			}{
				{"the old key", base64.StdEncoding.EncodeToString(old), 1, "the key is another one"},
				{"another key", strings.Repeat("x", 32), 0, "the key is another one"},
			} {
				write(others, []byte(c.key))
				shown := run(1, "show", "-dead_letter_data=encrypt", "-dead_letter_key="+others)
				opened, told := 0, 0
				for _, line := range shown {
					switch text := fmt.Sprint(line); {
					case strings.Contains(text, sentinel):
						opened++
					case strings.Contains(text, c.why):
						told++
					}
				}
				if opened != c.opened || told != 2-c.opened {
					t.Errorf("by %s %d of two are shown, and of %d it is said that %s: %v", c.what, opened, told, c.why, shown)
				}
			}
			if got := fields(run(0, "replay", "-forgotten_deletes", "-repair_jq", ".after.order_id = 7"), "outcome"); !slices.Equal(got, []string{"replayed", "replayed"}) {
				t.Errorf("outcomes %v", got)
			}
			l := s.launch()
			s.waitAcked(l)
			l.stop()
			if got := s.orders(); len(got) != 1 || got[7] != "placed" {
				t.Errorf("rows %v", got)
			}
		})
	}
}
