package fill

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
)

func init() {
	register.DoFn4x1[context.Context, []byte, change.RowChange, func([]byte, change.RowChange), error](&readFn{})
	register.Emitter2[[]byte, change.RowChange]()
}

type readFn struct {
	Config Config
}

// ProcessElement passes one on.
func (f *readFn) ProcessElement(_ context.Context, key []byte, c change.RowChange, emit func([]byte, change.RowChange)) error {
	emit(key, c)
	return nil
}
