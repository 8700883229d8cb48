package diff

import (
	"context"
	"errors"
	"time"
)

// Options say how to compare. A zero value means the default.
type Options struct {
	// Chunk is how many of the source's rows a range has at first. Defaults to 10,000.
	Chunk int
	// Page is how many rows are read and compared at a time. Defaults to 1,000 where
	// ranges are hashed, else to Chunk.
	Page int
	// Batch is how many differences are looked at again together. Defaults to 10,000.
	Batch int
	// Recheck is the pause before what differs is looked at again; 0 is no second look.
	Recheck time.Duration
	// Progress is told what has been compared.
	Progress func(Progress)
	// Found gets the differences that last, a batch at a time.
	Found func(context.Context, []Difference) error
}

// Progress is how far a comparison is.
type Progress struct {
	Rows        int64 // of the source's, so far
	Read        int64 // rows of either side that were read, and not only hashed
	Differences int64 // that last
	Looking     int   // how many are about to be looked at again, after the pause
}

// The defaults of [Options].
const (
	defaultChunk = 10_000
	defaultPage  = 1_000
	defaultBatch = 10_000
)

// chunksAtOnce is how many ranges a query of BigQuery's hashes. Each takes its bounds
// as parameters.
const chunksAtOnce = 64

// Target is BigQuery's side: *[BigQuery].
type Target interface {
	Sums(ctx context.Context, after Key, bounds []Key) ([]Sum, error)
	Rows(ctx context.Context, r Range, each func(Row) error) error
	Lookup(ctx context.Context, keys []Key) ([]Row, error)
}

// Comparer compares a source with its table in BigQuery.
type Comparer struct {
	Table    *Table
	Source   Source
	BigQuery Target
	Options

	progress Progress
	pending  []Difference
	pause    func(ctx context.Context, d time.Duration) error // for tests; nil to sleep
}

// Run compares the whole table, and tells in the end what it took.
func (c *Comparer) Run(ctx context.Context) (Progress, error) {
	if c.Chunk <= 0 {
		c.Chunk = defaultChunk
	}
	if c.Batch <= 0 {
		c.Batch = defaultBatch
	}
	hashed := c.Source.Unhashed() == ""
	if c.Page <= 0 {
		c.Page = defaultPage
		if !hashed {
			c.Page = c.Chunk
		}
	}
	var err error
	if hashed {
		err = c.hash(ctx, Range{}, c.Chunk, true)
	} else {
		err = c.rows(ctx, Range{}, true)
	}
	if err == nil {
		err = c.settle(ctx)
	}
	return c.progress, err
}

// hash compares a range by ranges of so many of the source's rows. Those that differ
// are compared by smaller ones.
func (c *Comparer) hash(ctx context.Context, r Range, size int, outermost bool) error {
	for done := false; !done; {
		var bounds []Key
		var sums []Sum
		after := r.After
		for at := after; len(bounds) < chunksAtOnce && !done; {
			bound, err := c.Source.Bound(ctx, Range{at, r.UpTo}, size)
			if err != nil {
				return err
			}
			if bound.IsZero() {
				bound, done = r.UpTo, true
			}
			sum, err := c.Source.Sum(ctx, Range{at, bound})
			if err != nil {
				return err
			}
			bounds, sums = append(bounds, bound), append(sums, sum)
			at = bound
			if outermost {
				c.progress.Rows += sum.Rows
			}
		}
		r.After = bounds[len(bounds)-1]
		others, err := c.BigQuery.Sums(ctx, after, bounds)
		if err != nil {
			return err
		}
		for i, bound := range bounds {
			if sums[i] != others[i] {
				if err := c.split(ctx, Range{after, bound}, size, max(sums[i].Rows, others[i].Rows)); err != nil {
					return err
				}
			}
			after = bound
		}
		c.tell()
	}
	return nil
}

// split compares a range that differs: its rows where they are few, or where the
// source has few, else its parts.
func (c *Comparer) split(ctx context.Context, r Range, size int, rows int64) error {
	if size <= c.Page || rows <= int64(c.Page) {
		return c.rows(ctx, r, false)
	}
	return c.hash(ctx, r, max(c.Page, size/16), false)
}

// rows compares a range row by row, a page of the source's at a time.
func (c *Comparer) rows(ctx context.Context, r Range, outermost bool) error {
	after, page := r.After, []Row(nil)
	flush := func(upTo Key) error {
		if err := c.page(ctx, Range{after, upTo}, page); err != nil {
			return err
		}
		if outermost {
			c.progress.Rows += int64(len(page))
			c.tell()
		}
		after, page = upTo, page[:0]
		return nil
	}
	err := c.Source.Rows(ctx, r, func(row Row) error {
		if len(page) > 0 && page[len(page)-1].Key.Compare(row.Key) >= 0 {
			return errTwice
		}
		page = append(page, row)
		if len(page) < c.Page {
			return nil
		}
		return flush(row.Key)
	})
	if err != nil {
		return err
	}
	return flush(r.UpTo)
}

var errTwice = errors.New("the source gives two rows with one key, or not in the order of the keys: the primary key of BigQuery's table is no key there")

// page compares the source's rows of a range with BigQuery's.
func (c *Comparer) page(ctx context.Context, r Range, page []Row) error {
	c.progress.Read += int64(len(page))
	err := c.BigQuery.Rows(ctx, r, func(other Row) error {
		c.progress.Read++
		for len(page) > 0 && page[0].Key.Compare(other.Key) < 0 {
			if err := c.found(ctx, c.judge(&page[0], nil)); err != nil {
				return err
			}
			page = page[1:]
		}
		if len(page) == 0 || page[0].Key.Compare(other.Key) > 0 {
			return c.found(ctx, c.judge(nil, &other))
		}
		err := c.found(ctx, c.judge(&page[0], &other))
		page = page[1:]
		return err
	})
	for i := range page {
		if err == nil {
			err = c.found(ctx, c.judge(&page[i], nil))
		}
	}
	return err
}

// judge compares two rows of one key, of which one may be nil; it returns nil where
// they are equal. It keeps them.
func (c *Comparer) judge(source, other *Row) *Difference {
	d := &Difference{source: source, bigquery: other}
	switch {
	case source == nil && other == nil:
		return nil
	case source == nil:
		d.Kind, d.Key = Extra, other.Key
	case source.Refused != nil:
		d.Kind, d.Key, d.Reason = Refused, source.Key, source.Refused.Reason
		if source.Refused.Column != "" {
			d.Columns = []string{source.Refused.Column}
		}
	case other == nil:
		d.Kind, d.Key = Missing, source.Key
	default:
		d.Kind, d.Key, d.Columns = Different, source.Key, c.Table.Differing(source, other)
		if len(d.Columns) == 0 {
			return nil
		}
	}
	return d
}

func (c *Comparer) tell() {
	if c.Options.Progress != nil {
		c.Options.Progress(c.progress)
	}
}
