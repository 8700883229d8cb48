package enrichment

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/daead/subtle"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// mask is a mask, compiled.
type mask struct {
	by      string
	keep    int64
	columns []string
	bytes   []bool // by column: the table's is of BYTES
	secret  int    // the place of its key among the plan's secrets; -1 for none
}

// hexLength is how long a SHA-256 is in hexadecimal.
const hexLength = 2 * sha256.Size

func (c *compiler) mask(config *table.Mask) *mask {
	m := &mask{by: config.By, keep: config.Keep, columns: config.Columns, secret: -1}
	if len(config.Columns) == 0 {
		c.report("mask.columns", errors.New("it is missing; give the columns to mask"))
	}
	keyed := config.By == table.MaskSHA256 || config.By == table.MaskAESSIV
	switch {
	case config.By == "":
		c.report("mask.by", fmt.Errorf("it is missing; give one of %s", strings.Join(table.MaskWords, ", ")))
	case !slices.Contains(table.MaskWords, config.By):
		c.report("mask.by", fmt.Errorf("%q is none of %s", config.By, strings.Join(table.MaskWords, ", ")))
	case keyed && config.Key == nil:
		c.report("mask.key", errors.New("it is missing; say where the key is: secret, file or env"))
	case !keyed && config.Key != nil:
		c.report("mask.key", fmt.Errorf("it has a meaning with %s and %s only", table.MaskSHA256, table.MaskAESSIV))
	case config.By == table.MaskLast && config.Keep <= 0:
		c.report("mask.keep", errors.New("give how many characters at the end stay, 4"))
	case config.By != table.MaskLast && config.Keep != 0:
		c.report("mask.keep", fmt.Errorf("it has a meaning with %s only", table.MaskLast))
	}
	if config.Key != nil {
		c.secret(m, config.Key)
	}
	for i, name := range config.Columns {
		key := fmt.Sprintf("mask.columns[%d]", i)
		if has(config.Columns[:i], name) {
			c.report(key, fmt.Errorf("column %s is there twice", name))
		}
		m.bytes = append(m.bytes, c.masked(key, name, config.By, m))
	}
	return m
}

// masked checks one column, and reports whether the table's is of BYTES.
func (c *compiler) masked(key, name, by string, m *mask) bool {
	keyed := by == table.MaskSHA256 || by == table.MaskAESSIV
	var column *table.Column
	var err error
	if at := slices.IndexFunc(c.keys[c.step+1], func(k string) bool { return strings.EqualFold(k, name) }); at >= 0 && keyed {
		// The key's masks are in the order of the steps, which are compiled in it.
		c.plan.keys[at].masks = append(c.plan.keys[at].masks, m)
		column, err = c.written(c.step, name)
	} else {
		column, err = c.output(c.step, name)
	}
	c.report(key, err)
	if column == nil {
		return false
	}
	switch {
	case by == table.MaskNull && column.Mode == table.Required:
		err = fmt.Errorf("column %s of the table is REQUIRED", name)
	case by == table.MaskNull:
		return false
	case column.Mode == table.Repeated || column.Type != table.String && (column.Type != table.Bytes || !keyed):
		err = fmt.Errorf("column %s is %s; the mask makes a text%s", name, column.SQLType(), map[bool]string{true: ", or BYTES", false: ""}[keyed])
	case by == table.MaskSHA256 && column.Type == table.String && column.MaxLength > 0 && column.MaxLength < hexLength:
		err = fmt.Errorf("column %s is %s; the mask has %d characters", name, column.SQLType(), hexLength)
	default:
		err = readsAgain(column)
	}
	c.report(key, err)
	return column.Type == table.Bytes
}

func (c *compiler) secret(m *mask, key *table.SecretKey) {
	given := 0
	for _, place := range []string{key.Secret, key.File, key.Environment} {
		if place != "" {
			given++
		}
	}
	parts := strings.Split(key.Secret, "/")
	switch {
	case given != 1:
		c.report("mask.key", errors.New("give just one of secret, file and env"))
	case key.Secret != "" && (len(parts) != 4 && len(parts) != 6 || parts[0] != "projects" || parts[2] != "secrets" || len(parts) == 6 && parts[4] != "versions"):
		c.report("mask.key.secret", errors.New("it is no projects/PROJECT/secrets/NAME[/versions/VERSION]"))
	}
	if m.secret = slices.IndexFunc(c.plan.secrets, func(k *table.SecretKey) bool { return *k == *key }); m.secret < 0 {
		m.secret = len(c.plan.secrets)
		c.plan.secrets = append(c.plan.secrets, key)
	}
}

// minKeyBytes is the shortest key of an HMAC-SHA-256: what is shorter can be guessed.
const minKeyBytes = 16

// masker hides values by one mask. It is for one goroutine.
type masker struct {
	*mask
	hash    hash.Hash
	encrypt tink.DeterministicAEAD
	sum     []byte
}

// newMasker returns a mask's masker with its key's bytes, those of a text without the
// line's end after it. The error tells nothing of the key.
func newMasker(m *mask, key []byte) (*masker, error) {
	masker := &masker{mask: m}
	key = bytes.TrimRight(key, "\r\n")
	switch m.by {
	case table.MaskSHA256:
		if len(key) < minKeyBytes {
			return nil, fmt.Errorf("the key has %d bytes; it takes %d at least", len(key), minKeyBytes)
		}
		masker.hash = hmac.New(sha256.New, key)
	case table.MaskAESSIV:
		var err error
		if masker.encrypt, err = newAESSIV(key); err != nil {
			return nil, err
		}
	}
	return masker, nil
}

// newAESSIV reads a key of 64 bytes, as they are or in base64 or hexadecimal, or a
// keyset of Tink's in JSON, as BigQuery's KEYS.KEYSET_TO_JSON makes it.
func newAESSIV(key []byte) (tink.DeterministicAEAD, error) {
	if bytes.HasPrefix(key, []byte("{")) {
		handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(key)))
		if err != nil {
			return nil, errors.New("the key begins with { and is no keyset of Tink's in JSON")
		}
		primitive, err := daead.New(handle)
		if err != nil {
			return nil, errors.New("the keyset is not one of deterministic encryption (AES-SIV)")
		}
		return primitive, nil
	}
	raw := rawKey(key)
	if len(raw) != subtle.AESSIVKeySize {
		return nil, fmt.Errorf("the key is not one of %d bytes, raw, in base64 or in hexadecimal, nor a keyset of Tink's", subtle.AESSIVKeySize)
	}
	primitive, err := subtle.NewAESSIV(raw)
	if err != nil {
		return nil, errors.New("the key can't be used for AES-SIV")
	}
	return primitive, nil
}

// rawKey returns a key's bytes. 64 hexadecimal digits are 32 bytes, not 64.
func rawKey(key []byte) []byte {
	if raw, err := hex.DecodeString(string(key)); err == nil {
		return raw
	}
	if raw, err := base64.StdEncoding.DecodeString(string(key)); err == nil && len(raw) == subtle.AESSIVKeySize {
		return raw
	}
	return key
}

// of returns the masked value of one whose canonical text is given. Equal texts are
// masked equally, in every column and on every worker.
func (m *masker) of(text []byte, asBytes bool) (change.Value, error) {
	switch m.by {
	case table.MaskSHA256:
		m.hash.Reset()
		_, _ = m.hash.Write(text) // never fails
		m.sum = m.hash.Sum(m.sum[:0])
		if asBytes {
			return change.Bytes(string(m.sum)), nil
		}
		return change.String(hex.EncodeToString(m.sum)), nil
	case table.MaskAESSIV:
		sealed, err := m.encrypt.EncryptDeterministically(text, nil)
		if err != nil {
			return change.Value{}, errors.New("it can't be encrypted")
		}
		if asBytes {
			return change.Bytes(string(sealed)), nil
		}
		return change.String(base64.StdEncoding.EncodeToString(sealed)), nil
	case table.MaskLast:
		return change.String(lastOf(text, m.keep)), nil
	}
	return change.Null(), nil
}

// lastOf returns the text with an asterisk for each character but the last ones. Of
// one that is not longer than they are none stays.
func lastOf(text []byte, keep int64) string {
	hidden := int64(utf8.RuneCount(text)) - keep
	if hidden <= 0 {
		return strings.Repeat("*", utf8.RuneCount(text))
	}
	at := 0
	for range hidden {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return strings.Repeat("*", int(hidden)) + strings.ToValidUTF8(string(text[at:]), "\uFFFD")
}
