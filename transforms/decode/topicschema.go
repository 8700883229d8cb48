package decode

import (
	"context"
	"fmt"
	"strings"
	"sync"

	pubsub "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope"
)

// topicSchemas finds the schemas of Pub/Sub's topics. It connects when the first
// one is asked for: most subscriptions need none.
type topicSchemas struct {
	config SchemaConfig

	mu     sync.Mutex
	client *pubsub.SchemaClient // lives as long as the process
}

// get asks for a revision of a schema.
func (t *topicSchemas) get(ctx context.Context, ref envelope.SchemaRef) (string, error) {
	name, err := schemaName(ref)
	if err != nil {
		return "", err
	}
	client, err := t.connect()
	if err != nil {
		return "", fmt.Errorf("connecting to Pub/Sub for schemas: %w", err)
	}
	found, err := client.GetSchema(ctx, &pubsubpb.GetSchemaRequest{Name: name, View: pubsubpb.SchemaView_FULL})
	if err != nil {
		return "", classify(err)
	}
	if found.GetType() != pubsubpb.Schema_AVRO {
		return "", fmt.Errorf("the schema is of type %s: %w", found.GetType(), envelope.ErrNotAvro)
	}
	return found.GetDefinition(), nil
}

// schemaName is the name that Pub/Sub knows a revision by. Attributes that name no
// schema are the publisher's.
func schemaName(ref envelope.SchemaRef) (string, error) {
	parts := strings.Split(ref.Name, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[2] != "schemas" || strings.Contains(ref.Name+ref.Revision, "@") {
		return "", fmt.Errorf("the name does not read projects/PROJECT/schemas/NAME: %w", envelope.ErrUnknownSchema)
	}
	if ref.Revision == "" {
		return ref.Name, nil
	}
	return ref.Name + "@" + ref.Revision, nil
}

// classify tells what an error of Pub/Sub's means, and is the only place that
// looks at its codes.
func classify(err error) error {
	err = fmt.Errorf("asking Pub/Sub for a schema: %w", err)
	switch status.Code(err) {
	case codes.NotFound, codes.InvalidArgument:
		return fmt.Errorf("%w: %w", envelope.ErrUnknownSchema, err)
	case codes.PermissionDenied:
		return fmt.Errorf("permission denied; the pipeline's account needs pubsub.schemas.get, as in roles/pubsub.viewer: %w", err)
	case codes.Unauthenticated, codes.Unimplemented:
		return err
	default:
		return &transientError{err}
	}
}

func (t *topicSchemas) connect() (*pubsub.SchemaClient, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client != nil {
		return t.client, nil
	}
	options, err := endpoint.PubSub(t.config.PubSubEndpoint, t.config.PubSubPlaintext, t.config.AllowPlaintext)
	if err != nil {
		return nil, err
	}
	client, err := pubsub.NewSchemaClient(context.Background(), options...) // not a bundle's context: it outlives them all
	if err == nil {
		client.CallOptions.GetSchema = nil // schemaSource tries again, and knows why
		t.client = client
	}
	return client, err
}
