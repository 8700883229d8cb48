package connect

import "strings"

// A Cache's bounds. A pipeline of more tables than these still decodes; it
// compiles schemas again.
const (
	maxRecent  = 8
	maxSchemas = 1024
	maxBytes   = 16 << 20 // of the schemas' JSON
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
		if e.raw == "" {
			break
		}
		if strings.HasPrefix(text, e.raw) {
			found := *e
			c.use(found)
			return found.schema, len(found.raw)
		}
	}
	return nil, 0
}

// Schema returns the compiled schema of its JSON.
func (c *Cache) Schema(raw string) (*Schema, error) {
	if e, ok := c.schemas[raw]; ok {
		c.use(e)
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
	c.use(e)
	return s, nil
}

// use moves an entry to the front.
func (c *Cache) use(e entry) {
	for i := range c.recent {
		c.recent[i], e = e, c.recent[i]
		if e.raw == "" || e.schema == c.recent[0].schema {
			return
		}
	}
}

// Bytes returns how many bytes of schemas' JSON the cache holds.
func (c *Cache) Bytes() int { return c.bytes }
