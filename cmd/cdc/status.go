package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/status"
)

func statusCommand(ctx context.Context, args []string, stdout io.Writer) error {
	err := status.Run(ctx, args, stdout)
	if bad, ok := errors.AsType[status.UsageError](err); ok {
		return fmt.Errorf("%w: %w; \"cdc status -h\" tells", errUsage, bad)
	}
	return err
}
