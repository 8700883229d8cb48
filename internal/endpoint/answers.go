package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// rest is the HTTP client of addresses without TLS. It tells of one that speaks gRPC,
// the other of an emulator's two, which net/http has an error for that nobody understands.
var rest = sync.OnceValue(func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	t := &telling{transport: transport}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &heard{Conn: c, address: address, telling: t}, nil
	}
	return &http.Client{Transport: t}
})

// telling replaces the error of a request to an address that speaks gRPC.
type telling struct {
	transport *http.Transport
	grpc      sync.Map // addresses that began with a frame of HTTP/2 when they were heard last
}

func (t *telling) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.transport.RoundTrip(r)
	if err != nil {
		if _, ok := t.grpc.Load(r.URL.Host); ok {
			return nil, fmt.Errorf("%s speaks gRPC, and no REST: bigquery_rest_endpoint is the other address", r.URL.Host)
		}
	}
	return answer, err
}

// heard is a connection whose server's first bytes are looked at.
type heard struct {
	net.Conn
	address string
	telling *telling
	begun   bool // the first bytes have come
}

var errFrame = errors.New("the server speaks HTTP/2")

// Read reads. A server of HTTP/2 begins with a frame of settings, type 4, of less than
// 16 KiB, and on stream 0; what speaks HTTP/1.1 begins with "HTTP/".
func (c *heard) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if n < 4 || p[0] != 0 || p[3] != 4 {
		c.telling.grpc.Delete(c.address)
		return n, err
	}
	c.telling.grpc.Store(c.address, true)
	return 0, errFrame
}
