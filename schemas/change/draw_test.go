package change_test

import (
	"time"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

func drawBytes() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		b := rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")
		if len(b) == 0 {
			return nil
		}
		return b
	})
}

func drawTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "zero time") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64().Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	})
}

func drawMessage() *rapid.Generator[change.Message] {
	return rapid.Custom(func(t *rapid.T) change.Message {
		attributes := rapid.MapOfN(rapid.StringN(0, 5, 10), rapid.StringN(0, 5, 10), 0, 4).Draw(t, "attributes")
		if len(attributes) == 0 {
			attributes = nil
		}
		return change.Message{
			ID:          rapid.StringN(0, 5, 10).Draw(t, "ID"),
			Data:        drawBytes().Draw(t, "data"),
			Attributes:  attributes,
			OrderingKey: rapid.StringN(0, 5, 10).Draw(t, "ordering key"),
			PublishTime: drawTime().Draw(t, "publish time"),
			Token:       rapid.Uint64().Draw(t, "token"),
			Replays:     rapid.Uint32().Draw(t, "replays"),
			DataLeftOut: rapid.Bool().Draw(t, "data left out"),
		}
	})
}

func drawSequence() *rapid.Generator[change.Sequence] {
	return rapid.Custom(func(t *rapid.T) change.Sequence {
		sections := rapid.SliceOfN(rapid.Uint64(), 0, change.MaxSections).Draw(t, "sections")
		if len(sections) == 0 {
			return change.Sequence{}
		}
		return change.NewSequence(sections...)
	})
}

func drawColumns(depth int) *rapid.Generator[[]change.Column] {
	return rapid.Custom(func(t *rapid.T) []change.Column {
		if rapid.Bool().Draw(t, "nil columns") {
			return nil
		}
		columns := make([]change.Column, rapid.IntRange(0, 3).Draw(t, "columns"))
		for i := range columns {
			columns[i] = change.Column{
				Name:  rapid.StringN(0, 3, 6).Draw(t, "name"),
				Value: drawValue(depth).Draw(t, "value"),
			}
		}
		return columns
	})
}

func drawValue(depth int) *rapid.Generator[change.Value] {
	return rapid.Custom(func(t *rapid.T) change.Value {
		kinds := rapid.SampledFrom([]change.Kind{
			change.KindNull, change.KindUnavailable, change.KindBool, change.KindInt64, change.KindUint64, change.KindFloat64,
			change.KindDecimal, change.KindString, change.KindBytes, change.KindDate, change.KindTime, change.KindDateTime,
			change.KindTimestamp, change.KindInterval, change.KindJSON, change.KindArray, change.KindStruct,
			change.KindNumber, change.KindText, change.KindRaw,
		})
		text := func() string { return rapid.StringN(0, 5, 20).Draw(t, "text") }
		number := func() int64 { return rapid.Int64().Draw(t, "number") }
		kind := kinds.Draw(t, "kind")
		if depth == 0 && (kind == change.KindArray || kind == change.KindStruct) {
			kind = change.KindNull
		}
		switch kind {
		case change.KindUnavailable:
			return change.Unavailable()
		case change.KindBool:
			return change.Bool(rapid.Bool().Draw(t, "bool"))
		case change.KindInt64:
			return change.Int64(number())
		case change.KindUint64:
			return change.Uint64(uint64(number()))
		case change.KindFloat64:
			return change.Float64(rapid.Float64().Draw(t, "float"))
		case change.KindDecimal:
			return change.Decimal(text())
		case change.KindString:
			return change.String(text())
		case change.KindBytes:
			return change.Bytes(string(drawBytes().Draw(t, "bytes")))
		case change.KindDate:
			return change.Date(number())
		case change.KindTime:
			return change.Time(number())
		case change.KindDateTime:
			return change.DateTime(number())
		case change.KindTimestamp:
			return change.Timestamp(number())
		case change.KindInterval:
			return change.Interval(text())
		case change.KindJSON:
			return change.JSON(text())
		case change.KindArray:
			return change.Array(drawColumns(depth-1).Draw(t, "elements"))
		case change.KindStruct:
			return change.Struct(drawColumns(depth-1).Draw(t, "fields"))
		case change.KindNumber:
			return change.Number(text())
		case change.KindText:
			return change.Text(text())
		case change.KindRaw:
			return change.Raw(text())
		default:
			return change.Null()
		}
	})
}

func drawEvent() *rapid.Generator[change.Event] {
	return rapid.Custom(func(t *rapid.T) change.Event {
		return change.Event{
			Message:           drawMessage().Draw(t, "message"),
			Part:              rapid.Uint32().Draw(t, "part"),
			Parts:             rapid.Uint32().Draw(t, "parts"),
			Table:             rapid.StringN(0, 5, 10).Draw(t, "table"),
			Op:                change.Op(rapid.Uint8Range(0, uint8(change.OpTruncate)).Draw(t, "op")),
			Tombstone:         rapid.Bool().Draw(t, "tombstone"),
			Key:               drawColumns(1).Draw(t, "key"),
			Before:            drawColumns(2).Draw(t, "before"),
			BeforeComplete:    rapid.Bool().Draw(t, "before complete"),
			After:             drawColumns(2).Draw(t, "after"),
			AbsentUnavailable: rapid.Bool().Draw(t, "absent unavailable"),
			Partial:           rapid.Bool().Draw(t, "partial"),
			MovedFrom:         drawColumns(1).Draw(t, "moved from"),
			MovedTo:           drawColumns(1).Draw(t, "moved to"),
			Sequence:          drawSequence().Draw(t, "sequence"),
			Position:          rapid.StringN(0, 5, 10).Draw(t, "position"),
			Transaction:       rapid.StringN(0, 5, 10).Draw(t, "transaction"),
			CommitTime:        drawTime().Draw(t, "commit time"),
		}
	})
}

func drawReceipt() *rapid.Generator[change.Receipt] {
	return rapid.Custom(func(t *rapid.T) change.Receipt {
		return change.Receipt{
			Token: rapid.Uint64().Draw(t, "token"),
			Part:  rapid.Uint32().Draw(t, "part"),
			Parts: rapid.Uint32().Draw(t, "parts"),
		}
	})
}

func drawRow() *rapid.Generator[change.Row] {
	return rapid.Custom(func(t *rapid.T) change.Row {
		receipts := rapid.SliceOfN(drawReceipt(), 0, 4).Draw(t, "receipts")
		if len(receipts) == 0 {
			receipts = nil
		}
		return change.Row{
			Table:           rapid.StringN(0, 5, 10).Draw(t, "table"),
			Schema:          rapid.Uint64().Draw(t, "schema"),
			Key:             drawBytes().Draw(t, "key"),
			Type:            change.Type(rapid.Uint8Range(0, uint8(change.Delete)).Draw(t, "type")),
			Sequence:        drawSequence().Draw(t, "sequence"),
			Data:            drawBytes().Draw(t, "data"),
			CommitTime:      drawTime().Draw(t, "commit time"),
			Message:         drawMessage().Draw(t, "message"),
			Receipts:        receipts,
			Superseded:      rapid.Uint64().Draw(t, "superseded"),
			SupersededBytes: rapid.Uint64().Draw(t, "superseded bytes"),
		}
	})
}

func drawRowChange() *rapid.Generator[change.RowChange] {
	return rapid.Custom(func(t *rapid.T) change.RowChange {
		receipts := rapid.SliceOfN(drawReceipt(), 0, 4).Draw(t, "receipts")
		if len(receipts) == 0 {
			receipts = nil
		}
		return change.RowChange{
			Event:     drawEvent().Draw(t, "event"),
			Table:     rapid.StringN(0, 5, 10).Draw(t, "table"),
			Key:       drawBytes().Draw(t, "key"),
			Type:      change.Type(rapid.Uint8Range(0, uint8(change.Delete)).Draw(t, "type")),
			Columns:   drawColumns(2).Draw(t, "columns"),
			MovedFrom: drawBytes().Draw(t, "moved from"),
			MovedTo:   drawBytes().Draw(t, "moved to"),
			Revision:  rapid.Uint32().Draw(t, "revision"),
			Read:      rapid.Bool().Draw(t, "read"),
			Stored:    drawBytes().Draw(t, "stored"),
			Cause:     drawMessage().Draw(t, "cause"),
			Receipts:  receipts,
		}
	})
}
