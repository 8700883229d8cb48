package avro

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/golang/snappy"
)

// What a file is refused for: a message of 10 MB is at most so large when its
// blocks are decompressed, and holds at most so many changes.
const (
	maxFileBytes = 32 << 20
	maxRecords   = 100_000
)

// magic begins an object container file:
// https://avro.apache.org/docs/1.12.0/specification/#object-container-files
const magic = "Obj\x01"

const syncBytes = 16

// file is an object container file in a message.
type file struct {
	rest  []byte // the blocks that follow
	codec string
	sync  []byte

	block   []byte // the records of this block that follow
	left    int64  // how many they are
	records int    // how many there were
	size    int    // of all blocks, decompressed
}

// openFile reads a file's header, and returns the text of its schema.
func openFile(data []byte) (f file, schema string, err error) {
	t := transcoder{in: data[len(magic):]}
	err = t.blocks(func() error {
		name, err := t.bytes()
		if err != nil {
			return err
		}
		value, err := t.bytes()
		if err != nil {
			return err
		}
		switch string(name) {
		case "avro.schema":
			schema = string(value)
		case "avro.codec":
			f.codec = string(value)
		}
		return nil
	})
	if err == nil {
		f.sync, err = t.take(syncBytes)
	}
	if err != nil {
		return f, "", fmt.Errorf("reading the file's header: %w", err)
	}
	if schema == "" {
		return f, "", errors.New("reading the file's header: it has no avro.schema")
	}
	f.rest = t.rest()
	return f, schema, nil
}

// next reads blocks until there is one with records. It returns false at the
// file's end.
func (f *file) next() (bool, error) {
	for f.left == 0 {
		if len(f.block) > 0 {
			return false, errors.New("a block of the file has bytes after its records")
		}
		if len(f.rest) == 0 {
			return false, nil
		}
		if err := f.read(); err != nil {
			return false, fmt.Errorf("reading a block of the file: %w", err)
		}
	}
	f.left--
	if f.records++; f.records > maxRecords {
		return false, fmt.Errorf("the file has more than %d records", maxRecords)
	}
	return true, nil
}

// read reads the next block.
func (f *file) read() error {
	t := transcoder{in: f.rest}
	n, err := t.long()
	if err != nil {
		return err
	}
	data, err := t.bytes()
	if err != nil {
		return err
	}
	sync, err := t.take(syncBytes)
	switch {
	case err != nil:
		return err
	case n < 0:
		return errors.New("the number of its records is negative")
	case !bytes.Equal(sync, f.sync):
		return errors.New("it does not end with the file's sync marker")
	}
	f.rest = t.rest()
	if f.block, err = f.decompress(data); err != nil {
		return err
	}
	f.size += len(f.block)
	f.left = n
	return nil
}

func (f *file) decompress(data []byte) ([]byte, error) {
	room := maxFileBytes - f.size
	switch f.codec {
	case "", "null":
		return data, nil
	case "deflate":
		b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), int64(room)+1))
		if err != nil {
			return nil, fmt.Errorf("decompressing it: %w", err)
		}
		if len(b) > room {
			return nil, errTooLarge
		}
		return b, nil
	case "snappy":
		return decompressSnappy(data, room)
	}
	return nil, fmt.Errorf("its codec %q is not supported; deflate, snappy and null are", clip(f.codec))
}

// decompressSnappy decompresses a block that ends with the checksum of its
// decompressed bytes.
func decompressSnappy(data []byte, room int) ([]byte, error) {
	const sum = 4
	if len(data) < sum {
		return nil, errShort
	}
	data, checksum := data[:len(data)-sum], binary.BigEndian.Uint32(data[len(data)-sum:])
	n, err := snappy.DecodedLen(data)
	if err == nil && n > room {
		return nil, errTooLarge
	}
	var b []byte
	if err == nil {
		b, err = snappy.Decode(nil, data)
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing it: %w", err)
	}
	if crc32.ChecksumIEEE(b) != checksum {
		return nil, errors.New("decompressing it: the checksum differs")
	}
	return b, nil
}
