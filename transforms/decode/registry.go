package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope"
)

// maxSchemaBytes bounds what is read of a registry's answer.
const maxSchemaBytes = 16 << 20

// maxRedirects is more than any registry has.
const maxRedirects = 5

// errorSchemaNotFound is the registry's own code for a schema that it doesn't
// have. Any other 404 comes from something that isn't the registry, or not at
// this path, and tells nothing of the schema:
// https://docs.confluent.io/platform/current/schema-registry/develop/api.html
const errorSchemaNotFound = 40403

// registry is a client of a schema registry's HTTP API, of which one call is
// needed: GET /schemas/ids/ID.
type registry struct {
	base     string // the URL without a slash at its end
	host     string // for errors
	authFile string
	client   http.Client // without a timeout of its own: a call's context has one
}

func newRegistry(c SchemaConfig) *registry {
	r := &registry{base: strings.TrimRight(c.RegistryURL, "/"), authFile: c.RegistryAuthFile}
	if u, err := url.Parse(c.RegistryURL); err == nil {
		r.host = u.Host
	}
	// A redirect takes the credentials with it, to the same host by http:// too.
	r.client.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if to.URL.Scheme != "https" {
			if err := endpoint.Plain(to.URL.Scheme+"://"+to.URL.Host, c.AllowPlaintext); err != nil {
				return fmt.Errorf("it redirects: %w", err)
			}
		}
		if len(via) >= maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		return nil
	}
	return r
}

// registered is the registry's answer.
type registered struct {
	Schema     string `json:"schema"`
	SchemaType string `json:"schemaType"` // "" is AVRO
	References []struct {
		Name string `json:"name"`
	} `json:"references"`

	ErrorCode int `json:"error_code"`
}

// get asks for a schema by its ID.
func (r *registry) get(ctx context.Context, ref envelope.SchemaRef) (string, error) {
	text, err := r.ask(ctx, ref.ID)
	if err != nil {
		return "", fmt.Errorf("asking the schema registry at %s: %w", r.host, err)
	}
	return text, nil
}

func (r *registry) ask(ctx context.Context, id uint64) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/schemas/ids/"+strconv.FormatUint(id, 10), http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/vnd.schemaregistry.v1+json, application/json")
	if err := r.authorize(request); err != nil {
		return "", err
	}
	response, err := r.client.Do(request)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // its text holds the URL
		}
		return "", &transientError{err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxSchemaBytes+1))
	if err != nil {
		return "", &transientError{err}
	}
	return read(response.StatusCode, body)
}

// read tells what a response means.
func read(status int, body []byte) (string, error) {
	var a registered
	badJSON := json.Unmarshal(body, &a)
	switch {
	case status == http.StatusNotFound && badJSON == nil && a.ErrorCode == errorSchemaNotFound:
		return "", envelope.ErrUnknownSchema
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		return "", &transientError{fmt.Errorf("it answers %d %s", status, http.StatusText(status))}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "", fmt.Errorf("it answers %d %s: the file with USER:PASSWORD is missing, or not its", status, http.StatusText(status))
	case status != http.StatusOK:
		return "", fmt.Errorf("it answers %d %s, which is no answer of a schema registry: is its URL right?", status, http.StatusText(status))
	case len(body) > maxSchemaBytes:
		return "", fmt.Errorf("it answers more than %d bytes: %w", maxSchemaBytes, envelope.ErrNotAvro)
	case badJSON != nil || a.Schema == "":
		return "", errors.New("its answer holds no schema: is its URL right?")
	case a.SchemaType != "" && a.SchemaType != "AVRO":
		return "", fmt.Errorf("the schema is of type %.20q: %w", a.SchemaType, envelope.ErrNotAvro)
	case len(a.References) > 0:
		return "", fmt.Errorf("the schema refers to other schemas, which is not supported: %w", envelope.ErrNotAvro)
	}
	return a.Schema, nil
}

// authorize reads the credentials anew for each call, of which there are few: a
// rotated secret needs no restart.
func (r *registry) authorize(request *http.Request) error {
	if r.authFile == "" {
		return nil
	}
	text, err := os.ReadFile(r.authFile)
	if err != nil {
		return fmt.Errorf("reading its credentials: %w", err)
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !ok {
		return fmt.Errorf("reading its credentials: %s does not read USER:PASSWORD", r.authFile)
	}
	request.SetBasicAuth(user, password)
	return nil
}
