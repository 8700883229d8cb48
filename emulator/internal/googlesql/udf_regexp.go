package googlesql

import (
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// expressions caches compiled regular expressions, up to a number.
var expressions = struct {
	sync.Mutex
	compiled map[string]*regexp.Regexp
}{compiled: map[string]*regexp.Regexp{}}

func compile(pattern string) (*regexp.Regexp, error) {
	expressions.Lock()
	defer expressions.Unlock()
	if re, ok := expressions.compiled[pattern]; ok {
		return re, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errQuery("Cannot parse regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if len(expressions.compiled) > 1000 {
		clear(expressions.compiled)
	}
	expressions.compiled[pattern] = re
	return re, nil
}

// compileOne refuses an expression with several groups.
func compileOne(pattern string) (*regexp.Regexp, error) {
	re, err := compile(pattern)
	if err == nil && re.NumSubexp() > 1 {
		return nil, errQuery("Regular expression has more than 1 capturing group")
	}
	return re, err
}

// regexpExtract finds the n-th match from a position, or its group; nil if there is none.
func regexpExtract(s, pattern string, position, n int64) (any, error) {
	re, err := compileOne(pattern)
	if err != nil {
		return nil, err
	}
	if position < 1 || n < 1 {
		return nil, errQuery("Position and occurrence in REGEXP_EXTRACT must be positive")
	}
	for position > 1 && s != "" {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		position--
	}
	if position > 1 {
		return nil, nil
	}
	all := re.FindAllStringSubmatchIndex(s, int(min(n, math.MaxInt32)))
	if int64(len(all)) < n {
		return nil, nil
	}
	m := all[n-1]
	if m[len(m)-2] < 0 {
		return nil, nil
	}
	return s[m[len(m)-2]:m[len(m)-1]], nil
}

// regexpReplace replaces all matches; \0 to \9 in the replacement are groups.
func regexpReplace(s, pattern, replacement string) (any, error) {
	re, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	var template strings.Builder
	for i := 0; i < len(replacement); i++ {
		switch c := replacement[i]; {
		case c == '$':
			template.WriteString("$$")
		case c != '\\':
			template.WriteByte(c)
		case i+1 < len(replacement) && replacement[i+1] == '\\':
			i++
			template.WriteByte('\\')
		case i+1 < len(replacement) && replacement[i+1] >= '0' && replacement[i+1] <= '9':
			i++
			if int(replacement[i]-'0') > re.NumSubexp() {
				return nil, errQuery("Invalid REGEXP_REPLACE pattern: it has no group \\%c", replacement[i])
			}
			template.WriteString("${" + string(replacement[i]) + "}")
		default:
			return nil, errQuery("Invalid REGEXP_REPLACE pattern")
		}
	}
	return re.ReplaceAllString(s, template.String()), nil
}
