package letters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"beamcdc/transforms/deadletter"
)

// filter says which letters a command is about. The zero value takes all.
type filter struct {
	stages, reasons, tables, ids []string // each empty for any
	since, until                 time.Time
}

// takes reports whether a letter is one of those. A broken one whose stage isn't even
// known is taken by a filter that asks for nothing.
func (f *filter) takes(h *Head) bool {
	anyOf := func(wanted []string, matches func(string) bool) bool {
		return len(wanted) == 0 || slices.ContainsFunc(wanted, matches)
	}
	equals := func(text string) func(string) bool { return func(wanted string) bool { return wanted == text } }
	return anyOf(f.stages, equals(h.Stage)) && anyOf(f.reasons, equals(h.Reason)) &&
		anyOf(f.tables, func(wanted string) bool { return sameTable(wanted, h.Table) }) &&
		anyOf(f.ids, func(wanted string) bool { return wanted == h.MessageID || wanted == h.ID }) &&
		(f.since.IsZero() || !h.PublishTime.IsZero() && !h.PublishTime.Before(f.since)) &&
		(f.until.IsZero() || !h.PublishTime.IsZero() && h.PublishTime.Before(f.until))
}

// why says why a filter takes none of the letters of a sink: a word that none of them has
// may be a typo, so that those that they have are told.
func (f *filter) why(letters []*Head, sink string) string {
	if len(letters) == 0 {
		return "no dead letters in " + sink
	}
	var text strings.Builder
	fmt.Fprintf(&text, "none of the %d dead letters in %s matches", len(letters), sink)
	for _, word := range []struct {
		name   string
		wanted []string
		of     func(*Head) string
	}{
		{"stage", f.stages, func(h *Head) string { return h.Stage }},
		{"reason", f.reasons, func(h *Head) string { return h.Reason }},
	} {
		var there []string
		for _, h := range letters {
			if is := word.of(h); is != "" && !slices.Contains(there, is) {
				there = append(there, is)
			}
		}
		slices.Sort(there)
		for _, wanted := range word.wanted {
			if !slices.Contains(there, wanted) {
				fmt.Fprintf(&text, "; none has the %s %q, but %s", word.name, wanted, strings.Join(there, ", "))
			}
		}
	}
	return safe(text.String())
}

// sameTable reports whether a table is the wanted one, named in full or by its last
// parts: the stages before the writer know the source's name, the writer BigQuery's.
func sameTable(wanted, name string) bool {
	return name == wanted || strings.HasSuffix(name, "."+wanted)
}

// parseWhen reads a time: RFC 3339, a date, or a duration before now.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time such as 2026-03-09T08:00:00Z, no date, and no time ago such as 36h", text)
}

// parseList reads words separated by commas.
func parseList(text string) []string {
	words := strings.Split(text, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// parted divides what is in a sink into letters, in the order of their messages, and
// messages that are stored by themselves.
func parted(all []Head) (letters []*Head, messages map[messageKey]*Head) {
	messages = make(map[messageKey]*Head)
	for i := range all {
		h := &all[i]
		if h.Stage == deadletter.StageMessage {
			messages[h.message()] = h
			continue
		}
		letters = append(letters, h)
	}
	slices.SortFunc(letters, func(a, b *Head) int {
		return cmp.Or(deadletter.CompareIDs(a.MessageID, b.MessageID), a.PublishTime.Compare(b.PublishTime), cmp.Compare(a.Part, b.Part), strings.Compare(a.ID, b.ID), strings.Compare(a.key, b.key))
	})
	return letters, messages
}

// messageKey is a message, and which time of publishing it is. An embedded Pub/Sub
// gives an ID again in its next process: the time tells the two messages apart.
type messageKey struct {
	id        string
	published int64 // in microseconds
	replays   uint32
}

func (h *Head) message() messageKey {
	return messageKey{h.MessageID, h.PublishTime.UnixMicro(), h.Replays}
}
