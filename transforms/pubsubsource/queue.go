package pubsubsource

// queue holds what was taken and not yet emitted, first in, first out.
type queue struct {
	items []*delivery
	head  int
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) push(d *delivery) {
	if q.head > 1024 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, d)
}

func (q *queue) pop() *delivery {
	d := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	return d
}
