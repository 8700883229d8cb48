package rowproto

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"beamcdc/schemas/table"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// fingerprint hashes the descriptor, and what it doesn't show: a NUMERIC and a
// STRING are both strings to protobuf. How values become bytes (From, a policy)
// is left out: bytes that are there already read the same. So is what a table may
// be altered in without changing how they read: REQUIRED or not, the parameters of
// a type, and which of the two decimals it is. Rows that are on their way then need
// no explanation.
func fingerprint(d *descriptorpb.DescriptorProto, t *table.Table) (uint64, error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	if err != nil {
		return 0, fmt.Errorf("marshalling its descriptor: %w", err)
	}
	h := sha256.New()
	hashPart(h, string(bytes))
	hashColumns(h, t.Columns)
	hashPart(h, fmt.Sprint(len(t.PrimaryKey)))
	for _, name := range t.PrimaryKey {
		hashPart(h, fold(name))
	}
	return binary.BigEndian.Uint64(h.Sum(nil)), nil
}

func hashColumns(h hash.Hash, columns []table.Column) {
	hashPart(h, fmt.Sprint(len(columns)))
	for i := range columns {
		c := &columns[i]
		typ := c.Type
		if typ == table.BigNumeric {
			typ = table.Numeric
		}
		hashPart(h, c.Name)
		hashPart(h, string(typ))
		hashPart(h, string(c.Element))
		hashColumns(h, c.Fields)
	}
}

// hashPart hashes a text with its length before it, so that parts don't run together.
func hashPart(h hash.Hash, text string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(text))))
	h.Write([]byte(text))
}
