package fill

import (
	"bytes"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// FuzzState reads what a row, a changed key and what goes between the stages are kept
// as: any bytes are read or refused, and what is read is written as the same again.
func FuzzState(f *testing.F) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Deletes: "soft"})
	var m memory
	m.take(softChange(2, change.OpUpdate, ""), s, time.Unix(1, 0)) // waits
	f.Add(m.append(nil))
	m.take(softChange(1, change.OpCreate, "large"), s, time.Unix(1, 0))
	m.take(softChange(3, change.OpDelete, ""), s, time.Unix(1, 0))
	f.Add(m.append(nil))
	all := keptMoves{}
	w, told := waitingOf("m", 9, 1), toldOf("m", "parent", 1, "large")
	f.Add(w.append(nil))
	f.Add(told.append(nil))
	if _, err := wait(all, w, s, time.Unix(1, 0)); err != nil {
		f.Fatal(err)
	}
	f.Add(all["m"])
	if _, err := hear(all, told, time.Unix(1, 0)); err != nil {
		f.Fatal(err)
	}
	f.Add(all["m"])
	f.Add(all["parent"])
	f.Fuzz(func(t *testing.T, src []byte) {
		again := func(what string, coded []byte, read func([]byte) ([]byte, error)) {
			if second, err := read(coded); err != nil || !bytes.Equal(second, coded) {
				t.Fatalf("%s: %x became %x, %v", what, coded, second, err)
			}
		}
		readRow := func(b []byte) ([]byte, error) { m, err := readMemory(b); return m.append(nil), err }
		readKeyChange := func(b []byte) ([]byte, error) {
			m, err := readMove(b)
			if err != nil {
				return nil, err
			}
			return m.append(nil), nil
		}
		readBetween := func(b []byte) ([]byte, error) {
			w, told, err := readChained(b)
			if w != nil {
				return w.append(nil), err
			}
			return told.append(nil), err
		}
		for what, read := range map[string]func([]byte) ([]byte, error){"a row": readRow, "a changed key": readKeyChange, "between the stages": readBetween} {
			if coded, err := read(bytes.Clone(src)); err == nil {
				again(what, coded, read)
			}
		}
	})
}
