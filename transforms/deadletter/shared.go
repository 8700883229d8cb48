package deadletter

import (
	"slices"
	"sync"

	"beamcdc/internal/printable"
	"beamcdc/schemas/change"
)

// maxCopies bounds what the changes of one message carry of its data together, in
// bytes: each row goes through a shuffle with its message, for its dead letter. A
// message of 4,000 changes and 400 kB would become 1.6 GB there, and one of Pub/Sub's
// 10 MB would bring every worker down that takes it.
const maxCopies = 8 << 20

// Affordable reports whether each of the message's changes may carry its data. Where
// not, they come with DataLeftOut, and the letters of the message refer to one place
// where its data is stored by its ID.
func Affordable(m *change.Message, parts uint32) bool {
	return parts <= 1 || uint64(parts)*uint64(len(m.Data)) <= maxCopies
}

// StageMessage is the stage of what is stored of a message whose letters come
// without its data: the message itself. It is no letter.
const StageMessage = "message"

// items returns what is stored of the letter: it, or the message with its data and
// the letter without.
func (l *Letter) items(p *protector) ([]Letter, error) {
	items := l.parts()
	for i := range items {
		items[i].Error = printable.Text(items[i].Error) // names that come from messages are in it
		if err := p.protect(&items[i]); err != nil {
			return nil, err
		}
	}
	if p.redact {
		items = items[len(items)-1:] // of the message by itself nothing is left
	}
	return items, nil
}

func (l *Letter) parts() []Letter {
	if !l.Shared {
		return []Letter{*l}
	}
	message := Letter{
		Message: l.Message, Stage: StageMessage, Reason: "many_changes",
		Error: "the data of the message, to which its dead letters refer",
	}
	// The message is the same whichever letter brings it, and so is its ID.
	letter := *l
	letter.Shared = false
	letter.Message.Data, letter.Message.DataLeftOut = nil, true
	return []Letter{message, letter}
}

// maxKept bounds the data that a process keeps for letters. It is that of messages
// that aren't acked, whose default bound is the same.
const maxKept = 256 << 20

// kept is the data of messages on their way, by the tokens of their deliveries, in
// the process that has taken them: a row that BigQuery refuses comes without it.
var kept keeper

type keeper struct {
	mu     sync.Mutex
	data   map[uint64][]byte
	tokens []uint64 // in the order of their coming, some of them forgotten
	bytes  int
}

// Keep keeps the data of a message that its changes can't carry, for its letters,
// until Forget. It keeps none where the runner acks: nobody there knows when the
// message is at rest, or which worker its rows come to.
func Keep(m *change.Message) {
	if m.Token != 0 {
		kept.keep(m.Token, m.Data, maxKept)
	}
}

// Forget lets go what Keep kept for a delivery that has ended.
func Forget(token uint64) { kept.forget(token) }

func (k *keeper) keep(token uint64, data []byte, limit int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.data[token]; there {
		return
	}
	if k.data == nil {
		k.data = make(map[uint64][]byte)
	}
	k.data[token], k.tokens, k.bytes = data, append(k.tokens, token), k.bytes+len(data)
	for k.bytes > limit { // by deliveries that had ended before their changes came here
		k.drop(k.tokens[0])
		k.tokens = k.tokens[1:]
	}
	if len(k.tokens) > 2*len(k.data)+1024 {
		k.tokens = slices.DeleteFunc(k.tokens, func(token uint64) bool { _, there := k.data[token]; return !there })
	}
}

func (k *keeper) drop(token uint64) {
	k.bytes -= len(k.data[token])
	delete(k.data, token)
}

func (k *keeper) forget(token uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.data) > 0 {
		k.drop(token)
	}
}

func (k *keeper) find(token uint64) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	data, ok := k.data[token]
	return data, ok
}

// sharing gives a letter the data that its row came without, and where a message's many
// changes leave it out the first letter of the message in a bundle, where the process
// has it. The zero value is ready for use; each bundle begins with it, since what a
// failed bundle stored may not be stored.
type sharing struct{ stored map[uint64]bool }

func (s *sharing) complete(l *Letter) {
	restore(l)
	token := l.Message.Token
	if token == 0 || !l.Message.DataLeftOut && !l.Shared || s.stored[token] {
		return
	}
	if l.Message.DataLeftOut {
		data, ok := kept.find(token)
		if !ok {
			return
		}
		l.Message.Data, l.Message.DataLeftOut, l.Shared = data, false, true
	}
	if s.stored == nil {
		s.stored = make(map[uint64]bool)
	}
	s.stored[token] = true
}
