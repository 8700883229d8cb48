package bqcdc

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"beamcdc/schemas/change"
)

// Rows wait many together: a row each would make a state that takes a call for every row.
// A chunk begins with a byte that no coded row begins with, by which rows that an earlier
// version let wait alone are told.
const (
	chunkMark  = 0x40
	chunkBytes = 1 << 20 // at which a chunk is complete
)

// chunks codes rows and hands them to put, by table.
func chunks(rows []change.Row, put func(table string, chunk []byte)) {
	var chunk, row []byte
	for i := range rows {
		if chunk == nil {
			chunk = append(chunk, chunkMark)
		}
		row = change.AppendRow(row[:0], &rows[i])
		chunk = protowire.AppendBytes(chunk, row)
		if i == len(rows)-1 || rows[i+1].Table != rows[i].Table || len(chunk) >= chunkBytes {
			put(rows[i].Table, chunk)
			chunk = nil
		}
	}
}

// rowsOfChunk hands a chunk's rows to take, until that fails.
func rowsOfChunk(chunk []byte, take func(*change.Row) error) error {
	one := func(coded []byte) error {
		row, err := change.ReadRow(coded)
		if err != nil {
			return err
		}
		return take(&row)
	}
	if len(chunk) > 0 && chunk[0] != chunkMark {
		return one(chunk)
	}
	for rest := chunk[min(1, len(chunk)):]; len(rest) > 0; {
		coded, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return errors.New("the rows that wait are cut short")
		}
		if err := one(coded); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}
