package diff

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// maxRun is how many bytes of rows are sorted in memory.
const maxRun = 64 << 20

// runs sorts texts by their keys in bounded memory: what is beyond a bound is kept
// in temporary files, each of them sorted, which are merged as they are read.
type runs struct {
	bound int
	size  int
	texts []keyed
	files []*os.File
}

type keyed struct {
	order string
	text  []byte
}

func newRuns(bound int) *runs { return &runs{bound: bound} }

func (r *runs) add(order string, text []byte) error {
	r.texts = append(r.texts, keyed{order, text})
	if r.size += len(order) + len(text) + 64; r.size < r.bound {
		return nil
	}
	return r.spill()
}

func byOrder(a, b keyed) int { return cmp.Compare(a.order, b.order) }

// spill writes what is in memory to a file of its own.
func (r *runs) spill() error {
	slices.SortStableFunc(r.texts, byOrder)
	file, err := os.CreateTemp("", "cdc-diff-*")
	if err != nil {
		return fmt.Errorf("sorting the rows: %w", err)
	}
	_ = os.Remove(file.Name()) // where that can be done, nothing is left over whatever happens
	r.files = append(r.files, file)
	w := bufio.NewWriter(file)
	for _, t := range r.texts {
		for _, part := range [][]byte{[]byte(t.order), t.text} {
			_, _ = w.Write(binary.AppendUvarint(nil, uint64(len(part)))) // Flush tells
			_, _ = w.Write(part)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting the rows: %w", err)
	}
	r.texts, r.size = nil, 0
	return nil
}

// each calls f with all texts in the order of their keys. io.EOF of f ends it.
func (r *runs) each(f func(order string, text []byte) error) error {
	slices.SortStableFunc(r.texts, byOrder)
	merged := &merge{}
	for i, file := range r.files {
		all := io.NewSectionReader(file, 0, math.MaxInt64) // rows may be read while others are
		if err := merged.begin(&run{place: i, file: bufio.NewReader(all)}); err != nil {
			return err
		}
	}
	if err := merged.begin(&run{place: len(r.files), texts: r.texts}); err != nil {
		return err
	}
	for len(*merged) > 0 {
		first := (*merged)[0]
		if err := f(first.at.order, first.at.text); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch err := first.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(merged)
		case err != nil:
			return err
		default:
			heap.Fix(merged, 0)
		}
	}
	return nil
}

func (r *runs) close() {
	for _, file := range r.files {
		_ = file.Close()
		_ = os.Remove(file.Name()) // where it could not be done before
	}
}

// run is one sorted list, in memory or in a file.
type run struct {
	place int // among the runs: of equal keys the one that was added first comes first
	at    keyed
	texts []keyed
	file  *bufio.Reader
}

// next goes to the run's next text, io.EOF after the last.
func (r *run) next() error {
	if r.file == nil {
		if len(r.texts) == 0 {
			return io.EOF
		}
		r.at, r.texts = r.texts[0], r.texts[1:]
		return nil
	}
	order, err := r.part()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err == nil {
		r.at.order = string(order)
		r.at.text, err = r.part()
	}
	if err != nil {
		return fmt.Errorf("reading the sorted rows: %w", err)
	}
	return nil
}

func (r *run) part() ([]byte, error) {
	n, err := binary.ReadUvarint(r.file)
	if err != nil {
		return nil, err
	}
	part := make([]byte, n)
	_, err = io.ReadFull(r.file, part)
	return part, err
}

// merge is a heap of runs by the text that each is at.
type merge []*run

func (m *merge) begin(r *run) error {
	switch err := r.next(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	heap.Push(m, r)
	return nil
}

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(m[i].at.order, m[j].at.order), cmp.Compare(m[i].place, m[j].place)) < 0
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)   { *m = append(*m, x.(*run)) } //nolint:forcetypeassert // heap gives back what it was given
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
