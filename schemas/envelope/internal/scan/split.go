package scan

// The functions here walk over JSON that a Scanner has returned, and so has
// found to be valid.

// TrimSpace cuts JSON's white space from the beginning of text.
func TrimSpace(text string) string {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[i:]
		}
	}
	return ""
}

// EachElement calls yield for each element of an array, until it returns false.
func EachElement(raw string, yield func(element string) bool) {
	rest := TrimSpace(raw[1:])
	for rest[0] != ']' {
		n := end(rest)
		if !yield(rest[:n]) {
			return
		}
		if rest = TrimSpace(rest[n:]); rest[0] == ',' {
			rest = TrimSpace(rest[1:])
		}
	}
}

// EachMember calls yield for each member of an object, its name in quotes, until
// it returns false.
func EachMember(raw string, yield func(name, value string) bool) {
	rest := TrimSpace(raw[1:])
	for rest[0] != '}' {
		n := end(rest)
		name := rest[:n]
		rest = TrimSpace(TrimSpace(rest[n:])[1:]) // the colon
		n = end(rest)
		if !yield(name, rest[:n]) {
			return
		}
		if rest = TrimSpace(rest[n:]); rest[0] == ',' {
			rest = TrimSpace(rest[1:])
		}
	}
}

// end returns the length of the value that text begins with.
func end(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // a number or literal ended before it
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}
