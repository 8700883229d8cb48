package deadletter

import (
	"sync/atomic"
	"unsafe"

	"beamcdc/schemas/change"
)

// holder finds the data of a delivery that this process has taken, until it has ended.
var holder atomic.Pointer[func(token uint64) ([]byte, bool)]

// HoldBy tells where the data of the deliveries is that this process has taken and not
// acked yet. The source that acks calls it at its start.
func HoldBy(find func(token uint64) ([]byte, bool)) { holder.Store(&find) }

// Held reports whether the process holds the message's data, these very bytes, until the
// message is acked. A row of it need not carry them through a shuffle then: its letter
// gets them back where it is stored, which is before the ack. Where the data has come
// from elsewhere, by way of a runner's state or as the unpacked content of a message, it
// isn't held.
func Held(m *change.Message) bool {
	if len(m.Data) == 0 {
		return false
	}
	data, ok := find(m.Token)
	return ok && len(data) == len(m.Data) && unsafe.SliceData(data) == unsafe.SliceData(m.Data)
}

// restore gives the letter of a row that came without its message's data what the
// process holds. Where it holds none any more either the message was given back to the
// source and comes again, and so does its letter; or it was acked, after its letter was
// stored, and a bundle is repeated. Neither letter is replaced by this one.
func restore(l *Letter) {
	m := &l.Message
	if m.Token == 0 || m.DataLeftOut || len(m.Data) > 0 {
		return
	}
	if data, ok := find(m.Token); ok {
		m.Data = data
	} else {
		m.DataLeftOut = true
	}
}

func find(token uint64) ([]byte, bool) {
	find := holder.Load()
	if find == nil || token == 0 {
		return nil, false
	}
	return (*find)(token)
}
