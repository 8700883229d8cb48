package catalog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/internal/endpoint"
)

// checksAtOnce is how many tables Check reads at a time.
const checksAtOnce = 8

// Check asks BigQuery about all that can be known before the first message: that
// both endpoints can be reached, and that the tables of the rules with a literal
// destination take CDC rows; it creates those that are missing if CreateTables is
// set. It returns one error for each table, and a single one when BigQuery is out
// of reach, after CallTimeout: there is no retry here.
func (c *Catalog) Check(ctx context.Context) []error {
	if err := c.reachGRPC(ctx); err != nil {
		return []error{err}
	}
	matches := c.router.Literals()
	if len(matches) == 0 {
		if err := c.reachREST(ctx); err != nil {
			return []error{err}
		}
	}
	errs := make([]error, len(matches))
	// The first table alone tells whether BigQuery can be reached at all.
	if len(matches) > 0 {
		if _, errs[0] = c.Destination(ctx, matches[0]); errs[0] != nil && !IsPermanent(errs[0]) {
			return []error{fmt.Errorf("asking BigQuery (REST, %s): %w", c.config.rest(), errs[0])}
		}
	}
	var wait sync.WaitGroup
	turn := make(chan struct{}, checksAtOnce)
	for i := 1; i < len(matches); i++ {
		turn <- struct{}{}
		wait.Go(func() {
			defer func() { <-turn }()
			_, errs[i] = c.Destination(ctx, matches[i])
		})
	}
	wait.Wait()
	var found []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, errUndeclared) { // which the first message may mend
			found = append(found, err)
		}
	}
	return found
}

// reachREST connects to the configured REST address: with no table to ask for,
// any call would need a permission that the pipeline does not.
func (c *Catalog) reachREST(ctx context.Context) error {
	if c.config.RESTEndpoint == "" {
		return nil
	}
	address, err := url.Parse(c.config.RESTEndpoint)
	if err != nil {
		return fmt.Errorf("connecting to BigQuery: %w", err)
	}
	port := address.Port()
	if port == "" {
		port = address.Scheme
	}
	dialer := net.Dialer{Timeout: c.config.CallTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address.Hostname(), port))
	if err != nil {
		return fmt.Errorf("connecting to BigQuery (REST, %s): %w", c.config.RESTEndpoint, err)
	}
	return connection.Close()
}

// reachGRPC connects to the Storage Write API, where an address is configured.
// Google's own is not tried: what can go wrong there shows at REST too.
func (c *Catalog) reachGRPC(ctx context.Context) error {
	if c.config.GRPCEndpoint == "" || !c.config.Plaintext {
		return nil
	}
	if err := endpoint.Plain(c.config.GRPCEndpoint, c.config.AllowPlaintext); err != nil {
		return fmt.Errorf("connecting to the Storage Write API: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	connection, err := grpc.NewClient(c.config.GRPCEndpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connecting to the Storage Write API at %s: %w", c.config.GRPCEndpoint, err)
	}
	defer func() { _ = connection.Close() }()
	connection.Connect()
	for state := connection.GetState(); state != connectivity.Ready; state = connection.GetState() {
		if !connection.WaitForStateChange(ctx, state) {
			return fmt.Errorf("connecting to the Storage Write API at %s: no connection within %v (%s)",
				c.config.GRPCEndpoint, c.config.CallTimeout, connection.GetState())
		}
		if connection.GetState() == connectivity.Idle {
			connection.Connect()
		}
	}
	return nil
}

func (c Config) rest() string {
	if c.RESTEndpoint == "" {
		return "Google's own"
	}
	return c.RESTEndpoint
}
