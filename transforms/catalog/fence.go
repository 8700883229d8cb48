package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Fence is what BigQuery's table says of its source's truncates. It stands in two
// of the table's labels, where every worker and the next run of the pipeline see
// it; whoever takes them away makes the pipeline forget.
type Fence struct {
	// Truncated is the highest sequence at which the source's table was truncated:
	// nothing is left of the changes up to it. Zero for never.
	Truncated change.Sequence
	// Emptied is the highest truncate of which every row is deleted here, too.
	Emptied change.Sequence
	// MaxStaleness is by how much a query of the table may lag behind its rows. A view
	// has none.
	MaxStaleness time.Duration
	// AsOf is a time no later than the one at which BigQuery said so.
	AsOf time.Time

	before string // of a view: the suffix of the table that was behind it before
}

// The labels. A value has at most 63 of a-z, 0-9, _ and -: four sections of 64 bits
// in base 36, joined by _, are 55.
const (
	truncatedLabel = "beamcdc_truncated"
	emptiedLabel   = "beamcdc_emptied"
	labelBase      = 36
)

// The words of a rule's truncates by which they are followed: by a table that has a
// fence, and by a view that has one.
const (
	DeleteKeys = "delete_keys"
	Recreate   = "recreate"
)

// Follows reports whether the rule's tables follow their sources' truncates.
func Follows(rule *table.Rule) bool {
	return rule.Truncates == DeleteKeys || rule.Truncates == Recreate
}

// Fenced reports whether a table, by its full name, can have a fence. Of a worker
// that only writes rows it takes every destination with {schema} or {table} in it
// for one, where any such rule has.
func (c *Catalog) Fenced(name string) bool {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return false
	}
	if rule := c.ruleOf(parsed); rule != nil {
		return rule.Truncates == DeleteKeys
	}
	for i := range c.config.Rules {
		if r := &c.config.Rules[i]; r.Truncates == DeleteKeys && strings.Contains(r.Destination, "{") {
			return true
		}
	}
	return false
}

// Lease is for how long after it was read a fence may be relied on.
func (c *Catalog) Lease() time.Duration { return c.config.FenceLease }

// Fence returns the table's fence as BigQuery had it at asOf or later, from memory
// if that is new enough: all who ask at one time share one read. A table that does
// not exist has none. An error is an [*Error].
func (c *Catalog) Fence(ctx context.Context, name string, asOf time.Time) (Fence, error) {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return Fence{}, &Error{Permanent: true, Err: err}
	}
	for {
		if f, known := c.knownFence(parsed); known && !earlier(f.AsOf, asOf) {
			return f, nil
		}
		flight := c.flight.DoChan("fence of "+parsed.String(), func() (any, error) {
			if f, known := c.knownFence(parsed); known && !earlier(f.AsOf, asOf) {
				return nil, nil
			}
			_, _, err := c.readFence(context.WithoutCancel(ctx), parsed)
			return nil, err
		})
		select {
		case read := <-flight: // begun too early, perhaps
			if read.Err != nil {
				return Fence{}, read.Err
			}
		case <-ctx.Done():
			return Fence{}, &Error{Table: parsed, Err: fmt.Errorf("table %v: reading its labels: %w", parsed, context.Cause(ctx))}
		}
	}
}

// RaiseFence sets the table's fence to the sequence, unless it is as high, and
// returns it as it then is. The table must exist.
func (c *Catalog) RaiseFence(ctx context.Context, name table.Name, s change.Sequence) (Fence, error) {
	return c.moveFence(ctx, name, truncatedLabel, s, func(f *Fence) *change.Sequence { return &f.Truncated })
}

// MarkEmptied notes that the rows below a truncate's sequence are deleted.
func (c *Catalog) MarkEmptied(ctx context.Context, name table.Name, s change.Sequence) (Fence, error) {
	return c.moveFence(ctx, name, emptiedLabel, s, func(f *Fence) *change.Sequence { return &f.Emptied })
}

// moveFence raises one of the labels to the sequence.
func (c *Catalog) moveFence(ctx context.Context, name table.Name, label string, s change.Sequence, field func(*Fence) *change.Sequence) (Fence, error) {
	return c.changeFence(ctx, name, label, func(f *Fence, update *bigquery.TableMetadataToUpdate) (changes bool, err error) {
		if field(f).Compare(s) >= 0 {
			return false, nil
		}
		*field(f) = s
		update.SetLabel(label, labelOf(s))
		return true, nil
	})
}

// changeFence has the table's fence changed, by an update that sets the label among
// others, unless there is nothing to change. Between a reading and its writing nobody
// else can have changed the table: the ETag says so.
func (c *Catalog) changeFence(
	ctx context.Context, name table.Name, label string, change func(*Fence, *bigquery.TableMetadataToUpdate) (changes bool, err error),
) (Fence, error) {
	const tries = 20 // others change the table seldom: BigQuery takes five updates in ten seconds
	for range tries {
		f, etag, err := c.readFence(ctx, name)
		if err != nil {
			return Fence{}, err
		}
		if etag == "" {
			return Fence{}, permanently(name, "table %v: setting its label %s: %w", name, label, errMissing)
		}
		var update bigquery.TableMetadataToUpdate
		changes, err := change(&f, &update)
		if err != nil || !changes {
			return f, err
		}
		asOf := time.Now()
		call, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
		_, err = c.client.DatasetInProject(name.Project, name.Dataset).Table(name.Table).Update(call, update, etag)
		cancel()
		switch {
		case err == nil:
			f.AsOf = asOf
			c.keepFence(name, f)
			return f, nil
		case hasCode(err, http.StatusPreconditionFailed): // someone else was faster
		default:
			return Fence{}, classify(name, "setting its label "+label, err)
		}
	}
	return Fence{}, &Error{Table: name, Err: fmt.Errorf("table %v: setting its label %s: others changed it %d times meanwhile", name, label, tries)}
}

// readFence reads the table's fence, and the table's ETag: "" of one that doesn't exist.
func (c *Catalog) readFence(ctx context.Context, name table.Name) (f Fence, etag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	f.AsOf = time.Now()
	m, err := c.client.DatasetInProject(name.Project, name.Dataset).Table(name.Table).
		Metadata(ctx, bigquery.WithMetadataView(bigquery.BasicMetadataView))
	if err != nil {
		if err := classify(name, "reading its labels", err); !errors.Is(err, errMissing) {
			return Fence{}, "", err
		}
		c.keepFence(name, f)
		return f, "", nil
	}
	for label, sequence := range map[string]*change.Sequence{truncatedLabel: &f.Truncated, emptiedLabel: &f.Emptied} {
		text, labelled := m.Labels[label]
		if !labelled {
			continue
		}
		if *sequence, err = sequenceOf(text); err != nil {
			return Fence{}, "", permanently(name, "table %v: its label %s is not the pipeline's: %w; remove it", name, label, err)
		}
	}
	f.before = m.Labels[beforeLabel]
	if m.MaxStaleness != nil {
		f.MaxStaleness = fromInterval(m.MaxStaleness)
	}
	c.keepFence(name, f)
	return f, m.ETag, nil
}

func (c *Catalog) knownFence(name table.Name) (f Fence, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, known = c.fences[name.String()]
	return f, known
}

// keepFence keeps the fence unless what is known is newer.
func (c *Catalog) keepFence(name table.Name, f Fence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, known := c.fences[name.String()]; !known || before.AsOf.Before(f.AsOf) {
		c.fences[name.String()] = f
	}
}

// earlier reports whether a is earlier than b, by either of the machine's clocks:
// the monotonic one, which Go compares by, stands still while a machine sleeps.
func earlier(a, b time.Time) bool { return a.Before(b) || a.Round(0).Before(b.Round(0)) }

// labelOf returns the sequence as a label's value.
func labelOf(s change.Sequence) string {
	var sections []string
	for _, section := range s.Sections() {
		sections = append(sections, strconv.FormatUint(section, labelBase))
	}
	return strings.Join(sections, "_")
}

// sequenceOf is labelOf's inverse.
func sequenceOf(label string) (change.Sequence, error) {
	texts := strings.Split(label, "_")
	if len(texts) > change.MaxSections {
		return change.Sequence{}, fmt.Errorf("it has %d sections, more than %d", len(texts), change.MaxSections)
	}
	sections := make([]uint64, len(texts))
	for i, text := range texts {
		var err error
		if sections[i], err = strconv.ParseUint(text, labelBase, 64); err != nil {
			return change.Sequence{}, fmt.Errorf("section %d of it is no number in base %d", i+1, labelBase)
		}
	}
	return change.NewSequence(sections...), nil
}
