package pipeline

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// readFor bounds the reading of a file that is not on this machine.
const readFor = time.Minute

// readFile reads a file of this machine, or gs://BUCKET/NAME where the program links
// Beam's file system for it, with the default credentials, or from the emulator that
// STORAGE_EMULATOR_HOST names.
func readFile(path string) ([]byte, error) {
	if !strings.Contains(path, "://") {
		return os.ReadFile(path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readFor)
	defer cancel()
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: this program reads files of this machine alone", path)
	}
	defer func() { _ = files.Close() }() // it was for reading alone
	text, err := filesystem.Read(ctx, files, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
