package enrichment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func (c *compiler) metadata(columns []table.MetadataColumn) {
	for i, m := range columns {
		key := "metadata." + m.Column
		if !slices.Contains(table.Metadatas, m.Of) {
			c.report(key, fmt.Errorf("%q is none of %s", string(m.Of), strings.Join(metadataWords(), ", ")))
			continue
		}
		if slices.ContainsFunc(columns[:i], func(b table.MetadataColumn) bool { return strings.EqualFold(m.Column, b.Column) }) {
			c.report(key, fmt.Errorf("column %s is there twice", m.Column))
		}
		column, err := c.output(c.step, m.Column)
		c.report(key, cmp.Or(err, readsAgain(column)))
		if column != nil && (column.Type != m.Of.Type() || column.Mode == table.Repeated) {
			c.report(key, fmt.Errorf("%s is a %s, and column %s is %s", m.Of, m.Of.Type(), m.Column, column.SQLType()))
		}
	}
}

func metadataWords() []string {
	words := make([]string, len(table.Metadatas))
	for i, m := range table.Metadatas {
		words[i] = string(m)
	}
	return words
}

// metadataValue returns what is known of a change.
func metadataValue(of table.Metadata, e *change.Event, sequence change.Sequence) change.Value {
	text := func(text string) change.Value {
		if text == "" {
			return change.Null()
		}
		return change.String(text)
	}
	switch of {
	case table.MetadataCommitTime:
		if e.CommitTime.IsZero() {
			return change.Null()
		}
		return change.Timestamp(e.CommitTime.UnixMicro())
	case table.MetadataPublishTime:
		if e.Message.PublishTime.IsZero() {
			return change.Null()
		}
		return change.Timestamp(e.Message.PublishTime.UnixMicro())
	case table.MetadataSequence:
		return text(sequence.String())
	case table.MetadataOperation:
		return text(e.Op.String())
	case table.MetadataPosition:
		if e.Sequence.IsZero() { // Position says then why there is none
			return change.Null()
		}
		return text(e.Position)
	case table.MetadataTransaction:
		return text(e.Transaction)
	case table.MetadataTable:
		return text(e.Table)
	case table.MetadataMessageID:
		return text(e.Message.ID)
	}
	return change.Null()
}
