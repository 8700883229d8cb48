package main

import (
	"bufio"
	"fmt"
	"regexp"
	"strings"

	"beamcdc/transforms/deadletter"
)

// alike are dead letters that say the same: people are shown the first of them.
type alike struct {
	letter
	count int
}

// place is where in an array or a message something is wrong: what else two errors
// say may be the same.
var place = regexp.MustCompile(`\[\d+\]|offset \d+`)

// grouped returns the letters by what they say, in the order of the first of each.
func grouped(letters []letter) []*alike {
	type saying struct{ stage, reason, table, text string }
	var groups []*alike
	found := make(map[saying]*alike)
	for _, l := range letters {
		says := saying{l.Stage, l.Reason, l.Table, place.ReplaceAllString(l.Error, "")}
		if g := found[says]; g != nil {
			g.count++
			continue
		}
		g := &alike{l, 1}
		found[says], groups = g, append(groups, g)
	}
	return groups
}

// shownData is a letter's data, or why there is none, and that what is stored is another
// text, where it is.
func (l *letter) shownData() string {
	text := plural(len(l.Data), "byte")
	switch {
	case l.Form == deadletter.FormRedacted:
		return "redacted: nothing of the message is stored"
	case l.Form == deadletter.FormEncrypted && l.Data == nil:
		return "stored encrypted, by a key that doesn't open it"
	case l.Form == deadletter.FormEncrypted:
		text += ", stored encrypted"
	}
	return text + ": " + clip(string(l.Data), maxShownData)
}

func writeLetters(out *bufio.Writer, letters []letter, style style) {
	if len(letters) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s  %s\n", style.bold("Dead letters"), style.dim(plural(len(letters), "message")))
	groups := grouped(letters)
	shown := groups[:min(len(groups), maxShownRows)]
	more := len(letters)
	for _, l := range shown {
		more -= l.count
		times, data := "", ""
		if l.count > 1 {
			times, data = thousands(l.count)+" × ", "the first, "
		}
		// The reason stands before the error already.
		text := strings.Replace(l.Error, ": "+l.Reason+": ", ": ", 1)
		_, _ = fmt.Fprintf(out, "  %s%s  %s", times, style.bold(clip(l.Stage+": "+l.Reason, maxShownWidth)), clip(text, maxShownError))
		_, _ = fmt.Fprintf(out, "\n    %s\n", style.dim(data+l.shownData()))
	}
	if more > 0 {
		_, _ = fmt.Fprintf(out, "  %s\n", style.dim(fmt.Sprintf("… and %s more; -output json has them", thousands(more))))
	}
}
