package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/ddl"
)

func ddlCommand(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	err := ddl.Run(ctx, args, stdin, stdout)
	if bad, ok := errors.AsType[ddl.UsageError](err); ok {
		return fmt.Errorf("%w: %w; \"cdc ddl -h\" tells", errUsage, bad)
	}
	return err
}
