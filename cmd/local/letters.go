package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/table"
	"beamcdc/transforms/deadletter"
)

// letters reads this run's dead letters back from where the configuration has
// them stored.
func (s *system) letters(ctx context.Context) ([]letter, error) {
	switch to := s.options.DeadLetters; {
	case to.Topic != "":
		return s.topicLetters(), nil
	case to.Directory != "":
		return s.directoryLetters()
	default:
		return s.tableLetters(ctx)
	}
}

// topicLetters joins the pieces of letters that were too large for one message;
// they come in any order.
func (s *system) topicLetters() []letter {
	type id struct{ message, stage, part string }
	var letters []letter
	pieces := map[id][][]byte{} // of letters that are not whole yet
	for _, m := range s.pubsub.Messages(s.options.DeadLetters.Topic) {
		of := func(name string) string { return m.Attributes[name] }
		key := id{of(deadletter.AttributeMessageID), of(deadletter.AttributeStage), of(deadletter.AttributePart)}
		data := m.Data
		if number, count, ok := pieceOf(of(deadletter.AttributePiece)); ok {
			if len(pieces[key]) != count {
				pieces[key] = make([][]byte, count)
			}
			pieces[key][number-1] = m.Data
			if slices.ContainsFunc(pieces[key], func(piece []byte) bool { return piece == nil }) {
				continue
			}
			data = slices.Concat(pieces[key]...)
			delete(pieces, key)
		}
		letters = append(letters, letter{
			Stage: key.stage, Reason: of(deadletter.AttributeReason), Error: of(deadletter.AttributeError),
			Table: of(deadletter.AttributeTable), Data: data, MessageID: key.message,
		})
	}
	sortLetters(letters)
	return letters
}

// pieceOf reads which piece of a letter's data a message holds, "1/2" of two.
func pieceOf(text string) (number, count int, ok bool) {
	first, second, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(first)
	count, countErr := strconv.Atoi(second)
	return number, count, err == nil && countErr == nil && 1 <= number && number <= count
}

// directoryLetters leaves out what earlier runs have left in the directory: their
// messages were published before this one began.
func (s *system) directoryLetters() ([]letter, error) {
	stored, err := deadletter.ReadDirectory(s.options.DeadLetters.Directory)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.options.DeadLetters.Directory, err)
	}
	var letters []letter
	for _, l := range stored {
		if l.PublishTime.Before(s.started) {
			continue
		}
		letters = append(letters, letter{
			Stage: l.Stage, Reason: l.Reason, Error: l.Error, Table: l.Table, Data: l.DataBase64, MessageID: l.MessageID,
		})
	}
	sortLetters(letters)
	return letters, nil
}

// tableLetters joins the pieces of letters that were too large for one row. It
// leaves out what earlier runs have left in the table, as directoryLetters does.
func (s *system) tableLetters(ctx context.Context) ([]letter, error) {
	name, err := table.ParseName(s.options.DeadLetters.Table, s.tableProject())
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters: %w", err)
	}
	rows, err := s.rows(ctx, name) // in the order of their IDs and pieces
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters: %w", err)
	}
	var letters []letter
	for _, row := range rows {
		var stored struct {
			Piece       int       `json:"piece,string"`
			Stage       string    `json:"stage"`
			Reason      string    `json:"reason"`
			Error       string    `json:"error"`
			SourceTable string    `json:"source_table"`
			MessageID   string    `json:"message_id"`
			PublishTime time.Time `json:"publish_time"`
			Data        []byte    `json:"data"`
		}
		if err := json.Unmarshal(row, &stored); err != nil {
			return nil, fmt.Errorf("reading a dead letter from %v: %w", name, err)
		}
		switch {
		case stored.PublishTime.Before(s.started.Truncate(time.Microsecond)):
		case stored.Piece > 1 && len(letters) > 0:
			last := &letters[len(letters)-1]
			last.Data = append(last.Data, stored.Data...)
		default:
			letters = append(letters, letter{
				Stage: stored.Stage, Reason: stored.Reason, Error: stored.Error,
				Table: stored.SourceTable, Data: stored.Data, MessageID: stored.MessageID,
			})
		}
	}
	sortLetters(letters)
	return letters, nil
}

// sortLetters sorts letters by the order in which their messages were published;
// the embedded Pub/Sub numbers them.
func sortLetters(letters []letter) {
	slices.SortStableFunc(letters, func(a, b letter) int { return messageNumber(a.MessageID) - messageNumber(b.MessageID) })
}

func messageNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "m")) // 0 for what is no number
	return n
}
