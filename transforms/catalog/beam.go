package catalog

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx/schema"
)

// Beam describes every registered DoFn's exported fields by a schema, and knows
// no end of a type that holds itself, as a STRUCT's column does: the process dies
// of a stack overflow before it starts. As a logical type of its own a Config is
// described by what stands here, and still travels as JSON.
func init() {
	schema.RegisterLogicalType(schema.ToLogicalType("beamcdc:catalog.Config:v1", reflect.TypeFor[Config](), reflect.TypeFor[struct{ JSON string }]()))
}
