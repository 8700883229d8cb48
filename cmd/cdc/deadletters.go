package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/letters"
)

func deadLettersCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	err := letters.Run(ctx, args, stdout, stderr)
	if usage := (letters.UsageError{}); errors.As(err, &usage) {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return err
}
