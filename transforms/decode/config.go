package decode

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"time"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope"
)

// Defaults of a SchemaConfig's zero values.
const (
	DefaultRetryFor    = 10 * time.Minute
	DefaultCallTimeout = 10 * time.Second
)

// Config says how messages are decoded. It is a DoFn's configuration: it survives
// serialization, and holds no credential.
type Config struct {
	// Envelope is what the messages are.
	Envelope envelope.Options
	// Schemas is where the schemas of messages in Avro are found.
	Schemas SchemaConfig
}

// SchemaConfig is where the schemas of messages in Avro are found: Pub/Sub's, by
// the attributes of a message, and those of a schema registry, by their ID.
type SchemaConfig struct {
	// RegistryURL is that of a schema registry with Confluent's API, of Apicurio
	// ".../apis/ccompat/v7". "" means that there is none. It holds no user.
	RegistryURL string
	// RegistryAuthFile is a file on the workers that holds USER:PASSWORD for the
	// registry, which for Confluent's cloud are an API key and its secret. ""
	// means that it asks for none.
	RegistryAuthFile string

	// PubSubEndpoint is Pub/Sub's host:port. "" means Google's, or what the
	// environment variable PUBSUB_EMULATOR_HOST names.
	PubSubEndpoint string
	// PubSubPlaintext connects to PubSubEndpoint without TLS and without
	// credentials: for emulators.
	PubSubPlaintext bool
	// AllowPlaintext lets plain text leave this machine, for Pub/Sub and the registry:
	// see package endpoint.
	AllowPlaintext bool

	// RetryFor is how long a schema is asked for before the bundle fails. It
	// defaults to 10 minutes.
	RetryFor time.Duration
	// CallTimeout bounds each try. It defaults to 10 seconds.
	CallTimeout time.Duration
}

// Validate reports what no run can succeed with.
func (c Config) Validate() error {
	if _, err := envelope.New(c.Envelope); err != nil {
		return err
	}
	return c.Schemas.Validate()
}

// Validate reports what no run can succeed with.
func (c SchemaConfig) Validate() error {
	if c.RetryFor < 0 || c.CallTimeout < 0 {
		return errors.New("looking for schemas: times must not be negative")
	}
	if c.PubSubPlaintext && c.PubSubEndpoint == "" {
		return errors.New("looking for schemas: plain text needs an endpoint of Pub/Sub")
	}
	if c.RegistryURL == "" {
		if c.RegistryAuthFile != "" {
			return errors.New("looking for schemas: credentials for a schema registry need its URL")
		}
		return nil
	}
	u, err := url.Parse(c.RegistryURL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return errors.New("looking for schemas: the schema registry's URL must read http://HOST or https://HOST, with a port and a path or without")
	case u.User != nil:
		return fmt.Errorf("looking for schemas: the URL of the schema registry %s holds a user; a file of USER:PASSWORD on the workers takes its place", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("looking for schemas: the URL of the schema registry %s ends in a query", u.Host)
	}
	if u.Scheme == "http" {
		if err := endpoint.Plain(c.RegistryURL, c.AllowPlaintext); err != nil {
			return fmt.Errorf("looking for schemas: the schema registry %w", err)
		}
	}
	return nil
}

func (c SchemaConfig) withDefaults() SchemaConfig {
	c.RetryFor = cmp.Or(c.RetryFor, DefaultRetryFor)
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	return c
}
