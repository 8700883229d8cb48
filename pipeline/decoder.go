package pipeline

import (
	"beamcdc/schemas/envelope"
	"beamcdc/transforms/decode"
)

// Decoder returns a decoder of the source's messages as the pipeline's workers have
// it, for whoever looks at messages without running the pipeline.
func (o *Options) Decoder() (*envelope.Decoder, error) { return decode.NewDecoder(o.decoding()) }
