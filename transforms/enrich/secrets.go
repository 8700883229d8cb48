package enrich

import (
	"context"
	"fmt"

	"beamcdc/schemas/table"
	"beamcdc/transforms/secret"
)

// readKey returns a mask's key. The error tells where it is, and nothing of it.
func readKey(ctx context.Context, where table.SecretKey) ([]byte, error) {
	key, err := secret.Read(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("reading a mask's key: %w", err)
	}
	return key, nil
}
