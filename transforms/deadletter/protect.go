package deadletter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/hybrid"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/secret"
)

// What is stored of a letter's message: of its data, its attributes and its ordering
// key. Where it came from and why it failed are always there.
const (
	DataKeep    = "keep"    // as it was published
	DataRedact  = "redact"  // nothing
	DataEncrypt = "encrypt" // encrypted, by a key
)

// DataWords are the words of Protection.Data, the default first.
var DataWords = []string{DataKeep, DataRedact, DataEncrypt}

// The forms of Stored.DataForm.
const (
	FormRedacted  = "redacted"
	FormEncrypted = "encrypted"
)

// Protection says what sinks store of messages. The zero value keeps them.
type Protection struct {
	Data string          // one of DataWords; "" is DataKeep
	Key  table.SecretKey // where DataEncrypt's key is
}

// Validate reports what can't be meant.
func (p Protection) Validate() error {
	hasKey := p.Key != table.SecretKey{}
	switch {
	case p.Data != "" && !slices.Contains(DataWords, p.Data):
		return fmt.Errorf("dead letters: %q is none of keep, redact, encrypt", p.Data)
	case p.Data == DataEncrypt && !hasKey:
		return errors.New("dead letters: encrypt needs a key")
	case p.Data != DataEncrypt && hasKey:
		return errors.New("dead letters: a key has a meaning with encrypt only")
	}
	return nil
}

// protector changes letters into what is stored of them. The zero value keeps them.
type protector struct {
	redact bool
	seal   sealing // nil for none
}

// sealing encrypts for a letter of a message.
type sealing func(plain, about []byte) ([]byte, error)

// newProtector reads the key, if there is one.
func newProtector(ctx context.Context, p Protection) (protector, error) {
	if p.Data != DataEncrypt {
		return protector{redact: p.Data == DataRedact}, nil
	}
	key, err := secret.Read(ctx, p.Key)
	if err != nil {
		return protector{}, fmt.Errorf("reading the dead letters' key: %w", err)
	}
	seal, err := newSealing(key)
	if err != nil {
		return protector{}, fmt.Errorf("%s: %w", placeOf(p.Key), err)
	}
	return protector{seal: seal}, nil
}

// protect takes out of an item of a letter what is not to be stored as it is.
func (p *protector) protect(l *Letter) error {
	if !p.redact && p.seal == nil {
		return nil
	}
	m := &l.Message
	var data []byte
	l.DataForm = FormRedacted
	if p.seal != nil {
		// A letter whose data is stored by itself has all of its message there.
		l.DataForm = ""
		if !m.DataLeftOut {
			l.DataForm = FormEncrypted
			var err error
			if data, err = p.seal(appendSealed(nil, m), about(m.ID, m.Replays)); err != nil {
				return errors.New("its message can't be encrypted")
			}
		}
	}
	m.Data, m.Attributes, m.OrderingKey = data, nil, ""
	if p.redact {
		m.DataLeftOut = false // there is no place where it is
	}
	return nil
}

// about is what a sealed message is bound to, so that nobody can pass one for another.
func about(id string, replays uint32) []byte {
	return binary.AppendUvarint([]byte("beamcdc dead letter "+id+" "), uint64(replays))
}

// sealedVersion begins what is sealed.
const sealedVersion = 1

// appendSealed writes data, ordering key and attributes, each with its length before it.
func appendSealed(b []byte, m *change.Message) []byte {
	b = appendText(append(b, sealedVersion), m.Data)
	b = appendText(b, m.OrderingKey)
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		b = appendText(appendText(b, name), m.Attributes[name])
	}
	return b
}

// readSealed reads what appendSealed wrote into a letter.
func readSealed(b []byte, s *Stored) error {
	if len(b) == 0 || b[0] != sealedVersion {
		return errors.New("it was encrypted by another version")
	}
	r := reader{rest: b[1:]}
	data, key := r.bytes(), string(r.bytes())
	var attributes map[string]string
	for len(r.rest) > 0 {
		if attributes == nil {
			attributes = make(map[string]string)
		}
		name := string(r.bytes())
		attributes[name] = string(r.bytes())
	}
	if r.short {
		return errors.New("what was encrypted is no message")
	}
	s.DataBase64, s.OrderingKey, s.Attributes, s.DataForm = data, key, attributes, ""
	return nil
}

// rawKeyBytes is the size of a key of AES-256.
const rawKeyBytes = 32

// newSealing reads a key: 32 bytes of AES-256-GCM, raw, in base64 or in hexadecimal; or
// a keyset of Tink's in JSON, for symmetric encryption (AEAD) or the public keys of a
// hybrid one, with which a worker can't read what it has written. The error tells
// nothing of the key.
func newSealing(key []byte) (sealing, error) {
	symmetric, handle, err := symmetricKey(key)
	if err != nil {
		return nil, err
	}
	if symmetric != nil {
		return symmetric.Encrypt, nil
	}
	public, err := hybrid.NewHybridEncrypt(handle)
	if err != nil {
		return nil, errors.New("the dead letters' keyset is neither one of symmetric encryption (AEAD) nor public keys of a hybrid one")
	}
	return public.Encrypt, nil
}

// Opener reads letters that were encrypted.
type Opener struct {
	open func(sealed, about []byte) ([]byte, error)
}

// NewOpener reads the key of newSealing, or the private keys of a hybrid encryption.
func NewOpener(key []byte) (*Opener, error) {
	symmetric, handle, err := symmetricKey(key)
	if err != nil {
		return nil, err
	}
	if symmetric != nil {
		return &Opener{symmetric.Decrypt}, nil
	}
	private, err := hybrid.NewHybridDecrypt(handle)
	if err != nil {
		return nil, errors.New("the dead letters' keyset is neither one of symmetric encryption (AEAD) nor private keys of a hybrid one")
	}
	return &Opener{private.Decrypt}, nil
}

// OpenKey is NewOpener with the key at a place, as secret.Parse reads it.
func OpenKey(ctx context.Context, place string) (*Opener, error) {
	where, err := secret.Parse(place)
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters' key: %w", err)
	}
	key, err := secret.Read(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters' key: %w", err)
	}
	opener, err := NewOpener(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return opener, nil
}

// placeOf is where a key is, as secret.Parse reads it.
func placeOf(k table.SecretKey) string {
	if k.Environment != "" {
		return "env:" + k.Environment
	}
	return cmp.Or(k.Secret, k.File)
}

// Open gives a letter its message back. One that is not encrypted stays as it is.
func (o *Opener) Open(s *Stored) error {
	switch {
	case s.DataForm == FormRedacted:
		return errors.New("its message was redacted (dead_letters.data): publish it again from the source, by its ID and time")
	case s.DataForm != FormEncrypted:
		return nil
	case o == nil:
		return errors.New("its message is encrypted: give the key, -dead_letter_key, as the configuration's dead_letters.key does")
	}
	plain, err := o.open(s.DataBase64, about(s.MessageID, s.Replays))
	if err != nil {
		return errors.New("its message can't be decrypted: the key is another one, or the letter was changed")
	}
	return readSealed(plain, s)
}

// symmetricKey returns what encrypts by a symmetric key, or the keyset that is none.
func symmetricKey(key []byte) (tink.AEAD, *keyset.Handle, error) {
	text := bytes.TrimSpace(key)
	if bytes.HasPrefix(text, []byte("{")) {
		handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
		if err != nil { // public keys alone are no secret, and read otherwise
			handle, err = keyset.ReadWithNoSecrets(keyset.NewJSONReader(bytes.NewReader(text)))
		}
		if err != nil {
			return nil, nil, errors.New("the dead letters' key begins with { and is no keyset of Tink's in JSON")
		}
		if symmetric, err := aead.New(handle); err == nil {
			return symmetric, nil, nil
		}
		return nil, handle, nil
	}
	raw := key
	if decoded, err := hex.DecodeString(string(text)); err == nil { // 32 digits are 16 bytes
		raw = decoded
	} else if decoded, err := base64.StdEncoding.DecodeString(string(text)); err == nil && len(raw) != rawKeyBytes {
		raw = decoded
	}
	if len(raw) != rawKeyBytes {
		return nil, nil, fmt.Errorf("the dead letters' key is not one of %d bytes, raw, in base64 or in hexadecimal, nor a keyset of Tink's", rawKeyBytes)
	}
	symmetric, err := subtle.NewAESGCM(raw)
	if err != nil {
		return nil, nil, errors.New("the dead letters' key can't be used for AES-256-GCM")
	}
	return symmetric, nil, nil
}

// CheckKey reports at start-up whether the key is there and is one.
func CheckKey(ctx context.Context, p Protection) error {
	_, err := newProtector(ctx, p)
	return err
}
