package table

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Router finds the rule and the destination of a source table. It is safe for
// any number of goroutines.
//
// The first rule that matches wins, in the order of the configuration, so that
// an exception stands before the pattern it is an exception from. A rule that
// can never win, because one before it matches all its sources, is an error.
//
// Two sources must not share a destination: their keys would overwrite each
// other. Two rules with one destination are refused at the start. What a pattern
// matches is known only when it comes, so a Router remembers which source each
// destination belongs to and refuses a second one. It remembers for itself:
// every process of a pipeline has a Router of its own, and two processes may
// each see another source first. Patterns whose placeholders tell their sources
// apart ("public.*" to "shop.{table}") have no need of that check.
type Router struct {
	rules    []compiledRule
	reserved map[Name]bool // that no rule may write
	literals map[Name]int  // destinations and histories without a placeholder: the rule that they belong to

	mu      sync.RWMutex
	matches map[string]Match // by source: what was found before, errors included
	owners  map[Name]string  // by destination: the source that it belongs to
}

// maxRemembered bounds the matches that a Router keeps to answer faster: the
// names come from messages, which may hold any number of them.
const maxRemembered = 10_000

type compiledRule struct {
	rule        *Rule
	source      pattern
	destination *template
	history     *template // nil for none
}

// Match is what a Router found for a source.
type Match struct {
	Rule    *Rule // shared: not to be changed
	Index   int   // the rule's place in the configuration, from 0
	Name    Name  // the destination
	History Name  // the append-only table; zero where the rule asks for none

	// Declared are the key columns that a message names, for a rule that names none:
	// the primary key of a table that has to be created. A Router leaves it nil.
	Declared []string

	// Err says why there is no destination though a rule matches: the source's
	// name can't be put into it, or it belongs to another source already. Name
	// and History are zero then.
	Err error
}

// RuleError is what is wrong with one rule of the configuration.
type RuleError struct {
	Index int    // the rule's place in the configuration, from 0
	Key   string // the rule's key: "source", "destination", "history"
	Err   error
}

// Error returns "tables[0].source: …", as the configuration's keys are written.
func (e *RuleError) Error() string { return fmt.Sprintf("tables[%d].%s: %v", e.Index, e.Key, e.Err) }

// Unwrap returns the error without its place.
func (e *RuleError) Unwrap() error { return e.Err }

// NewRouter compiles the rules; project is the default for destinations that
// name none. The error joins a *RuleError for everything that is wrong with
// them. rules must not be changed afterwards. No rule may write a reserved table,
// such as that of the dead letters: by its destination that is an error here, by
// placeholders, which messages fill, one of the match.
func NewRouter(project string, rules []Rule, reserved ...string) (*Router, error) {
	r := &Router{reserved: make(map[Name]bool), literals: make(map[Name]int), matches: make(map[string]Match), owners: make(map[Name]string)}
	for _, text := range reserved {
		if name, err := ParseName(text, project); err == nil { // one that is no name can't be written
			r.reserved[name] = true
		}
	}
	var errs []error
	for i := range rules {
		compiled, err := compileRule(project, i, &rules[i])
		errs = append(errs, err...)
		r.rules = append(r.rules, compiled)
	}
	errs = append(errs, r.conflicts()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

func compileRule(project string, i int, rule *Rule) (compiledRule, []error) {
	c := compiledRule{rule: rule}
	var errs []error
	report := func(key string, err error) {
		if err != nil {
			errs = append(errs, &RuleError{Index: i, Key: key, Err: err})
		}
	}
	var err error
	c.source, err = parsePattern(rule.Source)
	report("source", err)
	if rule.Destination == "" {
		report("destination", errors.New("it is missing; write [project.]dataset.table"))
	} else {
		c.destination, err = parseTemplate(rule.Destination, project)
		report("destination", err)
	}
	if rule.History != "" {
		c.history, err = parseTemplate(rule.History, project)
		report("history", err)
	}
	return c, errs
}

// conflicts returns the rules that can't both be meant.
func (r *Router) conflicts() []error {
	var errs []error
	for i := range r.rules {
		c := &r.rules[i]
		report := func(key, format string, args ...any) {
			errs = append(errs, &RuleError{Index: i, Key: key, Err: fmt.Errorf(format, args...)})
		}
		claim := func(key string, t *template) {
			if t == nil || !t.literal {
				return
			}
			if r.reserved[t.name] {
				report(key, "%v is the dead letters' table: the rows of a source need a table of their own", t.name)
				return
			}
			if first, taken := r.literals[t.name]; taken && first != i {
				report(key, "%v is already a table of tables[%d] (source %s): each source needs a table of its own",
					t.name, first, clip(r.rules[first].rule.Source))
			} else if taken {
				report(key, "%v is the destination too: CDC rows and plain ones need a table each", t.name)
			} else {
				r.literals[t.name] = i
			}
		}
		for j := range i {
			if earlier := r.rules[j].source; earlier != nil && c.source != nil && earlier.covers(c.source) {
				report("source", "%q is never reached: tables[%d] (source %s) comes before it and matches all its tables; put it first",
					clip(c.rule.Source), j, clip(r.rules[j].rule.Source))
				break
			}
		}
		claim("destination", c.destination)
		claim("history", c.history)
		if c.destination != nil && c.history != nil && !c.destination.literal && c.history.literal {
			report("history", "%v is one table for all the destinations of %q; put {table} into it", c.history.name, clip(c.rule.Destination))
		}
	}
	return errs
}

// Route returns the rule for the table that a message names, and where its rows
// go; false when no rule is for it. A message that names no table ("") goes to
// the only rule there is, if that has neither a * nor a placeholder.
func (r *Router) Route(source string) (Match, bool) {
	r.mu.RLock()
	m, found := r.matches[source]
	r.mu.RUnlock()
	if found {
		return m, true
	}
	if source == "" {
		return r.routeUnnamed()
	}
	parts := strings.Split(source, ".")
	for i := range r.rules {
		if r.rules[i].source.match(parts) {
			return r.remember(source, r.expand(i, parts)), true
		}
	}
	return Match{}, false
}

// Nearest returns the source of the rule that is spelled nearly like a source that
// no rule is for, or that names it with more before it; "" for none.
func (r *Router) Nearest(source string) string {
	if len(source) > 1000 { // it comes from a message
		return ""
	}
	parts := strings.Split(source, ".")
	nearest, best := "", -1
	for i := range r.rules {
		n, near := r.rules[i].source.near(parts)
		if near && (best < 0 || n < best) {
			nearest, best = r.rules[i].rule.Source, n
		}
	}
	return nearest
}

func (r *Router) routeUnnamed() (Match, bool) {
	if len(r.rules) != 1 || !r.rules[0].source.literal() || !r.rules[0].destination.literal {
		return Match{}, false
	}
	return r.expand(0, nil), true
}

// expand returns the match of rule i for the source with these parts.
func (r *Router) expand(i int, parts []string) Match {
	c := &r.rules[i]
	m := Match{Rule: c.rule, Index: i}
	name, err := c.destination.expand(parts)
	if err == nil && c.history != nil {
		m.History, err = c.history.expand(parts)
	}
	if err != nil {
		m.History = Name{}
		m.Err = fmt.Errorf("finding the destination of source %q (tables[%d]): %w", clip(strings.Join(parts, ".")), i, err)
		return m
	}
	m.Name = name
	return m
}

// remember keeps the match, unless its destination belongs to another source.
func (r *Router) remember(source string, m Match) Match {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Err == nil {
		m = r.own(source, m)
	}
	if len(r.matches) < maxRemembered {
		r.matches[strings.Clone(source)] = m // a name in a message keeps the whole message
	}
	return m
}

// own makes the destination and the history the source's, or refuses.
func (r *Router) own(source string, m Match) Match {
	refused := func(format string, args ...any) Match {
		return Match{Rule: m.Rule, Index: m.Index, Err: fmt.Errorf("source %q (tables[%d]): %w", clip(source), m.Index, fmt.Errorf(format, args...))}
	}
	names := []Name{m.Name}
	if m.History != (Name{}) {
		names = append(names, m.History)
		if m.Name == m.History {
			return refused("%v is its destination and its history", m.Name)
		}
	}
	for _, name := range names {
		if r.reserved[name] {
			return refused("%v is the dead letters' table", name)
		}
		if index, literal := r.literals[name]; literal && index != m.Index {
			return refused("%v belongs to tables[%d] (source %s)", name, index, clip(r.rules[index].rule.Source))
		}
		if owner, owned := r.owners[name]; owned && owner != source {
			return refused("%v belongs to source %q: two tables would overwrite each other's rows; "+
				"tell them apart by {schema} and {table} in the destination, or by rules of their own", name, clip(owner))
		}
	}
	source = strings.Clone(source) // or it would keep its message
	for _, name := range names {
		r.owners[name] = source
	}
	return m
}

// Literals returns a match for every rule whose destination is the same whatever
// its source: what can be checked before the first message comes.
func (r *Router) Literals() []Match {
	var matches []Match
	for i := range r.rules {
		if c := &r.rules[i]; c.destination.literal {
			m := Match{Rule: c.rule, Index: i, Name: c.destination.name}
			if c.history != nil && c.history.literal {
				m.History = c.history.name
			}
			matches = append(matches, m)
		}
	}
	return matches
}
