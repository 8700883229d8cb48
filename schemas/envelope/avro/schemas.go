package avro

import (
	"errors"
	"fmt"

	"beamcdc/schemas/envelope/internal/outcome"
)

// Ref says which schema a message was written with. It holds an ID, or a name
// and a revision.
type Ref struct {
	// ID is what a schema registry knows the schema by.
	ID uint64
	// Name is that of a Pub/Sub schema, "projects/P/schemas/S".
	Name string
	// Revision is the Pub/Sub schema's.
	Revision string
}

// String returns the reference for people.
func (r Ref) String() string {
	if r.Name == "" {
		return fmt.Sprintf("%d", r.ID)
	}
	return clip(r.Name) + "@" + clip(r.Revision)
}

// Schemas finds the text of a schema that a message refers to. It is called
// once for each schema as long as a Reader remembers it, from the Reader's
// goroutine, and may block.
//
// An error that is ErrUnknownSchema or ErrNotAvro is the message's fault, and
// the Reader asks again for the next message. Any other means that the schema
// can't be had now.
type Schemas interface {
	Schema(ref Ref) (string, error)
}

// The errors of a Schemas that are for good.
var (
	ErrUnknownSchema = errors.New("there is no such schema")
	ErrNotAvro       = errors.New("the schema is none of Avro's")
)

// The bounds of a Reader's cache. Beyond them it compiles schemas again.
const (
	maxSchemas    = 1024
	maxCacheBytes = 32 << 20 // of the schemas' texts
)

// cache keeps compiled schemas. Its zero value is ready to use.
type cache struct {
	byRef  map[Ref]*schema
	byText map[string]*schema // of files, which hold theirs
	bytes  int

	last    Ref // whose schema was used last
	lastRef *schema
}

// ref returns the schema of a reference.
func (c *cache) ref(ref Ref, from Schemas) (*schema, error) {
	if c.lastRef != nil && c.last == ref {
		return c.lastRef, nil
	}
	s, ok := c.byRef[ref]
	if !ok {
		if from == nil {
			return nil, outcome.Errorf(outcome.UnknownSchema, "the message refers to the schema %s, and no place to find it in is configured", ref)
		}
		text, err := from.Schema(ref)
		switch {
		case errors.Is(err, ErrUnknownSchema):
			return nil, outcome.Errorf(outcome.UnknownSchema, "finding the schema %s: %w", ref, err)
		case errors.Is(err, ErrNotAvro):
			return nil, outcome.Errorf(outcome.BadSchema, "finding the schema %s: %w", ref, err)
		case err != nil:
			return nil, fmt.Errorf("finding the schema %s: %w", ref, err) // the world's fault
		}
		if s, err = compile(text); err != nil {
			return nil, outcome.Errorf(outcome.BadSchema, "schema %s: %w", ref, err)
		}
		c.makeRoom(s)
		c.byRef[ref] = s
	}
	c.last, c.lastRef = ref, s
	return s, nil
}

// text returns the schema of a text.
func (c *cache) text(text string) (*schema, error) {
	if s, ok := c.byText[text]; ok {
		return s, nil
	}
	s, err := compile(text)
	if err != nil {
		return nil, outcome.Errorf(outcome.BadSchema, "%w", err)
	}
	c.makeRoom(s)
	c.byText[text] = s
	return s, nil
}

// makeRoom forgets everything when there is no room for one more.
func (c *cache) makeRoom(s *schema) {
	if c.byRef == nil || len(c.byRef)+len(c.byText) >= maxSchemas || c.bytes+s.bytes > maxCacheBytes {
		*c = cache{byRef: make(map[Ref]*schema), byText: make(map[string]*schema)}
	}
	c.bytes += s.bytes
}
