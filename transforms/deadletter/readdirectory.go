package deadletter

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadDirectory returns the letters stored in a directory, in the order of their
// message IDs and parts: IDs of equal length as texts, shorter ones first, which
// is the order of numbers. A directory that is not there holds none. A letter whose
// data is stored by itself has it.
func ReadDirectory(directory string) ([]Stored, error) {
	names, err := LetterFiles(directory)
	if err != nil {
		return nil, err
	}
	var letters []Stored
	shared := make(map[messageKey][]byte)
	for _, name := range names {
		s, err := ReadFile(directory, name)
		switch {
		case err != nil:
			return nil, err
		case s.Stage == StageMessage:
			shared[keyOf(&s)] = s.DataBase64
		default:
			letters = append(letters, s)
		}
	}
	for i := range letters {
		if data, ok := shared[keyOf(&letters[i])]; ok && letters[i].DataLeftOut {
			letters[i].DataBase64, letters[i].DataLeftOut = data, false
		}
	}
	slices.SortFunc(letters, func(a, b Stored) int {
		return cmp.Or(CompareIDs(a.MessageID, b.MessageID), a.PublishTime.Compare(b.PublishTime), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Stage, b.Stage))
	})
	return letters, nil
}

// messageKey is a message, and which time of publishing it is. An embedded Pub/Sub
// gives an ID again in its next process: the time tells the two messages apart.
type messageKey struct {
	id        string
	published int64 // in microseconds
	replays   uint32
}

func keyOf(s *Stored) messageKey {
	return messageKey{s.MessageID, s.PublishTime.UnixMicro(), s.Replays}
}

// CompareIDs orders the IDs of messages: numbers by their value.
func CompareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// LetterFiles returns the names of the files of letters in a directory.
func LetterFiles(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reading dead letters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		// What begins with a point was being written when a process ended.
		if name := entry.Name(); entry.Type().IsRegular() && !strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".json") {
			names = append(names, name)
		}
	}
	return names, nil
}

// maxFileBytes bounds what is read as a letter: a message of 10 MB, as base64 and as a
// text of escapes.
const maxFileBytes = 128 << 20

// ReadFile reads a letter's file.
func ReadFile(directory, name string) (Stored, error) {
	path := filepath.Join(directory, name)
	if info, err := os.Stat(path); err == nil && info.Size() > maxFileBytes {
		return Stored{}, fmt.Errorf("reading dead letter %q: it has %d bytes, more than any letter", name, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Stored{}, fmt.Errorf("reading dead letter %q: %w", name, err)
	}
	s, err := ParseStored(text)
	if err != nil {
		return Stored{}, fmt.Errorf("reading dead letter %q: %w", name, err)
	}
	return s, nil
}
