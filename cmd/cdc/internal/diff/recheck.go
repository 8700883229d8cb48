package diff

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// looks is how often a difference is looked at again.
const looks = 2

// found keeps a difference, and looks at all again when there are enough.
func (c *Comparer) found(ctx context.Context, d *Difference) error {
	if d == nil {
		return nil
	}
	kept := *d // its rows are of pages that are used again
	if d.source != nil {
		source := *d.source
		kept.source = &source
	}
	c.pending = append(c.pending, kept)
	if len(c.pending) < c.Batch {
		return nil
	}
	return c.settle(ctx)
}

// settle looks at what differs again, and hands on what still does.
func (c *Comparer) settle(ctx context.Context) error {
	pending := c.pending
	c.pending = nil
	for look := 0; look < looks && c.Recheck > 0 && len(pending) > 0; look++ {
		c.progress.Looking = len(pending)
		c.tell()
		c.progress.Looking = 0
		if err := c.wait(ctx); err != nil {
			return err
		}
		var err error
		if pending, err = c.again(ctx, pending); err != nil {
			return err
		}
	}
	if len(pending) == 0 {
		return nil
	}
	slices.SortFunc(pending, func(a, b Difference) int { return a.Key.Compare(b.Key) })
	c.progress.Differences += int64(len(pending))
	if c.Found == nil {
		return nil
	}
	return c.Found(ctx, pending)
}

// again looks at differing rows once more. The source is asked first: what BigQuery
// has then is what the source has, or had at the look before, where all is well.
func (c *Comparer) again(ctx context.Context, pending []Difference) ([]Difference, error) {
	keys := make([]Key, len(pending))
	for i := range pending {
		keys[i] = pending[i].Key
	}
	source, err := lookup(ctx, c.Source.Lookup, keys)
	if err != nil {
		return nil, err
	}
	other, err := lookup(ctx, c.BigQuery.Lookup, keys)
	if err != nil {
		return nil, err
	}
	var still []Difference
	for i := range pending {
		before, now, there := pending[i].source, source[keys[i].order], other[keys[i].order]
		d := c.judge(now, there)
		if d == nil {
			continue
		}
		if c.same(before, there) { // what differed has come, and what changed since is on its way
			continue
		}
		d.Moving = !c.same(before, now)
		still = append(still, *d)
	}
	return still, nil
}

// same reports whether two rows, each of which may be nil, are equal.
func (c *Comparer) same(a, b *Row) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Refused != nil || b.Refused != nil {
		return a.Refused != nil && b.Refused != nil
	}
	return len(c.Table.Differing(a, b)) == 0
}

func lookup(ctx context.Context, ask func(context.Context, []Key) ([]Row, error), keys []Key) (map[string]*Row, error) {
	rows, err := ask(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("looking at %d rows that differ again: %w", len(keys), err)
	}
	byKey := make(map[string]*Row, len(rows))
	for i := range rows {
		byKey[rows[i].Key.order] = &rows[i]
	}
	return byKey, nil
}

func (c *Comparer) wait(ctx context.Context) error {
	if c.pause != nil {
		return c.pause(ctx, c.Recheck)
	}
	select {
	case <-time.After(c.Recheck):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
