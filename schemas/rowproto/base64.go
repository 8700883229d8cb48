package rowproto

import (
	"encoding/base64"
	"encoding/hex"
)

var (
	strictBase64    = base64.StdEncoding.Strict() // with padding and without stray bits
	strictBase64URL = base64.URLEncoding.Strict()
)

// appendBase64 appends what a base64 text stands for. It takes the standard and
// the URL alphabet, which can't be mixed up; padding must be there, and nothing
// else may, where encoding/base64 would skip line breaks.
func appendBase64(dst []byte, text string) ([]byte, bool) {
	encoding := strictBase64
	for i := range len(text) {
		switch text[i] {
		case '\r', '\n':
			return dst, false
		case '-', '_':
			encoding = strictBase64URL
		}
	}
	out, err := encoding.AppendDecode(dst, bytesOf(text))
	if err != nil {
		return dst, false
	}
	return out, true
}

// appendHex appends what a hexadecimal text stands for: digits of either case,
// perhaps after "0x" (DMS) or "\x" (PostgreSQL).
func appendHex(dst []byte, text string) ([]byte, bool) {
	if len(text) >= 2 && (text[0] == '0' || text[0] == '\\') && (text[1] == 'x' || text[1] == 'X') {
		text = text[2:]
	}
	out, err := hex.AppendDecode(dst, bytesOf(text))
	if err != nil {
		return dst, false
	}
	return out, true
}
