package letters

import (
	"context"

	"beamcdc/transforms/deadletter"
)

// opened is a sink whose letters are decrypted as they are loaded.
type opened struct {
	sink
	opener *deadletter.Opener // nil: there is no key
}

// opening returns the sink with what opens its letters, by the key at that place, "" for
// none. A list needs none: it shows nothing of the messages.
func opening(ctx context.Context, s sink, action, key string) (sink, error) {
	if action == "list" || key == "" {
		return &opened{s, nil}, nil
	}
	opener, err := deadletter.OpenKey(ctx, key)
	if err != nil {
		return nil, err
	}
	return &opened{s, opener}, nil
}

func (o *opened) load(ctx context.Context, h *Head) (deadletter.Stored, error) {
	stored, err := o.sink.load(ctx, h)
	if err != nil {
		return stored, err
	}
	if err := o.opener.Open(&stored); err != nil {
		return h.Stored, err
	}
	return stored, nil
}
