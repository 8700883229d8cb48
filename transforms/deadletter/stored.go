package deadletter

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"beamcdc/schemas/change"
)

// Stored is a letter as it is stored: one JSON object a file, or in a message of
// the topic that can't have it as its attributes.
type Stored struct {
	ID          string            `json:"id"`
	Stage       string            `json:"stage"`
	Reason      string            `json:"reason"`
	Error       string            `json:"error"`
	Table       string            `json:"table,omitempty"`
	MessageID   string            `json:"message_id"`
	Part        uint32            `json:"part"`
	PublishTime time.Time         `json:"publish_time,omitzero"`
	OrderingKey string            `json:"ordering_key,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
	Replays     uint32            `json:"replays,omitempty"` // how often the message had been published again
	// DataLeftOut says that the message's data is where the stage is StageMessage.
	DataLeftOut bool `json:"data_left_out,omitempty"`
	// DataForm says that the message is not there as it was published: FormRedacted, or
	// FormEncrypted, which an Opener undoes; "" that it is.
	DataForm   string  `json:"data_form,omitempty"`
	DataBase64 []byte  `json:"data_base64"`    // the original bytes
	Data       *string `json:"data,omitempty"` // the same as text, where they are valid UTF-8
}

func (l *Letter) stored() Stored {
	s := Stored{
		ID: l.ID(), Stage: l.Stage, Reason: l.Reason, Error: l.Error, Table: l.Table, Part: l.Part,
		MessageID: l.Message.ID, PublishTime: l.Message.PublishTime, OrderingKey: l.Message.OrderingKey,
		Attributes: l.Message.Attributes, Replays: l.Message.Replays, DataLeftOut: l.Message.DataLeftOut, DataForm: l.DataForm, DataBase64: l.Message.Data,
	}
	if s.DataBase64 == nil {
		s.DataBase64 = []byte{} // "" rather than null: empty data is data
	}
	return s
}

// withText returns the letter with its data as text beside, for people and for jq.
func (s Stored) withText() Stored {
	if utf8.Valid(s.DataBase64) && !s.DataLeftOut && s.DataForm == "" {
		text := string(s.DataBase64)
		s.Data = &text
	}
	return s
}

// Message returns the message that the letter is of.
func (s *Stored) Message() change.Message {
	return change.Message{
		ID: s.MessageID, Data: s.DataBase64, Attributes: s.Attributes, OrderingKey: s.OrderingKey,
		PublishTime: s.PublishTime, Replays: s.Replays, DataLeftOut: s.DataLeftOut,
	}
}

// ParseStored reads a letter that was stored as JSON.
func ParseStored(text []byte) (Stored, error) {
	var s Stored
	if err := json.Unmarshal(text, &s); err != nil {
		return Stored{}, err
	}
	if s.Stage == "" || s.MessageID == "" {
		return Stored{}, errors.New("it has no stage or no message_id")
	}
	s.Data = nil // another text than the bytes would be shown for them
	s.ID = cmp.Or(s.ID, idOf(s.MessageID, s.Stage, s.Part, s.Replays))
	return s, nil
}

// ID names the letter: the same for every delivery of its message, so that a
// redelivery replaces the stored letter instead of adding one. What comes last is
// the first of the letter's units (see Receipts), which tells letters of one
// message apart that the stage can't number: the writer knows rows, not parts.
// Where the runner acks there are no units, and it is the part. The letter of a
// replay is another one: a replay that fails again must not be taken for the letter
// that its replayer is about to mark as done.
func (l *Letter) ID() string {
	number := l.Part
	for i, own := 0, false; i < len(l.Receipts); i++ {
		if r := &l.Receipts[i]; l.Message.Token != 0 && r.Token == l.Message.Token && (!own || r.Part < number) {
			number, own = r.Part, true
		}
	}
	return idOf(l.Message.ID, l.Stage, number, l.Message.Replays)
}

func idOf(message, stage string, number, replays uint32) string {
	id := message + "/" + stage + "/" + strconv.FormatUint(uint64(number), 10)
	if replays > 0 {
		id += "/" + strconv.FormatUint(uint64(replays), 10)
	}
	return id
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
