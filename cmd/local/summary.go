package main

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"beamcdc/cmd/internal/direct"
)

// writeCounts writes what became of the messages.
func writeCounts(out *bufio.Writer, c direct.Counts, style style) {
	_, _ = fmt.Fprintf(out, "%s  %s\n", style.bold("What became of the changes"), style.dim(plural(c.Messages, "message")))
	changes := c.Messages + c.ExtraChanges + c.KeyChanges + c.RowsCompletedAgain
	lines := []struct {
		what   string
		count  int64
		note   string
		always bool
	}{
		{counted(c.RowsUpserted, "row") + " upserted", c.RowsUpserted, "", true},
		{counted(c.RowsDeleted, "row") + " deleted", c.RowsDeleted, "", false},
		{"superseded", c.Superseded, saved(c), false},
		{"filtered", c.Filtered, "by the configuration", false},
		{counted(c.Control, "control message"), c.Control, "heartbeats, transaction marks, schema notices, tombstones", false},
		{counted(c.Truncates, "truncate"), c.Truncates, plural(c.KeysDeleted, "key") + " of the tables deleted" + copied(c), false},
		{counted(c.DeadLetters, "dead letter"), c.DeadLetters, ofHistories(c), true},
	}
	if more := moreThanMessages(c); more != "" {
		_, _ = fmt.Fprintf(out, "  %s\n", style.dim(fmt.Sprintf("%s below: one a message, and %s", thousands(changes), more)))
	}
	width, widest := 0, 0
	for _, l := range lines {
		widest = max(widest, len(l.what))
		width = max(width, utf8.RuneCountInString(thousands(l.count)))
	}
	for _, l := range lines {
		if l.count == 0 && !l.always {
			continue
		}
		_, _ = fmt.Fprintf(out, "  %*s %s", width, thousands(l.count), l.what)
		if l.note != "" {
			_, _ = fmt.Fprintf(out, "%s  %s", strings.Repeat(" ", widest-len(l.what)), style.dim(l.note))
		}
		_, _ = out.WriteString("\n")
	}
	_, _ = fmt.Fprintf(out, "  %s in %s to BigQuery\n", size(c.BytesAppended), plural(c.Requests, "request"))
	if c.PositionsBackwards > 0 {
		_, _ = fmt.Fprintf(out, "  %s ran backwards: is it time to raise source.epoch?\n", plural(c.PositionsBackwards, "position"))
	}
}

// ofHistories says how many dead letters are no change's of a table; "" where none is.
func ofHistories(c direct.Counts) string {
	if c.HistoryLetters == 0 {
		return ""
	}
	return thousands(c.HistoryLetters) + " for a history alone, beside the changes above"
}

// moreThanMessages says why there are more changes than messages; "" where there aren't.
func moreThanMessages(c direct.Counts) string {
	var why []string
	if n := c.ExtraChanges; n > 0 {
		why = append(why, thousands(n)+" more from messages of several changes")
	}
	if n := c.KeyChanges; n > 0 {
		why = append(why, fmt.Sprintf("%s more from %s, a DELETE and an UPSERT each", thousands(n), plural(n, "changed key")))
	}
	if n := c.RowsCompletedAgain; n > 0 {
		why = append(why, thousands(n)+" more from rows that were completed again")
	}
	return strings.Join(why, ", ")
}

// saved says what coalescing saved: rows that were never sent, and their bytes.
func saved(c direct.Counts) string {
	all := c.BytesAppended + c.BytesSuperseded
	if c.BytesSuperseded == 0 || all == 0 {
		return ""
	}
	return fmt.Sprintf("by a later change of their key and window: %s of %s never sent, %d %%",
		size(c.BytesSuperseded), size(all), 100*c.BytesSuperseded/all)
}

// size returns bytes for people: "512 bytes", "1.5 KiB".
func size(n int64) string {
	const step = 1024
	if n < step {
		return plural(n, "byte")
	}
	value := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if value /= step; value < step {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return fmt.Sprintf("%.1f TiB", value/step)
}

// copied tells of the rows that truncates copied to new tables.
func copied(c direct.Counts) string {
	if c.RowsCopied == 0 {
		return ""
	}
	return ", " + plural(c.RowsCopied, "row") + " copied to new ones"
}
