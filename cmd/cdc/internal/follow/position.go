package follow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"beamcdc/schemas/table"
)

// Position is how far a table was followed, kept in a file.
type Position struct {
	Time time.Time // up to which, without it; zero for the table's creation

	path     string
	table    string
	function Function
}

// positionFile is the file.
type positionFile struct {
	Table    string    `json:"table"`
	Function Function  `json:"function"`
	Position time.Time `json:"position"`
}

// LoadPosition reads a position, and begins at since where the file isn't there yet.
// A file of another table or function is an error.
func LoadPosition(path string, name table.Name, function Function, since time.Time) (*Position, error) {
	p := &Position{Time: since, path: path, table: name.String(), function: function}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the position: %w", err)
	}
	var stored positionFile
	if err := json.Unmarshal(text, &stored); err != nil || stored.Position.IsZero() {
		return nil, fmt.Errorf("%s holds no position", path)
	}
	if stored.Table != p.table || stored.Function != function {
		return nil, fmt.Errorf("%s is the position of %s of %s, not of %s of %s: give each a file of its own", path, stored.Function, stored.Table, function, p.table)
	}
	p.Time = stored.Position
	return p, nil
}

// store replaces the file at once: whenever the process is killed, the file is the
// old one or the new.
func (p *Position) store() error {
	text, err := json.Marshal(positionFile{Table: p.table, Function: p.function, Position: p.Time.UTC()})
	if err != nil {
		return fmt.Errorf("storing the position: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(p.path), filepath.Base(p.path)+".*")
	if err != nil {
		return fmt.Errorf("storing the position: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), p.path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the old one stays
		return fmt.Errorf("storing the position: %w", err)
	}
	return nil
}
