package reference

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"beamcdc/schemas/change"
)

// Parquet reads a Parquet file of the size. A row group's columns are read side by
// side, and those that are not asked for not at all.
func Parquet(r io.ReaderAt, size int64, names []string, each func([]change.Value) error) (err error) {
	defer func() { // the library takes much of a file for granted
		if p := recover(); p != nil {
			err = errors.New("reading Parquet: the file is damaged")
		}
	}()
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("reading Parquet: %w", err)
	}
	columns := make([]*column, len(names))
	for i, name := range names {
		if columns[i], err = columnOf(file.Root(), name); err != nil {
			return err
		}
	}
	values := make([]change.Value, len(names))
	for _, group := range file.RowGroups() {
		if err := readGroup(group, columns, values, each); err != nil {
			return err
		}
	}
	return nil
}

func readGroup(group parquet.RowGroup, columns []*column, values []change.Value, each func([]change.Value) error) error {
	chunks := group.ColumnChunks()
	for _, c := range columns {
		c.pages = chunks[c.leaf.Index()].Pages()
		c.values, c.held = nil, c.held[:0]
	}
	defer func() {
		for _, c := range columns {
			_ = c.pages.Close() // nothing is written
		}
	}()
	for range group.NumRows() {
		for i, c := range columns {
			v, err := c.next()
			if err != nil {
				return fmt.Errorf("reading Parquet, column %s: %w", c.leaf.Name(), err)
			}
			values[i] = v
		}
		if err := each(values); err != nil {
			return err
		}
	}
	return nil
}

// column reads the values of one column.
type column struct {
	leaf   *parquet.Column
	of     func(parquet.Value) (change.Value, error) // of one that is not NULL
	pages  parquet.Pages
	values parquet.ValueReader // of the page at hand
	buffer [256]parquet.Value
	held   []parquet.Value // of the buffer, not taken yet
}

func columnOf(root *parquet.Column, name string) (*column, error) {
	leaf := root.Column(name)
	for _, c := range root.Columns() {
		if leaf == nil && strings.EqualFold(c.Name(), name) {
			leaf = c
		}
	}
	switch {
	case leaf == nil:
		return nil, fmt.Errorf("it has no column %s", name)
	case !leaf.Leaf() || leaf.Repeated():
		return nil, fmt.Errorf("column %s is a list or a group: a lookup takes single values", name)
	}
	of, err := conversion(leaf.Type())
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", name, err)
	}
	return &column{leaf: leaf, of: of}, nil
}

func (c *column) next() (change.Value, error) {
	for len(c.held) == 0 {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return change.Value{}, ended(err)
			}
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buffer[:])
		c.held = c.buffer[:n]
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return change.Value{}, err
		}
	}
	v := c.held[0]
	c.held = c.held[1:]
	if v.IsNull() {
		return change.Null(), nil
	}
	return c.of(v)
}

// ended returns the error of a file that has fewer values than rows.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// conversion returns how the values of a type become the row's.
func conversion(t parquet.Type) (func(parquet.Value) (change.Value, error), error) {
	if logical := t.LogicalType(); logical != nil {
		switch of := logical.Value.(type) {
		case *format.StringType, *format.EnumType:
			return text(change.String), nil
		case *format.JsonType:
			return text(change.JSON), nil
		case *format.DateType:
			return plain(func(v parquet.Value) change.Value { return change.Date(int64(v.Int32())) }), nil
		case *format.TimeType:
			return times(t, of.Unit, change.Time), nil
		case *format.TimestampType:
			if of.IsAdjustedToUTC {
				return times(t, of.Unit, change.Timestamp), nil
			}
			return times(t, of.Unit, change.DateTime), nil
		case *format.DecimalType:
			return decimals(t, int(of.Scale)), nil
		case *format.IntType:
			if !of.IsSigned {
				return unsigned(t), nil
			}
		case *format.UUIDType:
			return func(v parquet.Value) (change.Value, error) {
				id := v.ByteArray()
				if len(id) != 16 {
					return change.Value{}, errors.New("a UUID has not 16 bytes")
				}
				return change.String(fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])), nil
			}, nil
		default:
			return nil, fmt.Errorf("its type %s is none that a lookup takes", logical)
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return plain(func(v parquet.Value) change.Value { return change.Bool(v.Boolean()) }), nil
	case parquet.Int32:
		return plain(func(v parquet.Value) change.Value { return change.Int64(int64(v.Int32())) }), nil
	case parquet.Int64:
		return plain(func(v parquet.Value) change.Value { return change.Int64(v.Int64()) }), nil
	case parquet.Int96: // the nanoseconds of a day, and the Julian day
		return plain(func(v parquet.Value) change.Value {
			const julian1970, microsPerDay = 2_440_588, 86_400_000_000
			of := v.Int96()
			nanos := int64(of[1])<<32 | int64(of[0])
			return change.Timestamp((int64(of[2])-julian1970)*microsPerDay + nanos/1000)
		}), nil
	case parquet.Float:
		return plain(func(v parquet.Value) change.Value { return change.Float64(float64(v.Float())) }), nil
	case parquet.Double:
		return plain(func(v parquet.Value) change.Value { return change.Float64(v.Double()) }), nil
	default:
		return text(change.Bytes), nil
	}
}

func plain(of func(parquet.Value) change.Value) func(parquet.Value) (change.Value, error) {
	return func(v parquet.Value) (change.Value, error) { return of(v), nil }
}

// text is of values that are bytes, which the reader's next values may overwrite.
func text(of func(string) change.Value) func(parquet.Value) (change.Value, error) {
	return func(v parquet.Value) (change.Value, error) { return of(string(v.ByteArray())), nil }
}

func unsigned(t parquet.Type) func(parquet.Value) (change.Value, error) {
	if t.Kind() == parquet.Int32 {
		return plain(func(v parquet.Value) change.Value { return change.Uint64(uint64(v.Uint32())) })
	}
	return plain(func(v parquet.Value) change.Value { return change.Uint64(v.Uint64()) })
}

// times is of counts of a unit. Nanoseconds are cut downwards.
func times(t parquet.Type, unit format.TimeUnit, of func(micros int64) change.Value) func(parquet.Value) (change.Value, error) {
	duration := time.Microsecond
	if unit.Value != nil {
		duration = unit.Value.Duration()
	}
	return func(v parquet.Value) (change.Value, error) {
		n := v.Int64()
		if t.Kind() == parquet.Int32 {
			n = int64(v.Int32())
		}
		switch duration {
		case time.Millisecond:
			if n > 1<<53 || n < -1<<53 {
				return change.Value{}, errors.New("a time is out of range")
			}
			n *= 1000
		case time.Nanosecond:
			rest := n % 1000
			n /= 1000
			if rest < 0 {
				n--
			}
		default: // microseconds
		}
		return of(n), nil
	}
}

// decimals is of unscaled values: integers, or big-endian two's complements.
func decimals(t parquet.Type, scale int) func(parquet.Value) (change.Value, error) {
	return func(v parquet.Value) (change.Value, error) {
		n := new(big.Int)
		switch t.Kind() {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default:
			raw := v.ByteArray()
			n.SetBytes(raw)
			if len(raw) > 0 && raw[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
			}
		}
		return change.Decimal(pointed(n.String(), scale)), nil
	}
}

// pointed puts a point before the last digits of a whole number.
func pointed(digits string, scale int) string {
	if scale <= 0 {
		return digits + strings.Repeat("0", -scale)
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
