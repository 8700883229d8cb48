package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/doctor"
)

func doctorCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	err := doctor.Run(ctx, args, stdout, stderr)
	if bad, ok := errors.AsType[doctor.UsageError](err); ok {
		return fmt.Errorf("%w: %w; \"cdc doctor -h\" tells", errUsage, bad)
	}
	return err
}
