package deadletter

import "beamcdc/schemas/change"

// MaxPieceBytes is how much of a message's data one row of a dead-letter table
// holds: an append request takes about 10 MB with everything around it.
const MaxPieceBytes = 8_000_000

// Receipts returns the receipts that together stand for one part of a message:
// every one of them must be released before the part has come to rest. It is
// nil where the runner acks (Token 0).
//
// A message is acked when all its parts have come to rest, and all its receipts
// must agree in how many parts there are, whoever makes them. A part can come to
// rest in several places, though: a changed key makes two rows, a large letter
// is stored in pieces. So a part counts as two units for each piece that its
// letter would need, unless the message holds one change alone and one piece:
// then the part is the unit, until Halves cuts it in two.
func Receipts(m *change.Message, part, parts uint32) []change.Receipt {
	if m.Token == 0 {
		return nil
	}
	pieces := pieceCount(len(m.Data))
	if !Affordable(m, parts) {
		pieces++ // the letter itself, beside the message that it shares with others
	}
	if parts <= 1 && pieces == 1 {
		return []change.Receipt{{Token: m.Token, Part: 0, Parts: 1}}
	}
	units := uint32(2 * pieces)
	receipts := make([]change.Receipt, units)
	for i := range receipts {
		receipts[i] = change.Receipt{Token: m.Token, Part: part*units + uint32(i), Parts: max(parts, 1) * units}
	}
	return receipts
}

// Fork returns the receipts of one part in two lists, for a change that comes to rest
// in two places besides: its table, and the table's history. Both lists together are
// what the other changes of the message have to agree with: those of tables without a
// history have both, and so all of a message have Fork's or all have Receipts'.
func Fork(m *change.Message, part, parts uint32) (row, past []change.Receipt) {
	parts = 2 * max(parts, 1)
	return Receipts(m, 2*part, parts), Receipts(m, 2*part+1, parts)
}

// Halves divides the receipts of one part, as Receipts returned them, among the
// two rows of a changed key. Neither half shares memory that an append to the
// other could write.
func Halves(receipts []change.Receipt) (first, second []change.Receipt) {
	switch len(receipts) {
	case 0:
		return nil, nil
	case 1:
		token := receipts[0].Token
		return []change.Receipt{{Token: token, Part: 0, Parts: 2}}, []change.Receipt{{Token: token, Part: 1, Parts: 2}}
	}
	middle := len(receipts) / 2
	return receipts[:middle:middle], receipts[middle:]
}

// pieceCount returns in how many pieces a table stores data of this length: at least 1.
func pieceCount(size int) int {
	return max(1, (size+MaxPieceBytes-1)/MaxPieceBytes)
}

// shares divides a letter's receipts among its pieces, so that the letter's own
// message (by its token) comes to rest only when every piece is stored.
//
// Receipts of other messages are those of rows that the letter's row had
// superseded; they go with the last piece. Until all pieces are stored the
// letter's own message is delivered again, and makes the same letter again.
func shares(receipts []change.Receipt, token uint64, pieces int) [][]change.Receipt {
	divided := make([][]change.Receipt, pieces)
	own := 0
	for _, r := range receipts {
		i := pieces - 1
		if r.Token == token {
			i = own % pieces
			own++
		}
		divided[i] = append(divided[i], r)
	}
	return divided
}
