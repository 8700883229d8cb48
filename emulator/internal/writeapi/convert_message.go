package writeapi

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"beamcdc/emulator/internal/engine"
)

// compileWellKnown reads Timestamp, Duration and the wrappers.
func compileWellKnown(c *engine.Column, fd protoreflect.FieldDescriptor, bigQuery string) (func([]byte) (any, error), error) {
	switch name := fd.Message().FullName(); {
	case name == "google.protobuf.Timestamp" && c.Kind == engine.KindTimestamp:
		return secondsAndNanos(engine.TimestampValue), nil
	case name == "google.protobuf.Duration" && c.Kind == engine.KindInterval:
		return secondsAndNanos(func(micros int64) (any, error) { return engine.IntervalValue(0, 0, micros) }), nil
	case wrapperNames[string(name)]:
		value := fd.Message().Fields().ByNumber(1)
		f := converter(c, value)
		if f == nil {
			break
		}
		return func(b []byte) (any, error) {
			var w wire // an unset value is the kind's zero
			err := eachField(b, func(number protowire.Number, kind protowire.Type, v wire) error {
				if number == 1 && kind == wireType(value.Kind()) {
					w = normalize(value.Kind(), v)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			return f(w)
		}, nil
	}
	return nil, mismatch(fd, bigQuery)
}

var wrapperNames = map[string]bool{
	"google.protobuf.BoolValue": true, "google.protobuf.BytesValue": true, "google.protobuf.DoubleValue": true,
	"google.protobuf.FloatValue": true, "google.protobuf.Int32Value": true, "google.protobuf.Int64Value": true,
	"google.protobuf.StringValue": true, "google.protobuf.UInt32Value": true, "google.protobuf.UInt64Value": true,
}

// secondsAndNanos reads the two fields of a Timestamp or Duration. Nanoseconds are
// cut to microseconds, downwards.
func secondsAndNanos(f func(micros int64) (any, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		var seconds, nanos int64
		err := eachField(b, func(number protowire.Number, kind protowire.Type, v wire) error {
			switch {
			case kind != protowire.VarintType:
			case number == 1:
				seconds = int64(v.num)
			case number == 2:
				nanos = int64(int32(v.num))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		const maxSeconds = math.MaxInt64/1_000_000 - 1
		if seconds < -maxSeconds || seconds > maxSeconds {
			return nil, engine.ErrCivilRange
		}
		micros := nanos / 1000
		if nanos%1000 < 0 {
			micros--
		}
		return f(seconds*1_000_000 + micros)
	}
}

// compareTimes compares two bounds of a RANGE.
func compareTimes(a, b any) int {
	x, okX := a.(time.Time)
	y, okY := b.(time.Time)
	if !okX || !okY {
		return 0
	}
	return x.Compare(y)
}

// compileRange reads a message of two fields, start and end, of the element's type.
func compileRange(c *engine.Column, fd protoreflect.FieldDescriptor) (func([]byte) (any, error), error) {
	element := &engine.Column{Kind: c.Element}
	m, err := compileMessage(fd.Message(), []*engine.Column{{Name: "start", Kind: c.Element}, {Name: "end", Kind: c.Element}}, c.Name+".", nil)
	if err != nil {
		return nil, err
	}
	return func(b []byte) (any, error) {
		bounds := make([]any, 2)
		if err := m.read(b, bounds); err != nil {
			return nil, err
		}
		if bounds[0] != nil && bounds[1] != nil && compareTimes(bounds[0], bounds[1]) >= 0 {
			return nil, fmt.Errorf("the start of a RANGE<%s> must be before its end", element.Kind)
		}
		return map[string]any{"start": bounds[0], "end": bounds[1]}, nil
	}, nil
}
