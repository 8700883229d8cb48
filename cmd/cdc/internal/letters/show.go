package letters

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/transforms/deadletter"
)

// show prints letters whole, values included.
func show(ctx context.Context, w io.Writer, s sink, letters []*Head, messages map[messageKey]*Head, asJSON bool) error {
	out := bufio.NewWriter(w)
	failed := 0
	for i, h := range letters {
		if i > 0 && !asJSON {
			_, _ = out.WriteString("\n")
		}
		stored, why := loadWhole(ctx, s, h, messages)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if why != "" {
			failed++
		}
		if asJSON {
			if err := writeJSON(out, jsonOf(stored, why)); err != nil {
				return err
			}
		} else {
			writeLetter(out, &stored, why)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("the messages of %d of %d letters can't be shown; beside \"broken\" is why", failed, len(letters))
	}
	return nil
}

// loadWhole returns a letter with its message, and why it can't be had where it can't:
// what is known of it is there then.
func loadWhole(ctx context.Context, s sink, h *Head, messages map[messageKey]*Head) (stored deadletter.Stored, why string) {
	if h.Broken != "" {
		return h.Stored, h.Broken
	}
	stored, err := s.load(ctx, h)
	if err != nil {
		return h.Stored, err.Error()
	}
	if !stored.DataLeftOut {
		return stored, ""
	}
	message := messages[h.message()]
	switch {
	case message == nil:
		return stored, "its message of many changes was not stored: the runner that acks had let go of it; publish the message again from the source, by its ID"
	case message.Broken != "":
		return stored, message.Broken
	}
	whole, err := s.load(ctx, message)
	if err != nil {
		return stored, err.Error()
	}
	stored.DataBase64, stored.DataLeftOut = whole.DataBase64, false
	if stored.Attributes == nil && stored.OrderingKey == "" { // which of an encrypted letter are there alone
		stored.Attributes, stored.OrderingKey = whole.Attributes, whole.OrderingKey
	}
	return stored, ""
}

// shown is a letter as JSON.
type shown struct {
	deadletter.Stored
	Broken string `json:"broken,omitempty"`
}

func jsonOf(s deadletter.Stored, why string) shown {
	if utf8.Valid(s.DataBase64) && !s.DataLeftOut && why == "" {
		text := string(s.DataBase64)
		s.Data = &text
	}
	return shown{s, why}
}

func writeLetter(out *bufio.Writer, s *deadletter.Stored, why string) {
	line := func(name, text string) {
		if text != "" {
			_, _ = fmt.Fprintf(out, "%-13s %s\n", name, safe(text)) // Flush tells
		}
	}
	line("letter", s.ID)
	line("broken", why)
	line("stage", s.Stage)
	line("reason", s.Reason)
	line("error", s.Error)
	line("table", s.Table)
	line("message", s.MessageID)
	if s.Part > 0 {
		line("change", fmt.Sprintf("%d of the message's, counted from 0", s.Part))
	}
	if !s.PublishTime.IsZero() {
		line("published", s.PublishTime.UTC().Format(time.RFC3339Nano))
	}
	if s.Replays > 0 {
		line("replayed", fmt.Sprintf("%d times, and failed again", s.Replays))
	}
	line("ordering key", s.OrderingKey)
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		line("attribute", name+" = "+s.Attributes[name])
	}
	if why != "" {
		return
	}
	form, text := dataForm(s.DataBase64)
	_, _ = fmt.Fprintf(out, "data          %d bytes, %s\n%s\n", len(s.DataBase64), form, text)
}

// dataForm returns what data is, and how it is shown.
func dataForm(data []byte) (form, text string) {
	switch {
	case len(data) == 0:
		return "empty", ""
	case jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)):
		pretty := slices.Clone(jsontext.Value(data))
		// A JSON string may hold what a terminal obeys, as itself or as an escape.
		if err := pretty.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)); err == nil {
			return "JSON", safeLines(string(pretty))
		}
		fallthrough
	case utf8.Valid(data):
		return "text", safeLines(string(data))
	}
	const some = 1 << 10
	if len(data) <= some {
		return "no text", strings.TrimSuffix(hex.Dump(data), "\n")
	}
	return "no text, as base64", base64.StdEncoding.EncodeToString(data)
}
