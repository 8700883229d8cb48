package history

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
)

// images makes the documents of the changes of one version of a table. It is for one
// goroutine.
type images struct {
	after, before *rowproto.Encoder // one each: the two have their own columns
	text          []byte
}

func newImages(plan *rowproto.Plan) *images {
	return &images{after: plan.NewEncoder(), before: plan.NewEncoder()}
}

// columns returns the row of the history that a change makes, and how many columns of
// its before image had a value that the table can't hold. The error is a
// *rowproto.ValueError.
func (m *images) columns(c *change.RowChange, ignoreUnknown bool) (row []change.Column, leftOut int, err error) {
	e := &c.Event
	keyImage, beforeImage, afterImage := change.Null(), change.Null(), change.Null()
	if c.Type != 0 {
		if m.text, err = m.after.AppendKeyImage(m.text[:0], c.Columns); err != nil {
			return nil, 0, err
		}
		keyImage = change.String(string(m.text))
	}
	if c.Type == change.Upsert {
		m.text, err = m.after.AppendImage(m.text[:0], c.Columns, rowproto.ImageOptions{AbsentUnavailable: e.AbsentUnavailable, IgnoreUnknown: ignoreUnknown})
		if err != nil {
			return nil, 0, err
		}
		afterImage = change.JSON(string(m.text))
	}
	if len(e.Before) > 0 {
		m.text, err = m.before.AppendImage(m.text[:0], e.Before, rowproto.ImageOptions{AbsentUnavailable: true, IgnoreUnknown: true, LeftOut: &leftOut})
		if err != nil {
			return nil, 0, err
		}
		beforeImage = change.JSON(string(m.text))
	}
	kind := change.Null()
	if c.Type != 0 {
		kind = change.String(c.Type.String())
	}
	return []change.Column{
		{Name: changeID, Value: change.String(idOf(c))},
		{Name: operation, Value: change.String(e.Op.String())},
		{Name: changeType, Value: kind},
		{Name: sequence, Value: textOrNull(SequenceText(e.Sequence))},
		{Name: commitTime, Value: timeOrNull(e.CommitTime.IsZero(), e.CommitTime.UnixMicro())},
		{Name: publish, Value: timeOrNull(e.Message.PublishTime.IsZero(), e.Message.PublishTime.UnixMicro())},
		{Name: messageID, Value: textOrNull(e.Message.ID)},
		{Name: "source_table", Value: textOrNull(e.Table)},
		{Name: "position", Value: textOrNull(e.Position)},
		{Name: key, Value: keyImage},
		{Name: "before", Value: beforeImage},
		{Name: after, Value: afterImage},
	}, leftOut, nil
}

// idOf returns what identifies the change, whenever it is delivered and in whatever
// message: a hash of the source's table, the key, the sequence, the operation, what it
// did to this key, and the change's place in its message.
func idOf(c *change.RowChange) string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // so that parts don't run together
		h.Write(b)
	}
	part([]byte(c.Event.Table))
	part(c.Key)
	part(c.Event.Sequence.Append(nil))
	part([]byte{byte(c.Event.Op), byte(c.Type)})
	part(binary.AppendUvarint(nil, uint64(c.Event.Part)))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// SequenceText returns a sequence as a history has it: BigQuery's form with each
// section padded to 16 digits, so that the texts of one table compare as its changes
// do. BigQuery takes it as a _CHANGE_SEQUENCE_NUMBER too. "" is no sequence.
func SequenceText(s change.Sequence) string { return s.Padded() }

func timeOrNull(unknown bool, micros int64) change.Value {
	if unknown {
		return change.Null()
	}
	return change.Timestamp(micros)
}

// textOrNull takes a text that came with the message, whatever it holds.
func textOrNull(text string) change.Value {
	if text == "" {
		return change.Null()
	}
	const longest = 1 << 10
	if len(text) > longest {
		text = text[:longest]
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return change.String(text)
}
