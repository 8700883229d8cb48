package googlesql

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a statement that can't be understood or translated, with the place in
// the text that is to blame. Its text is what BigQuery puts into an invalidQuery error.
type Error struct {
	Line, Column int // 1-based; columns count code points
	Message      string

	cause error // what a caller's function returned; nil for none
}

// Is tells what the error is of a caller's function that the translator asked. It is
// no Unwrap: the position belongs to the message that users see.
func (e *Error) Is(target error) bool { return e.cause != nil && errors.Is(e.cause, target) }

func (e *Error) Error() string {
	return fmt.Sprintf("%s at [%d:%d]", e.Message, e.Line, e.Column)
}

// failure is an Error that hasn't been placed in its text yet; it unwinds the parser
// and the translator, whose entry points recover it.
type failure struct {
	offset  int
	message string
	cause   error
}

// fail reports what is wrong at a byte offset.
func fail(offset int, format string, args ...any) {
	f := failure{offset: offset, message: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.cause = err
		}
	}
	panic(f)
}

// rescue turns a failure that unwinds into an Error about text.
func rescue(text string, err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		placed := place(text, f.offset, f.message)
		placed.cause = f.cause
		*err = placed
	default:
		panic(f)
	}
}

func place(text string, offset int, message string) *Error {
	before := text[:min(max(offset, 0), len(text))]
	line := strings.LastIndexByte(before, '\n') + 1
	return &Error{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[line:]) + 1, Message: message}
}
