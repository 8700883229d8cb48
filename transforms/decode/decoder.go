package decode

import "beamcdc/schemas/envelope"

// NewDecoder returns a decoder as the workers have it, for whoever looks at messages
// without a pipeline. It asks for schemas that a message names, as the workers do,
// and may block for RetryFor.
func NewDecoder(c Config) (*envelope.Decoder, error) {
	return envelope.New(c.Envelope, envelope.WithSchemas(schemasOf(c.Schemas)))
}
