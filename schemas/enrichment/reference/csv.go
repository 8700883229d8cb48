package reference

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"beamcdc/schemas/change"
)

// CSV reads a CSV file. nulls is the text that stands for NULL.
func CSV(r io.Reader, names []string, nulls string, each func([]change.Value) error) error {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = buffered.Discard(len(mark)) // it was peeked at
	}
	file := csv.NewReader(buffered)
	file.ReuseRecord = true
	header, err := file.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty: its first line must be the columns' names")
	} else if err != nil {
		return fmt.Errorf("reading CSV: %w", err)
	}
	at, err := places(names, slices.Clone(header))
	if err != nil {
		return err
	}
	values := make([]change.Value, len(names))
	for {
		fields, err := file.Read()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading CSV: %w", err) // which tells the line
		}
		for i, place := range at {
			switch text := fields[place]; {
			case text == nulls:
				values[i] = change.Null()
			case !utf8.ValidString(text):
				line, _ := file.FieldPos(place)
				return fmt.Errorf("line %d, column %s: it is not UTF-8", line, names[i])
			default:
				values[i] = change.Text(text)
			}
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// places returns where the names are in the header.
func places(names, header []string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.Index(header, name)
		if at[i] < 0 {
			at[i] = slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
		}
		if at[i] < 0 {
			return nil, fmt.Errorf("it has no column %s", name)
		}
	}
	return at, nil
}
