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
func (s *system) letters(ctx context.Context) (found []letter, err error) {
	if key := s.options.DeadLetters.Key; key != "" {
		if s.opener, err = deadletter.OpenKey(ctx, key); err != nil {
			return nil, err
		}
	}
	switch to := s.options.DeadLetters; {
	case to.Topic != "":
		return s.topicLetters()
	case to.Directory != "":
		return s.directoryLetters()
	default:
		return s.tableLetters(ctx)
	}
}

// topicLetters joins the pieces of letters that were too large for one message;
// they come in any order.
func (s *system) topicLetters() ([]letter, error) {
	var found []deadletter.Stored
	pieces := map[string][][]byte{} // of letters that are not whole yet
	for _, m := range s.pubsub.Messages(s.options.DeadLetters.Topic) {
		id, number, count, ok := deadletter.TopicPiece(m.Attributes)
		if !ok {
			continue // somebody else's
		}
		if len(pieces[id]) != count {
			pieces[id] = make([][]byte, count)
		}
		pieces[id][number-1] = append([]byte{}, m.Data...)
		if slices.ContainsFunc(pieces[id], func(piece []byte) bool { return piece == nil }) {
			continue
		}
		stored, err := deadletter.TopicLetter(m.Attributes, slices.Concat(pieces[id]...))
		if err != nil {
			return nil, err
		}
		found = append(found, stored)
		delete(pieces, id)
	}
	return s.shown(found), nil
}

// shown returns what is shown of letters: of those that are encrypted what the
// configuration's key opens, and of the redacted ones no data.
func (s *system) shown(stored []deadletter.Stored) []letter {
	forms := make([]string, len(stored)) // Open forgets them
	for i := range stored {
		forms[i] = stored[i].DataForm
		if err := s.opener.Open(&stored[i]); err != nil {
			stored[i].DataBase64 = nil
		}
	}
	return lettersOf(stored, forms)
}

// lettersOf returns what is shown of letters, those of messages that are stored by
// themselves with their data. forms are those in which they are stored.
func lettersOf(stored []deadletter.Stored, forms []string) []letter {
	type message struct {
		data []byte
		form string
	}
	messages := map[string]message{}
	for i, s := range stored {
		if s.Stage == deadletter.StageMessage {
			messages[s.MessageID] = message{s.DataBase64, forms[i]}
		}
	}
	var letters []letter
	for i, s := range stored {
		if s.Stage == deadletter.StageMessage {
			continue
		}
		m := message{s.DataBase64, forms[i]}
		if s.DataLeftOut {
			m = messages[s.MessageID]
		}
		letters = append(letters, letter{
			Stage: s.Stage, Reason: s.Reason, Error: s.Error, Table: s.Table, Data: m.data, MessageID: s.MessageID, Form: m.form,
		})
	}
	sortLetters(letters)
	return letters
}

// directoryLetters leaves out what earlier runs have left in the directory: their
// messages were published before this one began.
func (s *system) directoryLetters() ([]letter, error) {
	stored, err := deadletter.ReadDirectory(s.options.DeadLetters.Directory)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.options.DeadLetters.Directory, err)
	}
	stored = slices.DeleteFunc(stored, func(l deadletter.Stored) bool { return l.PublishTime.Before(s.started) })
	return s.shown(stored), nil
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
	var found []deadletter.Stored
	for _, row := range rows {
		var stored struct {
			Piece       int       `json:"piece,string"`
			Pieces      int       `json:"pieces,string"`
			Stage       string    `json:"stage"`
			Reason      string    `json:"reason"`
			Error       string    `json:"error"`
			SourceTable string    `json:"source_table"`
			MessageID   string    `json:"message_id"`
			PublishTime time.Time `json:"publish_time"`
			Data        []byte    `json:"data"`
			Attributes  string    `json:"attributes"` // the text of a JSON column
		}
		if err := json.Unmarshal(row, &stored); err != nil {
			return nil, fmt.Errorf("reading a dead letter from %v: %w", name, err)
		}
		switch {
		case stored.PublishTime.Before(s.started.Truncate(time.Microsecond)):
		case stored.Piece > 1 && len(found) > 0:
			last := &found[len(found)-1]
			last.DataBase64 = append(last.DataBase64, stored.Data...)
		default:
			l := deadletter.Stored{
				Stage: stored.Stage, Reason: stored.Reason, Error: stored.Error,
				Table: stored.SourceTable, DataBase64: stored.Data, DataLeftOut: stored.Pieces == 0, MessageID: stored.MessageID,
			}
			if stored.Attributes != "" {
				if err := json.Unmarshal([]byte(stored.Attributes), &l.Attributes); err != nil {
					return nil, fmt.Errorf("reading a dead letter's attributes from %v: %w", name, err)
				}
			}
			deadletter.TableForm(&l)
			found = append(found, l)
		}
	}
	return s.shown(found), nil
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
