package rowproto

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// openLength leaves room for a length that is not known yet; closeLength fills
// it in. Nearly all lengths take one byte, so that nothing has to move.
func openLength(dst []byte) []byte { return append(dst, 0) }

// closeLength writes the length of what follows the byte at start.
func closeLength(dst []byte, start int) []byte {
	n := len(dst) - start - 1
	if n < 0x80 {
		dst[start] = byte(n)
		return dst
	}
	size := protowire.SizeVarint(uint64(n))
	for range size - 1 {
		dst = append(dst, 0)
	}
	copy(dst[start+size:], dst[start+1:start+1+n])
	protowire.AppendVarint(dst[:start], uint64(n))
	return dst
}

// appendString appends a length-delimited text without its tag.
func appendString(dst []byte, text string) []byte {
	return append(protowire.AppendVarint(dst, uint64(len(text))), text...)
}

// appendInt appends a signed number as protobuf's int32 and int64 have it.
func appendInt(dst []byte, v int64) []byte { return protowire.AppendVarint(dst, uint64(v)) }
