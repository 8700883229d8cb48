package envelope

import (
	"encoding/binary"

	"beamcdc/schemas/change"
)

// UnpackedSize returns how many bytes of memory a message's data will take, about: of
// compressed data what it says to unpack to, if that is more, and at most what is ever
// unpacked. Where it lies, its decoding fails, unless it is several compressed parts one
// after the other, of which it tells the last one's size.
func UnpackedSize(data []byte, attributes map[string]string) int {
	const least = 18 // bytes that gzip's format has around nothing
	m := change.Message{Data: data, Attributes: attributes}
	switch encoding(&m) {
	case "gzip", "x-gzip":
	default:
		return len(data)
	}
	if len(data) < least {
		return len(data)
	}
	said := binary.LittleEndian.Uint32(data[len(data)-4:])
	return max(len(data), int(min(said, maxUnpacked)))
}
