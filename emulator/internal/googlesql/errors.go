package googlesql

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a statement that can't be understood or translated, with the place in
// the text that is to blame. Its text is what BigQuery puts into an invalidQuery error.
type Error struct {
	Line, Column int // 1-based; columns count code points
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at [%d:%d]", e.Message, e.Line, e.Column)
}

// failure is an Error that hasn't been placed in its text yet; it unwinds the parser
// and the translator, whose entry points recover it.
type failure struct {
	offset  int
	message string
}

// fail reports what is wrong at a byte offset.
func fail(offset int, format string, args ...any) {
	panic(failure{offset, fmt.Sprintf(format, args...)})
}

// rescue turns a failure that unwinds into an Error about text.
func rescue(text string, err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = place(text, f.offset, f.message)
	default:
		panic(f)
	}
}

func place(text string, offset int, message string) *Error {
	before := text[:min(max(offset, 0), len(text))]
	line := strings.LastIndexByte(before, '\n') + 1
	return &Error{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[line:]) + 1, Message: message}
}
