package deadletter

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/hybrid"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// sentinel is in all that a message holds: it must be nowhere in what is stored.
const sentinel = "s3ntinel"

func secretLetter() Letter {
	return Letter{
		Message: change.Message{
			ID: "101", Data: []byte(`{"name":"` + sentinel + `"}`), Attributes: map[string]string{"k" + sentinel: sentinel, "origin": sentinel},
			OrderingKey: sentinel, PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 0, time.UTC), Token: 11, Replays: 1,
		},
		Stage: "encode", Reason: "bad_value", Error: "column total: out of range", Table: "public.orders", Part: 2,
		Receipts: []change.Receipt{{Token: 11, Parts: 1}},
	}
}

// keysets returns a keyset of Tink's for symmetric encryption, and a hybrid one's
// public and private keys.
func keysets(t *testing.T) (symmetric, public, private []byte) {
	t.Helper()
	text := func(h *keyset.Handle, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&b)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	symmetric = text(keyset.NewHandle(aead.AES256GCMKeyTemplate()))
	h, err := keyset.NewHandle(hybrid.DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM_Key_Template())
	private = text(h, err)
	publicHandle, err := h.Public()
	public = text(publicHandle, err)
	return symmetric, public, private
}

// What is encrypted comes back by its key, to the byte, and by no other; and nothing of
// it can be seen, or be passed off as another message's.
func TestProtect_encrypt(t *testing.T) {
	raw := bytes.Repeat([]byte{7, 9}, 16)
	symmetric, public, private := keysets(t)
	for name, keys := range map[string][2][]byte{
		"raw":            {raw, raw},
		"hexadecimal":    {[]byte(hex.EncodeToString(raw) + "\n"), raw},
		"base64":         {[]byte(base64.StdEncoding.EncodeToString(raw)), raw},
		"a keyset":       {symmetric, symmetric},
		"a hybrid's":     {public, private},
		"a raw with 0xa": {append(bytes.Repeat([]byte{1}, 31), '\n'), append(bytes.Repeat([]byte{1}, 31), '\n')},
	} {
		seal, err := newSealing(keys[0])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		opener, err := NewOpener(keys[1])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l := secretLetter()
		want := l.stored()
		items, err := l.items(&protector{seal: seal})
		if err != nil || len(items) != 1 {
			t.Fatalf("%s: %d items, %v", name, len(items), err)
		}
		stored := items[0].stored().withText()
		text, err := json.Marshal(stored)
		if err != nil || bytes.Contains(text, []byte(sentinel)) || bytes.Contains(stored.DataBase64, []byte(sentinel)) || stored.DataForm != FormEncrypted {
			t.Errorf("%s: %v, stored is %s", name, err, text)
		}
		if stored.ID != want.ID || stored.Stage != want.Stage || stored.Reason != want.Reason || !stored.PublishTime.Equal(want.PublishTime) {
			t.Errorf("%s: %+v", name, stored)
		}
		other := stored
		other.MessageID = "102"
		if err := opener.Open(&other); err == nil {
			t.Errorf("%s: it passes for another message's", name)
		}
		back, err := ParseStored(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := opener.Open(&back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		if wrong, err := NewOpener(bytes.Repeat([]byte{3}, 32)); err != nil || wrong.Open(&stored) == nil {
			t.Errorf("%s: another key opens it, %v", name, err)
		}
		if err := (*Opener)(nil).Open(&stored); err == nil || !strings.Contains(err.Error(), "dead_letter_key") {
			t.Errorf("%s: without a key: %v", name, err)
		}
	}
	if _, err := NewOpener(public); err == nil {
		t.Error("public keys open letters")
	}
}

// Whatever a message is, sealing keeps it.
func TestSealed_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := change.Message{
			Data:        rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			OrderingKey: rapid.String().Draw(t, "key"),
			Attributes:  rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "attributes"),
		}
		var s Stored
		if err := readSealed(appendSealed(nil, &m), &s); err != nil {
			t.Fatal(err)
		}
		got := s.Message()
		if diff := cmp.Diff(m, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzReadSealed: what a key's holder may have sealed is an error or a message.
func FuzzReadSealed(f *testing.F) {
	f.Add(appendSealed(nil, &change.Message{Data: []byte("x"), OrderingKey: "k", Attributes: map[string]string{"a": "b"}}))
	f.Add([]byte{sealedVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Stored
		if err := readSealed(b, &s); err == nil && len(s.DataBase64)+len(s.OrderingKey) > len(b) {
			t.Fatal("there is more in it than it has")
		}
	})
}

func TestNewSealing_errors(t *testing.T) {
	_, _, private := keysets(t)
	for name, key := range map[string][]byte{
		"empty": nil, "short": []byte(sentinel), "no keyset": []byte("{" + sentinel), "of 31 bytes": bytes.Repeat([]byte{1}, 31),
		"private keys": private, "AES-128": []byte(hex.EncodeToString(bytes.Repeat([]byte{1}, 16))),
	} {
		if _, err := newSealing(key); err == nil || strings.Contains(err.Error(), sentinel) {
			t.Errorf("a key that is %s: %v", name, err)
		}
	}
}

// A redacted letter has all that tells which message it was and why, and nothing of it,
// in every sink; that of a message of many changes, too.
// A key that is none is told with where it was read, and nothing of it.
func TestCheckKey_where(t *testing.T) {
	t.Setenv("BEAMCDC_TEST_BAD_KEY", "{SECRET")
	err := CheckKey(t.Context(), Protection{Data: DataEncrypt, Key: table.SecretKey{Environment: "BEAMCDC_TEST_BAD_KEY"}})
	_, opening := OpenKey(t.Context(), "env:BEAMCDC_TEST_BAD_KEY")
	for _, err := range []error{err, opening} {
		if err == nil || !strings.Contains(err.Error(), "env:BEAMCDC_TEST_BAD_KEY") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	}
}

func TestWrite_redacted(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "letters")
	shared := secretLetter()
	shared.Message.ID, shared.Shared = "102", true
	left := secretLetter()
	left.Message.ID, left.Message.DataLeftOut, left.Message.Data = "103", true, nil
	p, s := beam.NewPipelineWithRoot()
	receipts := Write(s, Config{Directory: directory, Protection: Protection{Data: DataRedact}}, beam.Create(s, any(secretLetter()), any(shared), any(left)))
	passert.Equals(s, receipts[0], change.Receipt{Token: 11, Parts: 1}, change.Receipt{Token: 11, Parts: 1}, change.Receipt{Token: 11, Parts: 1})
	ptest.RunAndValidate(t, p)
	files, err := os.ReadDir(directory)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(directory, f.Name()))
		if err != nil || bytes.Contains(text, []byte(sentinel)) {
			t.Errorf("%v: %s", err, text)
		}
		s, err := ParseStored(text)
		if err != nil || s.DataForm != FormRedacted || s.Reason != "bad_value" || s.MessageID == "" || s.PublishTime.IsZero() {
			t.Errorf("%+v, %v", s, err)
		}
		if err := new(Opener).Open(&s); err == nil {
			t.Error("a redacted letter can be replayed")
		}
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v to others, %v", f.Name(), info.Mode(), err)
		}
	}
}

// A topic's messages say what became of them, too, and keep within Pub/Sub's limits.
func TestTopicMessages_encrypted(t *testing.T) {
	key := bytes.Repeat([]byte{5}, 32)
	seal, err := newSealing(key)
	if err != nil {
		t.Fatal(err)
	}
	opener, err := NewOpener(key)
	if err != nil {
		t.Fatal(err)
	}
	l := secretLetter()
	l.Message.Data = append(l.Message.Data, bytes.Repeat([]byte("x"), 9000)...)
	want := l.stored()
	items, err := l.items(&protector{seal: seal})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := topicMessages(&items[0], 5000)
	if err != nil || len(messages) < 2 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	got := whole(t, messages)
	if err := opener.Open(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A table that was made before has no column for what became of a message.
func TestTableForm(t *testing.T) {
	for _, test := range []struct {
		attributes map[string]string
		form       string
	}{
		{map[string]string{AttributeData: FormEncrypted}, FormEncrypted},
		{map[string]string{AttributeData: FormRedacted}, FormRedacted},
		{map[string]string{AttributeData: "x"}, ""},
		{map[string]string{AttributeData: FormRedacted, "a": "b"}, ""},
		{nil, ""},
	} {
		s := Stored{Attributes: test.attributes}
		TableForm(&s)
		if s.DataForm != test.form || test.form != "" && s.Attributes != nil {
			t.Errorf("%v: %+v", test.attributes, s)
		}
	}
}

func TestProtection_Validate(t *testing.T) {
	key := table.SecretKey{File: "f"}
	for p, good := range map[Protection]bool{
		{}: true, {Data: DataKeep}: true, {Data: DataRedact}: true, {Data: DataEncrypt, Key: key}: true,
		{Data: DataEncrypt}: false, {Data: "hide"}: false, {Key: key}: false, {Data: DataRedact, Key: key}: false,
	} {
		if err := p.Validate(); (err == nil) != good {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
