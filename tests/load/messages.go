package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/tests/internal/orders"
)

// wideColumns is the number of columns of scenario wide besides the key: BigQuery takes
// CDC rows of 2,000 columns at most.
const wideColumns = 1999

// wideConfig is the configuration of a table of so many columns, of several types.
func wideConfig() string {
	var b strings.Builder
	b.WriteString("tables:\n  - source: public.wide\n    destination: shop.wide\n    primary_key: [id]\n    columns:\n" +
		"      - {name: id, type: INT64, mode: REQUIRED}\n")
	for c := range wideColumns {
		fmt.Fprintf(&b, "      - {name: c%d, type: %s}\n", c, [...]string{"INT64", "STRING", "FLOAT64", "BOOL"}[c%4])
	}
	return b.String()
}

func wideMessage(i int) *pubsubpb.PubsubMessage {
	const rows = 1000
	b := make([]byte, 0, 64<<10)
	b = fmt.Appendf(b, `{"before":null,"after":{"id":%d`, i%rows)
	for c := range wideColumns {
		b = append(b, `,"c`...)
		b = strconv.AppendInt(b, int64(c), 10)
		b = append(b, `":`...)
		switch c % 4 {
		case 0:
			b = strconv.AppendInt(b, int64(i+c), 10)
		case 1:
			b = append(append(append(b, `"value `...), strconv.Itoa(i+c)...), '"')
		case 2:
			b = strconv.AppendFloat(b, float64(i+c)/8, 'g', -1, 64)
		default:
			b = strconv.AppendBool(b, (i+c)%3 == 0)
		}
	}
	return &pubsubpb.PubsubMessage{Data: orders.AppendEnd(append(b, '}'), "wide", 'u', i)}
}

const bigConfig = `
tables:
  - source: public.documents
    destination: shop.documents
    primary_key: [id]
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: body, type: STRING}
`

// bigSizes are the sizes of scenario big's rows, in bytes, in turns. Pub/Sub takes
// messages of up to 10 MB, so that a row of 20 MB comes compressed.
var bigSizes = []int{100, 1 << 20, 100, 8 << 20, 100, 1 << 20, 100, 20 << 20}

// isTooLarge reports whether no request to BigQuery can hold the row of message i.
func isTooLarge(i int) bool { return bigSizes[i%len(bigSizes)] > 9_000_000 }

func bigMessage(i int) *pubsubpb.PubsubMessage {
	size := bigSizes[i%len(bigSizes)]
	head := fmt.Appendf(nil, `{"before":null,"after":{"id":%d,"body":"`, i)
	tail := orders.AppendEnd([]byte(`"}`), "documents", 'u', i)
	if !isTooLarge(i) {
		data := make([]byte, 0, len(head)+size+len(tail))
		return &pubsubpb.PubsubMessage{Data: append(append(append(data, head...), text()[:size]...), tail...)}
	}
	return &pubsubpb.PubsubMessage{Data: compress(head, tail), Attributes: map[string]string{"content-encoding": "gzip"}}
}

// A body is cut from copies of one block, of words in any order, which compresses to a
// sixth or so.
const (
	blockSize = 256 << 10
	blocks    = (20 << 20) / blockSize
)

var block = sync.OnceValue(func() []byte {
	words := strings.Fields("the order was packed late because its address could not be found and nobody answered when the driver rang twice at noon on friday")
	random := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for b.Len() < blockSize {
		b.WriteString(words[random.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.Bytes()[:blockSize]
})

// text is the longest body.
var text = sync.OnceValue(func() []byte { return bytes.Repeat(block(), blocks) })

// deflatedText is the longest body, compressed: once, since it is the same in all messages.
var deflatedText = sync.OnceValue(func() []byte {
	return bytes.Repeat(deflate(block(), (*flate.Writer).Flush), blocks)
})

// compress returns head, the whole text and tail, in gzip's format.
func compress(head, tail []byte) []byte {
	sum := crc32.NewIEEE()
	size := 0
	for _, part := range [][]byte{head, text(), tail} {
		_, _ = sum.Write(part) // it never fails
		size += len(part)
	}
	data := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	data = append(data, deflate(head, (*flate.Writer).Flush)...)
	data = append(data, deflatedText()...)
	data = append(data, deflate(tail, (*flate.Writer).Close)...)
	data = binary.LittleEndian.AppendUint32(data, sum.Sum32())
	return binary.LittleEndian.AppendUint32(data, uint32(size))
}

// deflate compresses a part that ends as its end makes it: flushed, for others to
// follow, or closed.
func deflate(part []byte, end func(*flate.Writer) error) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(part)
	}
	if err == nil {
		err = end(w)
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
