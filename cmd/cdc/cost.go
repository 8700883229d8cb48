package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/cost"
)

func costCommand(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	err := cost.Run(ctx, args, stdin, stdout)
	if bad, ok := errors.AsType[cost.UsageError](err); ok {
		return fmt.Errorf("%w: %w; \"cdc cost -h\" tells", errUsage, bad)
	}
	return err
}
