package table

import (
	"errors"
	"fmt"
	"strings"

	"beamcdc/internal/spelling"
)

// pattern is a rule's Source, split into its parts.
type pattern []string

func parsePattern(text string) (pattern, error) {
	if text == "" {
		return nil, errors.New("it is missing; name the source's table, such as public.orders or public.*")
	}
	parts := strings.Split(text, ".")
	for i, part := range parts {
		if part == "" {
			return nil, fmt.Errorf("%q: part %d is empty", clip(text), i+1)
		}
		if strings.ContainsAny(part, "{}") {
			return nil, fmt.Errorf("%q: {schema} and {table} belong into the destination", clip(text))
		}
	}
	return parts, nil
}

// literal reports whether the pattern has no *.
func (p pattern) literal() bool {
	for _, part := range p {
		if strings.ContainsRune(part, '*') {
			return false
		}
	}
	return true
}

// match reports whether the pattern fits the end of the source's name. Case counts.
func (p pattern) match(source []string) bool {
	if len(source) < len(p) {
		return false
	}
	end := source[len(source)-len(p):]
	for i, part := range p {
		if !matchPart(part, end[i]) {
			return false
		}
	}
	return true
}

// near returns by how many letters the ends of the pattern and of the source's name
// differ, and whether that is few. A * says nothing of what was meant.
func (p pattern) near(source []string) (int, bool) {
	n := min(len(p), len(source))
	all, named := 0, false
	for i := 1; i <= n; i++ {
		part, text := p[len(p)-i], source[len(source)-i]
		named = named || part != "*"
		if matchPart(part, text) {
			continue
		}
		differ, near := spelling.Near(part, text)
		if !near {
			return 0, false
		}
		all += differ
	}
	return all, named
}

// covers reports whether the pattern matches every source that other matches.
// A * in other stands for any text, which only a * can match: so it is enough to
// match other's own text.
func (p pattern) covers(other pattern) bool { return p.match(other) }

// matchPart matches text against a part in which * stands for any number of
// characters. It takes time for the product of both lengths at worst.
func matchPart(part, text string) bool {
	if part == "*" {
		return true
	}
	// On a mismatch the latest * takes one character more: an earlier one need
	// not be tried again.
	at, star, retry := 0, -1, 0
	for i := 0; i < len(text); {
		switch {
		case at < len(part) && part[at] == '*':
			star, retry = at, i
			at++
		case at < len(part) && part[at] == text[i]:
			at++
			i++
		case star >= 0:
			retry++
			at, i = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(part[at:], "*") == ""
}
