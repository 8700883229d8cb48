package deadletter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *directoryFn) dofn.Func { return dofn.Func4x1(f.ProcessElement) })
	register.Emitter2[beam.EventTime, change.Receipt]()
}

// directoryFn stores each letter as a JSON file.
type directoryFn struct {
	Directory  string // on the file system of the worker
	Protection Protection

	protector protector
	sharing   sharing
	stored    []stamped // whose files are written, but not yet their directory
}

// stamped is what a stored letter releases, and its event time.
type stamped struct {
	time     beam.EventTime
	receipts []change.Receipt
}

// Setup creates the directory.
func (f *directoryFn) Setup(ctx context.Context) (err error) {
	if err := os.MkdirAll(f.Directory, 0o700); err != nil {
		return fmt.Errorf("creating the directory of dead letters: %w", err)
	}
	f.protector, err = newProtector(ctx, f.Protection)
	return err
}

// StartBundle forgets what a failed bundle left.
func (f *directoryFn) StartBundle(_ func(beam.EventTime, change.Receipt)) {
	f.stored, f.sharing = f.stored[:0], sharing{}
}

// ProcessElement writes the letter's file or files.
func (f *directoryFn) ProcessElement(ctx context.Context, ts beam.EventTime, l Letter, _ func(beam.EventTime, change.Receipt)) error {
	f.sharing.complete(&l)
	items, err := l.items(&f.protector)
	if err != nil {
		return fmt.Errorf("storing the dead letter of message %s: %w", l.Message.ID, err)
	}
	for _, item := range items { // the message before the letter that refers to it
		if err := writeFile(f.Directory, &item); err != nil {
			return fmt.Errorf("storing the dead letter of message %s: %w", l.Message.ID, err)
		}
	}
	count(ctx, &l)
	f.stored = append(f.stored, stamped{ts, l.Receipts})
	return nil
}

// FinishBundle makes the files' names durable and releases their receipts.
func (f *directoryFn) FinishBundle(_ context.Context, emit func(beam.EventTime, change.Receipt)) error {
	if len(f.stored) == 0 {
		return nil
	}
	// Invariant 1: a name that is only in memory is gone with the machine, so
	// the directory is synced before any receipt is released.
	if err := syncDirectory(f.Directory); err != nil {
		return fmt.Errorf("storing dead letters: %w", err)
	}
	for _, s := range f.stored {
		for _, r := range s.receipts {
			emit(s.time, r)
		}
	}
	f.stored = f.stored[:0]
	return nil
}

// writeFile writes the letter to a temporary name, then gives it its own: a
// reader sees a whole file or none, and a redelivered letter replaces itself alone; one
// that comes without its data, whose message has ended, replaces none that may have it.
func writeFile(directory string, l *Letter) (err error) {
	path := filepath.Join(directory, fileName(l))
	if l.Message.DataLeftOut {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(l.stored().withText()); err != nil {
		return err
	}
	file, err := os.CreateTemp(directory, ".letter-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the error that matters is the one before
		}
	}()
	if _, err := file.Write(text.Bytes()); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Chmod(0o600); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Sync(); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func syncDirectory(directory string) error {
	d, err := os.Open(directory)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}

// fileName returns a name that no ID can make leave its directory, hide, or be
// another letter's, on file systems that fold case too. It ends with the time of
// publishing in microseconds: an embedded Pub/Sub numbers its messages from the start
// in each process, and what one run stores must not replace what another has.
func fileName(l *Letter) string {
	const longest = 64
	published := ""
	if t := l.Message.PublishTime; !t.IsZero() {
		published = "." + strconv.FormatInt(t.UnixMicro(), 10)
	}
	id := l.ID()
	name := strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9', 'a' <= r && r <= 'z', r == '_':
			return r
		case r == '/':
			return '-'
		}
		return -1
	}, id)
	if n := strings.Count(id, "/"); (n == 2 || n == 3 && l.Message.Replays > 0) && len(name) == len(id) && len(name) <= longest {
		return name + published + ".json"
	}
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), longest)] + "-" + hex.EncodeToString(sum[:16]) + published + ".json"
}

// checkDirectory reports whether letters can be stored in the directory, which it creates.
func checkDirectory(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return fmt.Errorf("creating the directory of dead letters: %w", err)
	}
	probe, err := os.CreateTemp(directory, ".check-*.tmp")
	if err != nil {
		return fmt.Errorf("writing to the directory of dead letters: %w", err)
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}
