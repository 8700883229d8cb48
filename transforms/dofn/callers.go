package dofn

// The callers of ProcessElement, by the numbers of its parameters and results. Beam
// looks for their CallNxM, which saves it the slices of Call.

type func1x1[I0, R0 any] struct {
	named
	fn func(I0) R0
}

// Func1x1 returns what calls a function of 1 parameters and 1 results.
func Func1x1[I0, R0 any](fn func(I0) R0) Func {
	return &func1x1[I0, R0]{nameOf(fn), fn}
}

func (f *func1x1[I0, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0))}
}

func (f *func1x1[I0, R0]) Call1x1(a0 any) any {
	return f.fn(a0.(I0))
}

type func2x0[I0, I1 any] struct {
	named
	fn func(I0, I1)
}

// Func2x0 returns what calls a function of 2 parameters and 0 results.
func Func2x0[I0, I1 any](fn func(I0, I1)) Func {
	return &func2x0[I0, I1]{nameOf(fn), fn}
}

func (f *func2x0[I0, I1]) Call(a []any) []any {
	f.fn(a[0].(I0), a[1].(I1))
	return nil
}

func (f *func2x0[I0, I1]) Call2x0(a0, a1 any) {
	f.fn(a0.(I0), a1.(I1))
}

type func2x1[I0, I1, R0 any] struct {
	named
	fn func(I0, I1) R0
}

// Func2x1 returns what calls a function of 2 parameters and 1 results.
func Func2x1[I0, I1, R0 any](fn func(I0, I1) R0) Func {
	return &func2x1[I0, I1, R0]{nameOf(fn), fn}
}

func (f *func2x1[I0, I1, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1))}
}

func (f *func2x1[I0, I1, R0]) Call2x1(a0, a1 any) any {
	return f.fn(a0.(I0), a1.(I1))
}

type func3x0[I0, I1, I2 any] struct {
	named
	fn func(I0, I1, I2)
}

// Func3x0 returns what calls a function of 3 parameters and 0 results.
func Func3x0[I0, I1, I2 any](fn func(I0, I1, I2)) Func {
	return &func3x0[I0, I1, I2]{nameOf(fn), fn}
}

func (f *func3x0[I0, I1, I2]) Call(a []any) []any {
	f.fn(a[0].(I0), a[1].(I1), a[2].(I2))
	return nil
}

func (f *func3x0[I0, I1, I2]) Call3x0(a0, a1, a2 any) {
	f.fn(a0.(I0), a1.(I1), a2.(I2))
}

type func3x1[I0, I1, I2, R0 any] struct {
	named
	fn func(I0, I1, I2) R0
}

// Func3x1 returns what calls a function of 3 parameters and 1 results.
func Func3x1[I0, I1, I2, R0 any](fn func(I0, I1, I2) R0) Func {
	return &func3x1[I0, I1, I2, R0]{nameOf(fn), fn}
}

func (f *func3x1[I0, I1, I2, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2))}
}

func (f *func3x1[I0, I1, I2, R0]) Call3x1(a0, a1, a2 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2))
}

type func4x0[I0, I1, I2, I3 any] struct {
	named
	fn func(I0, I1, I2, I3)
}

// Func4x0 returns what calls a function of 4 parameters and 0 results.
func Func4x0[I0, I1, I2, I3 any](fn func(I0, I1, I2, I3)) Func {
	return &func4x0[I0, I1, I2, I3]{nameOf(fn), fn}
}

func (f *func4x0[I0, I1, I2, I3]) Call(a []any) []any {
	f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3))
	return nil
}

func (f *func4x0[I0, I1, I2, I3]) Call4x0(a0, a1, a2, a3 any) {
	f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3))
}

type func4x1[I0, I1, I2, I3, R0 any] struct {
	named
	fn func(I0, I1, I2, I3) R0
}

// Func4x1 returns what calls a function of 4 parameters and 1 results.
func Func4x1[I0, I1, I2, I3, R0 any](fn func(I0, I1, I2, I3) R0) Func {
	return &func4x1[I0, I1, I2, I3, R0]{nameOf(fn), fn}
}

func (f *func4x1[I0, I1, I2, I3, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3))}
}

func (f *func4x1[I0, I1, I2, I3, R0]) Call4x1(a0, a1, a2, a3 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3))
}

type func5x1[I0, I1, I2, I3, I4, R0 any] struct {
	named
	fn func(I0, I1, I2, I3, I4) R0
}

// Func5x1 returns what calls a function of 5 parameters and 1 results.
func Func5x1[I0, I1, I2, I3, I4, R0 any](fn func(I0, I1, I2, I3, I4) R0) Func {
	return &func5x1[I0, I1, I2, I3, I4, R0]{nameOf(fn), fn}
}

func (f *func5x1[I0, I1, I2, I3, I4, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3), a[4].(I4))}
}

func (f *func5x1[I0, I1, I2, I3, I4, R0]) Call5x1(a0, a1, a2, a3, a4 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3), a4.(I4))
}

type func5x2[I0, I1, I2, I3, I4, R0, R1 any] struct {
	named
	fn func(I0, I1, I2, I3, I4) (R0, R1)
}

// Func5x2 returns what calls a function of 5 parameters and 2 results.
func Func5x2[I0, I1, I2, I3, I4, R0, R1 any](fn func(I0, I1, I2, I3, I4) (R0, R1)) Func {
	return &func5x2[I0, I1, I2, I3, I4, R0, R1]{nameOf(fn), fn}
}

func (f *func5x2[I0, I1, I2, I3, I4, R0, R1]) Call(a []any) []any {
	r0, r1 := f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3), a[4].(I4))
	return []any{r0, r1}
}

func (f *func5x2[I0, I1, I2, I3, I4, R0, R1]) Call5x2(a0, a1, a2, a3, a4 any) (any, any) {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3), a4.(I4))
}

type func6x1[I0, I1, I2, I3, I4, I5, R0 any] struct {
	named
	fn func(I0, I1, I2, I3, I4, I5) R0
}

// Func6x1 returns what calls a function of 6 parameters and 1 results.
func Func6x1[I0, I1, I2, I3, I4, I5, R0 any](fn func(I0, I1, I2, I3, I4, I5) R0) Func {
	return &func6x1[I0, I1, I2, I3, I4, I5, R0]{nameOf(fn), fn}
}

func (f *func6x1[I0, I1, I2, I3, I4, I5, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3), a[4].(I4), a[5].(I5))}
}

func (f *func6x1[I0, I1, I2, I3, I4, I5, R0]) Call6x1(a0, a1, a2, a3, a4, a5 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3), a4.(I4), a5.(I5))
}

type func7x1[I0, I1, I2, I3, I4, I5, I6, R0 any] struct {
	named
	fn func(I0, I1, I2, I3, I4, I5, I6) R0
}

// Func7x1 returns what calls a function of 7 parameters and 1 results.
func Func7x1[I0, I1, I2, I3, I4, I5, I6, R0 any](fn func(I0, I1, I2, I3, I4, I5, I6) R0) Func {
	return &func7x1[I0, I1, I2, I3, I4, I5, I6, R0]{nameOf(fn), fn}
}

func (f *func7x1[I0, I1, I2, I3, I4, I5, I6, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3), a[4].(I4), a[5].(I5), a[6].(I6))}
}

func (f *func7x1[I0, I1, I2, I3, I4, I5, I6, R0]) Call7x1(a0, a1, a2, a3, a4, a5, a6 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3), a4.(I4), a5.(I5), a6.(I6))
}

type func8x1[I0, I1, I2, I3, I4, I5, I6, I7, R0 any] struct {
	named
	fn func(I0, I1, I2, I3, I4, I5, I6, I7) R0
}

// Func8x1 returns what calls a function of 8 parameters and 1 results.
func Func8x1[I0, I1, I2, I3, I4, I5, I6, I7, R0 any](fn func(I0, I1, I2, I3, I4, I5, I6, I7) R0) Func {
	return &func8x1[I0, I1, I2, I3, I4, I5, I6, I7, R0]{nameOf(fn), fn}
}

func (f *func8x1[I0, I1, I2, I3, I4, I5, I6, I7, R0]) Call(a []any) []any {
	return []any{f.fn(a[0].(I0), a[1].(I1), a[2].(I2), a[3].(I3), a[4].(I4), a[5].(I5), a[6].(I6), a[7].(I7))}
}

func (f *func8x1[I0, I1, I2, I3, I4, I5, I6, I7, R0]) Call8x1(a0, a1, a2, a3, a4, a5, a6, a7 any) any {
	return f.fn(a0.(I0), a1.(I1), a2.(I2), a3.(I3), a4.(I4), a5.(I5), a6.(I6), a7.(I7))
}
