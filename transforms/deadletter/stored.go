package deadletter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Stored is a letter as its file holds it, one JSON object a file.
type Stored struct {
	Stage       string            `json:"stage"`
	Reason      string            `json:"reason"`
	Error       string            `json:"error"`
	Table       string            `json:"table,omitempty"`
	MessageID   string            `json:"message_id"`
	Part        uint32            `json:"part"`
	PublishTime time.Time         `json:"publish_time,omitzero"`
	OrderingKey string            `json:"ordering_key,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
	DataBase64  []byte            `json:"data_base64"`    // the original bytes
	Data        *string           `json:"data,omitempty"` // the same as text, where they are valid UTF-8
}

func (l *Letter) stored() Stored {
	s := Stored{
		Stage: l.Stage, Reason: l.Reason, Error: l.Error, Table: l.Table, Part: l.Part,
		MessageID: l.Message.ID, PublishTime: l.Message.PublishTime, OrderingKey: l.Message.OrderingKey,
		Attributes: l.Message.Attributes, DataBase64: l.Message.Data,
	}
	if s.DataBase64 == nil {
		s.DataBase64 = []byte{} // "" rather than null: empty data is data
	}
	if utf8.Valid(l.Message.Data) {
		text := string(l.Message.Data)
		s.Data = &text
	}
	return s
}

// id names the letter: the same for every delivery of its message, so that a
// redelivery replaces the stored letter instead of adding one. What comes last is
// the first of the letter's units (see Receipts), which tells letters of one
// message apart that the stage can't number: the writer knows rows, not parts.
// Where the runner acks there are no units, and it is the part. The letter of a
// replay is another one: a replay that fails again must not be taken for the letter
// that its replayer is about to mark as done.
func (l *Letter) id() string {
	number := l.Part
	for i, own := 0, false; i < len(l.Receipts); i++ {
		if r := &l.Receipts[i]; l.Message.Token != 0 && r.Token == l.Message.Token && (!own || r.Part < number) {
			number, own = r.Part, true
		}
	}
	id := l.Message.ID + "/" + l.Stage + "/" + strconv.FormatUint(uint64(number), 10)
	if l.Message.Replays > 0 {
		id += "/" + strconv.FormatUint(uint64(l.Message.Replays), 10)
	}
	return id
}

// ReadDirectory returns the letters stored in a directory, in the order of their
// message IDs and parts: IDs of equal length as texts, shorter ones first, which
// is the order of numbers. A directory that is not there holds none.
func ReadDirectory(directory string) ([]Stored, error) {
	entries, err := os.ReadDir(directory)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading dead letters: %w", err)
	}
	var letters []Stored
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || !strings.HasSuffix(entry.Name(), ".json") {
			continue // a file that was being written when the process ended
		}
		text, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading dead letters: %w", err)
		}
		var s Stored
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("reading dead letter %s: %w", entry.Name(), err)
		}
		letters = append(letters, s)
	}
	slices.SortFunc(letters, func(a, b Stored) int {
		return cmp.Or(
			cmp.Compare(len(a.MessageID), len(b.MessageID)),
			cmp.Compare(a.MessageID, b.MessageID),
			cmp.Compare(a.Part, b.Part),
			cmp.Compare(a.Stage, b.Stage),
		)
	})
	return letters, nil
}

// clip returns text as valid UTF-8 of at most limit bytes.
func clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
