package direct

import (
	"errors"
	"regexp"
	"strings"
)

// doFnFailed is where Beam's text of a failed job comes to what the DoFn said.
// Before it stands the plan of the whole stage.
var doFnFailed = regexp.MustCompile(`DoFn\[[^\n]*\] failed:\n`)

// inTimer is what Beam puts before what a timer's callback said. It holds the timer's key,
// which may be that of a row.
var inTimer = regexp.MustCompile(`(?s)ontimer callback invocation failed\n.*error processing timer .*\d \d+\}\}\n`)

// reasonOf returns what a DoFn said of a job's failure, on one line, without the
// plan and the stacks that the runner puts around it. The text is all that comes
// back from a runner.
func reasonOf(err error) error {
	text := inTimer.ReplaceAllString(err.Error(), "")
	if at := doFnFailed.FindAllStringIndex(text, -1); at != nil {
		text = text[at[len(at)-1][1]:]
	} else if at := strings.LastIndex(text, "caused by:\n"); at >= 0 {
		text = text[at+len("caused by:\n"):]
	}
	// A panic comes with its stack; a joined error has a line for each.
	text, _, _ = strings.Cut(text, "\ngoroutine ")
	text, _, _ = strings.Cut(text, "Full error:")
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' })
	if len(lines) == 0 {
		return errors.New("the runner does not say why")
	}
	const most = 3
	return errors.New(strings.Join(lines[:min(len(lines), most)], "; "))
}
