package decode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"beamcdc/schemas/envelope"
)

// The bounds of what a process remembers of schemas. A schema never changes; one
// that is missing can still be made, as after a restore of its registry.
const (
	maxAnswers     = 2048
	maxAnswerBytes = 64 << 20
	missingFor     = 30 * time.Second
)

// The pauses between tries, each twice the one before.
const (
	minPause = 100 * time.Millisecond
	maxPause = 5 * time.Second
)

// schemaSources holds the source of each configuration in this process, which
// its DoFns share: Beam makes one for each bundle at a time, and tears none down.
var schemaSources struct {
	sync.Mutex
	byConfig map[SchemaConfig]*schemaSource
}

func schemasOf(c SchemaConfig) *schemaSource {
	c = c.withDefaults()
	schemaSources.Lock()
	defer schemaSources.Unlock()
	s, ok := schemaSources.byConfig[c]
	if !ok {
		if schemaSources.byConfig == nil {
			schemaSources.byConfig = make(map[SchemaConfig]*schemaSource)
		}
		s = newSchemaSource(c)
		schemaSources.byConfig[c] = s
	}
	return s
}

// schemaSource finds schemas, and remembers them. It is an envelope.Schemas that
// goroutines may share.
type schemaSource struct {
	config   SchemaConfig
	registry *registry // nil: there is none
	topics   *topicSchemas
	calls    singleflight.Group

	mu      sync.Mutex
	answers map[envelope.SchemaRef]answer
	bytes   int
}

// answer is what was found for a reference.
type answer struct {
	text  string
	err   error     // that the schema is none, for good or for some time
	until time.Time // zero: for good
}

func newSchemaSource(c SchemaConfig) *schemaSource {
	s := &schemaSource{config: c, topics: &topicSchemas{config: c}}
	if c.RegistryURL != "" {
		s.registry = newRegistry(c)
	}
	return s
}

// Schema returns the text of a schema. It blocks while there is hope, for
// RetryFor at most.
func (s *schemaSource) Schema(ref envelope.SchemaRef) (string, error) {
	if a, ok := s.known(ref); ok {
		return a.text, a.err
	}
	found, err, _ := s.calls.Do(fmt.Sprintf("%d %s@%s", ref.ID, ref.Name, ref.Revision), func() (any, error) {
		if a, ok := s.known(ref); ok {
			return a, nil
		}
		text, err := s.ask(ref)
		a := answer{text: text, err: err}
		switch {
		case errors.Is(err, envelope.ErrUnknownSchema):
			a.until = time.Now().Add(missingFor)
		case err != nil && !errors.Is(err, envelope.ErrNotAvro):
			return answer{}, err // the world's fault (invariant 7): the bundle fails
		}
		s.remember(ref, a)
		return a, nil
	})
	if err != nil {
		return "", err
	}
	a, _ := found.(answer)
	return a.text, a.err
}

func (s *schemaSource) known(ref envelope.SchemaRef) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.answers[ref]
	return a, ok && (a.until.IsZero() || time.Now().Before(a.until))
}

func (s *schemaSource) remember(ref envelope.SchemaRef, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil || len(s.answers) >= maxAnswers || s.bytes+len(a.text) > maxAnswerBytes {
		s.answers, s.bytes = make(map[envelope.SchemaRef]answer), 0
	}
	s.answers[ref] = a
	s.bytes += len(a.text)
}

// ask asks for a schema until there is an answer, or no hope for one.
func (s *schemaSource) ask(ref envelope.SchemaRef) (string, error) {
	get := s.topics.get
	if ref.Name == "" {
		if s.registry == nil {
			return "", fmt.Errorf("no schema registry is configured: %w", envelope.ErrUnknownSchema)
		}
		get = s.registry.get
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.config.RetryFor)
	defer cancel()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		text, err := s.try(ctx, ref, get)
		if _, again := errors.AsType[*transientError](err); !again {
			return text, err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("gave up after %s: %w", s.config.RetryFor, err)
		case <-time.After(pause):
		}
	}
}

func (s *schemaSource) try(ctx context.Context, ref envelope.SchemaRef, get func(context.Context, envelope.SchemaRef) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	return get(ctx, ref)
}

// transientError is an error that may be gone at the next try.
type transientError struct{ err error }

func (e *transientError) Error() string { return e.err.Error() }

func (e *transientError) Unwrap() error { return e.err }
