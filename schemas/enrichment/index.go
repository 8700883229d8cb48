package enrichment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Index finds the rows of a reference table by their key. It never changes, and is
// safe for any number of goroutines. Rows lie in chunks of bytes, one after the
// other, and the hash table holds where they are: nothing in it is a pointer that
// Go's garbage collector would have to follow.
type Index struct {
	seed    maphash.Seed
	entries []uint64 // open addressing: the hash's top bits and the row's place + 1; 0 is free
	chunks  [][]byte
	rows    int
}

// A place is a chunk and an offset in it; an entry has the upper bits for the hash.
const (
	chunkBits = 20
	placeBits = 40
	chunkSize = 1 << chunkBits
	placeMask = 1<<placeBits - 1
)

// maxIndexBytes bounds the rows of one reference table: it is in the memory of each
// worker, twice while it is read again.
const maxIndexBytes = 1 << 30

// Rows returns how many rows the reference has, those with a NULL in their key left out.
func (x *Index) Rows() int { return x.rows }

// Bytes returns about how much memory it takes.
func (x *Index) Bytes() int { return 8*len(x.entries) + len(x.chunks)*chunkSize }

// Find puts the row's carried values into dst, and returns false where there is no
// row with the key. The values share the index's memory.
func (x *Index) Find(key []byte, dst []change.Value) bool {
	carried, found := x.find(key)
	if !found {
		return false
	}
	_, err := change.ReadValues(carried, dst)
	return err == nil // a Builder wrote them
}

// row returns the chunk from the row's place on.
func (x *Index) row(place uint64) []byte { return x.chunks[place>>chunkBits][place&(chunkSize-1):] }

// keyAt returns the key of the row at a place, and the chunk after it.
func (x *Index) keyAt(place uint64) (key, carried []byte) {
	row := x.row(place)
	n, size := binary.Uvarint(row)
	end := size + int(n)
	return row[size:end], row[end:]
}

// find returns the carried values of the row with the key, and what follows them.
func (x *Index) find(key []byte) (carried []byte, found bool) {
	if len(x.entries) == 0 {
		return nil, false
	}
	hash := maphash.Bytes(x.seed, key)
	mask := uint64(len(x.entries) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		entry := x.entries[i]
		if entry == 0 {
			return nil, false
		}
		if entry>>placeBits != hash>>placeBits {
			continue
		}
		if k, carried := x.keyAt(entry&placeMask - 1); bytes.Equal(k, key) {
			return carried, true
		}
	}
}

// insert notes a row that is not there yet.
func (x *Index) insert(hash, place uint64) {
	mask := uint64(len(x.entries) - 1)
	i := hash & mask
	for x.entries[i] != 0 {
		i = (i + 1) & mask
	}
	x.entries[i] = hash>>placeBits<<placeBits | place + 1
}

// grow doubles the hash table where it is three quarters full.
func (x *Index) grow() {
	if 4*(x.rows+1) <= 3*len(x.entries) {
		return
	}
	old := x.entries
	x.entries = make([]uint64, max(64, 2*len(old)))
	for _, entry := range old {
		if entry != 0 {
			place := entry&placeMask - 1
			key, _ := x.keyAt(place)
			x.insert(maphash.Bytes(x.seed, key), place)
		}
	}
}

// Reference says what of a reference table is joined: its columns, and how those of
// the key compare. It is marshalled to JSON: what is equal is loaded once.
type Reference struct {
	Key     []table.Column `json:"key"`     // the reference's names, with the types by which they compare
	Texts   []bool         `json:"texts"`   // by column of the key: its type is not known, so that values' texts compare
	Columns []string       `json:"columns"` // that are carried
}

// Names returns the reference's columns that are read: the key's, then the carried ones.
func (r *Reference) Names() []string {
	names := make([]string, 0, len(r.Key)+len(r.Columns))
	for i := range r.Key {
		names = append(names, r.Key[i].Name)
	}
	return append(names, r.Columns...)
}

// keyNames returns the key's columns for an error.
func (r *Reference) keyNames() string { return strings.Join(r.Names()[:len(r.Key)], ", ") }

// Builder makes an Index of a reference's rows.
type Builder struct {
	reference *Reference
	keys      *keyEncoder
	index     *Index
	read      int // rows, those left out included
	key, row  []byte
}

// NewBuilder returns a builder of an empty index.
func NewBuilder(r *Reference) (*Builder, error) {
	keys, err := newKeyEncoder(r.Key, r.Texts)
	if err != nil {
		return nil, err
	}
	return &Builder{reference: r, keys: keys, index: &Index{seed: maphash.MakeSeed()}}, nil
}

// Add adds a row: its values in the order of [Reference.Names], of which it keeps
// nothing. A row whose key has a NULL equals none, and is left out. The error says
// which row it is about, and holds no value of it.
func (b *Builder) Add(values []change.Value) error {
	b.read++
	if len(values) != len(b.reference.Key)+len(b.reference.Columns) {
		return fmt.Errorf("row %d: it has %d values where %d are asked for", b.read, len(values), len(b.reference.Key)+len(b.reference.Columns))
	}
	var null bool
	var err error
	if b.key, null, err = b.keys.append(b.key[:0], values[:len(b.reference.Key)]); err != nil {
		return fmt.Errorf("row %d: %w", b.read, err)
	}
	if null {
		return nil
	}
	if _, found := b.index.find(b.key); found {
		return fmt.Errorf("row %d: there is another row with the same key (%s): a lookup must find one", b.read, b.reference.keyNames())
	}
	b.row = append(binary.AppendUvarint(b.row[:0], uint64(len(b.key))), b.key...)
	for i := len(b.reference.Key); i < len(values); i++ {
		b.row = change.AppendValue(b.row, &values[i])
	}
	place, err := b.place(b.row)
	if err != nil {
		return fmt.Errorf("row %d: %w", b.read, err)
	}
	b.index.grow()
	b.index.insert(maphash.Bytes(b.index.seed, b.key), place)
	b.index.rows++
	return nil
}

var errTooLarge = errors.New("the reference's key and columns take more than a gigabyte: join less of it, or in BigQuery")

// place copies the row into a chunk.
func (b *Builder) place(row []byte) (uint64, error) {
	if len(row) > chunkSize {
		return 0, errors.New("its key and columns take more than a megabyte")
	}
	x := b.index
	last := len(x.chunks) - 1
	if last < 0 || len(x.chunks[last])+len(row) > chunkSize {
		if len(x.chunks) >= maxIndexBytes/chunkSize {
			return 0, errTooLarge
		}
		x.chunks = append(x.chunks, make([]byte, 0, chunkSize))
		last++
	}
	place := uint64(last)<<chunkBits | uint64(len(x.chunks[last]))
	x.chunks[last] = append(x.chunks[last], row...)
	return place, nil
}

// Index returns what was built. Add must not be called afterwards.
func (b *Builder) Index() *Index { return b.index }

// keyEncoder makes the bytes by which keys are equal: those of rowproto, of the types
// of the row's columns.
type keyEncoder struct {
	encoder *rowproto.Encoder
	texts   []bool
	columns []change.Column
	text    []byte
}

// newKeyEncoder returns one for columns whose names are the ones that errors tell.
func newKeyEncoder(columns []table.Column, texts []bool) (*keyEncoder, error) {
	t := table.Table{Columns: make([]table.Column, len(columns))}
	k := &keyEncoder{texts: texts, columns: make([]change.Column, len(columns))}
	for i, c := range columns {
		c.Mode, c.BadValues = "", ""
		t.Columns[i] = c
		t.PrimaryKey = append(t.PrimaryKey, c.Name)
		k.columns[i].Name = c.Name
	}
	plan, err := rowproto.Compile(&t)
	if err != nil {
		return nil, unwrapped(err)
	}
	k.encoder = plan.NewEncoder()
	return k, nil
}

// append appends the key of these values; null says that one of them is NULL.
func (k *keyEncoder) append(dst []byte, values []change.Value) (key []byte, null bool, err error) {
	for i := range values {
		v := values[i]
		switch v.Kind() {
		case change.KindNull:
			return dst, true, nil
		case change.KindUnavailable, change.KindInvalid:
			return dst, false, &columnError{k.columns[i].Name, errLeftOut}
		default:
		}
		if k.texts[i] {
			if k.text, err = k.encoder.CanonicalText(k.text[:0], v); err != nil {
				return dst, false, &columnError{k.columns[i].Name, valueError(err)}
			}
			v = change.String(string(k.text))
		}
		k.columns[i].Value = v
	}
	if dst, err = k.encoder.AppendKey(dst, k.columns); err != nil {
		if e, ok := errors.AsType[*rowproto.ValueError](err); ok {
			return dst, false, &columnError{e.Column, valueError(err)}
		}
		return dst, false, err
	}
	return dst, false, nil
}
