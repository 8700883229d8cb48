package letters

import (
	"fmt"
	"os"
)

// spool is a temporary file that messages wait in: a backlog of dead letters may be
// larger than memory.
type spool struct {
	file *os.File
	end  int64
}

// place is where in the spool some bytes are.
type place struct {
	at   int64
	size int
}

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "beamcdc-letters-*") // readable by its owner alone
	if err != nil {
		return nil, fmt.Errorf("making a temporary file for messages: %w", err)
	}
	_ = os.Remove(file.Name()) // it goes with the process, where the system can do that
	return &spool{file: file}, nil
}

func (s *spool) put(data []byte) (place, error) {
	if _, err := s.file.WriteAt(data, s.end); err != nil {
		return place{}, fmt.Errorf("writing a message to a temporary file: %w", err)
	}
	p := place{s.end, len(data)}
	s.end += int64(len(data))
	return p, nil
}

func (s *spool) get(p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("reading a message from a temporary file: %w", err)
	}
	return data, nil
}

func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // where it was not possible before
	return err
}
