package change

import (
	"cmp"
	"slices"
)

// uniteReceipts returns the receipts of both lists.
//
// A key that changes all the time gathers one receipt a change, so adding one
// must not copy those that are there. It goes into the spare capacity of the
// longer list, where no other row has written yet: a slot that is not the zero
// Receipt belongs to a row that was made from this one too, and then the list
// is copied instead.
func uniteReceipts(a, b []Receipt) []Receipt {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) == 0 {
		return a
	}
	need := len(a) + len(b)
	if need <= cap(a) && !slices.ContainsFunc(a[len(a):need], func(r Receipt) bool { return r != Receipt{} }) {
		return append(a, b...)
	}
	// Duplicates are dropped when the list grows: often enough to bound them, and
	// seldom enough to be cheap.
	united := append(append(make([]Receipt, 0, 2*need), a...), b...)
	slices.SortFunc(united, compareReceipts)
	kept := slices.Compact(united) // which zeroes what it frees
	if len(kept) < need/2 {
		kept = append(make([]Receipt, 0, 2*len(kept)), kept...)
	}
	return kept
}

func compareReceipts(a, b Receipt) int {
	return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Parts, b.Parts))
}
