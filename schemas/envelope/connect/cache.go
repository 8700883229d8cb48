package connect

import "strings"

// A Cache's bounds. A pipeline of more tables than these still decodes; it
// compiles schemas again.
const (
	maxRecent  = 128
	maxSchemas = 1024
	maxBytes   = 16 << 20 // of the schemas' JSON
	maxTail    = 64       // of a schema's bytes
)

// Cache keeps compiled schemas by their exact bytes: a source sends the same
// one with every message of a table. Its zero value is ready to use; it is for
// one goroutine.
type Cache struct {
	schemas map[string]entry
	bytes   int
	recent  [maxRecent]entry // the last used ones first
}

type entry struct {
	raw    string
	schema *Schema
}

// Prefix looks for a schema that text begins with, among those used last. It
// returns how long its JSON is, or 0. A JSON object ends where its bytes end,
// so what begins with a schema's bytes holds that schema: comparing is all that
// it costs to skip it.
func (c *Cache) Prefix(text string) (*Schema, int) {
	for i := range c.recent {
		e := &c.recent[i]
		n := len(e.raw)
		switch {
		case n == 0:
			return nil, 0
		case n > len(text) || text[max(0, n-maxTail):n] != e.raw[max(0, n-maxTail):] || text[:n] != e.raw:
			// The end holds the table's name, by which schemas of alike tables differ:
			// it is compared first.
			continue
		}
		found := *e
		c.use(i, found)
		return found.schema, n
	}
	return nil, 0
}

// Schema returns the compiled schema of its JSON.
func (c *Cache) Schema(raw string) (*Schema, error) {
	if e, ok := c.schemas[raw]; ok {
		c.use(c.place(e), e)
		return e.schema, nil
	}
	s, err := Compile(raw)
	if err != nil || s == nil {
		return nil, err
	}
	if len(raw) > maxBytes/4 {
		return s, nil
	}
	if c.schemas == nil || len(c.schemas) >= maxSchemas || c.bytes+len(raw) > maxBytes {
		c.schemas, c.bytes, c.recent = make(map[string]entry), 0, [maxRecent]entry{}
	}
	e := entry{strings.Clone(raw), s} // not the whole message
	c.schemas[e.raw] = e
	c.bytes += len(raw)
	c.use(maxRecent-1, e)
	return s, nil
}

// place returns where an entry is among the recent ones, or the last place.
func (c *Cache) place(e entry) int {
	for i := range c.recent {
		if c.recent[i].schema == e.schema {
			return i
		}
	}
	return maxRecent - 1
}

// use puts an entry to the front of the recent ones, and those before place one
// further back.
func (c *Cache) use(place int, e entry) {
	copy(c.recent[1:place+1], c.recent[:place])
	c.recent[0] = e
}

// Bytes returns how many bytes of schemas' JSON the cache holds.
func (c *Cache) Bytes() int { return c.bytes }
