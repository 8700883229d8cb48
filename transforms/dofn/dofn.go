// Package dofn registers DoFns with Beam so that their ProcessElement is called
// without reflection.
//
// Beam's package register does that too. For each DoFn, though, it instantiates a
// wrapper for every way in which StartBundle and FinishBundle could take some of
// ProcessElement's parameters: with five parameters tens of thousands of functions, an
// object of 40 to 100 MB and half a minute of compiling for each package, and for each
// again under the race detector. A bundle's first and last call may well go by
// reflection.
package dofn

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// Func is a function as Beam calls it.
type Func = reflectx.Func

// Register registers the DoFn T and the types of its ProcessElement. Call it in an
// init function, with the caller of its ProcessElement:
//
//	dofn.Register(func(f *decodeFn) dofn.Func { return dofn.Func5x1(f.ProcessElement) })
func Register[T any](processElement func(*T) Func) {
	t := reflect.TypeFor[T]()
	beam.RegisterDoFn(t)
	reflectx.RegisterStructWrapper(t, func(fn any) map[string]Func {
		return map[string]Func{"ProcessElement": processElement(fn.(*T))}
	})
}

// named is what Beam asks of every function beside calling it.
type named struct {
	name string
	typ  reflect.Type
}

func nameOf(fn any) named { return named{reflectx.FunctionName(fn), reflect.TypeOf(fn)} }

func (n named) Name() string       { return n.name }
func (n named) Type() reflect.Type { return n.typ }
