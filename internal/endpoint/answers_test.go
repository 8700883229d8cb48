package endpoint

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"google.golang.org/grpc"
)

// A gRPC address in the place of a REST one is told of as that; one that speaks HTTP,
// or nothing, is not.
func TestREST_grpc(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go func() { _ = server.Serve(listener) }() // until Stop
	t.Cleanup(server.Stop)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{}`, http.StatusNotFound) }))
	t.Cleanup(web.Close)
	ask := func(address string) error {
		t.Helper()
		options, err := REST(address, false)
		if err != nil {
			t.Fatal(err)
		}
		client, err := bigquery.NewClient(t.Context(), "p", options...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }() // it was only asked
		_, err = client.Dataset("d").Metadata(t.Context())
		return err
	}
	want := listener.Addr().String() + " speaks gRPC, and no REST: bigquery_rest_endpoint is the other address"
	for range 20 { // who is first, the server's greeting or the request, differs
		if err := ask("http://" + listener.Addr().String()); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %s", err, want)
		}
	}
	if err := ask(web.URL); err == nil || strings.Contains(err.Error(), "gRPC") {
		t.Errorf("of a server of HTTP: %v", err)
	}
}
