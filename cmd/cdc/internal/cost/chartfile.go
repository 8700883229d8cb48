package cost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// chartFile is the file that the chart goes to. Its methods do nothing where it is nil.
type chartFile struct {
	file *os.File
	made bool // by this run
	done bool
}

// openChart opens the file, and makes it where there is none; "" is no chart.
func openChart(path string) (*chartFile, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // documented
	}
	_, err := os.Stat(path)
	c := &chartFile{made: errors.Is(err, fs.ErrNotExist)}
	if c.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil { // for all to read, as far as the umask lets them
		return nil, fmt.Errorf("-chart: %w", err)
	}
	return c, nil
}

// write writes the report's chart, in the place of what the file had.
func (c *chartFile) write(r *report) error {
	if c == nil {
		return nil
	}
	if info, err := c.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := c.file.Truncate(0); err != nil {
			return fmt.Errorf("writing the chart: %w", err)
		}
	}
	if _, err := c.file.Write(r.svg()); err != nil {
		return fmt.Errorf("writing the chart: %w", err)
	}
	c.done = true
	if err := c.file.Close(); err != nil {
		return fmt.Errorf("writing the chart: %w", err)
	}
	return nil
}

// close ends a run: of one that failed no empty file stays.
func (c *chartFile) close() {
	if c == nil || c.done {
		return
	}
	_ = c.file.Close() // nothing was written
	if c.made {
		_ = os.Remove(c.file.Name())
	}
}
