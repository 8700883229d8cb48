package change

// AppendValue appends the coding of one value, for who keeps many of them in memory.
func AppendValue(dst []byte, v *Value) []byte { return appendValue(dst, v) }

// ReadValues reads as many values as dst has, which share src's memory, and returns
// how many bytes they took.
func ReadValues(src []byte, dst []Value) (int, error) {
	r := reader{typ: "values", src: src}
	for i := range dst {
		dst[i] = r.value(0)
	}
	return r.at, r.err
}
