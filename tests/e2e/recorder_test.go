package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
)

// recorder stands before the services and notes which methods are called, as their
// documentation names them: "bigquery.tables.get", "google.pubsub.v1.Publisher/Publish",
// and of a query its kind of statement, "bigquery.query SELECT".
type recorder struct {
	pubsub, write string // host:port
	rest          string // URL

	mu    sync.Mutex
	calls map[string]bool
}

func record(t *testing.T, s *services) *recorder {
	t.Helper()
	r := &recorder{calls: make(map[string]bool)}
	r.pubsub = r.forward(t, s.pubsub.Addr)
	r.write = r.forward(t, s.bigquery.GRPCAddr())
	to, err := url.Parse(s.bigquery.RESTAddr())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		for _, call := range restCalls(request.Method, request.URL.Path, body) {
			r.note(call)
		}
		proxy.ServeHTTP(w, request)
	}))
	t.Cleanup(front.Close)
	r.rest = front.URL
	return r
}

func (r *recorder) note(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[call] = true
}

// taken returns the calls so far, and forgets them.
func (r *recorder) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := slices.Sorted(maps.Keys(r.calls))
	r.calls = make(map[string]bool)
	return calls
}

// frame is a message of gRPC's that is passed on as it is.
type frame struct{ data []byte }

type frames struct{}

func (frames) Marshal(v any) ([]byte, error) { return v.(*frame).data, nil }
func (frames) Name() string                  { return "proto" }
func (frames) Unmarshal(data []byte, v any) error {
	v.(*frame).data = slices.Clone(data)
	return nil
}

// forward passes gRPC calls on to the address, and returns its own.
func (r *recorder) forward(t *testing.T, to string) string {
	t.Helper()
	const largest = 64 << 20
	connection, err := grpc.NewClient(to, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(frames{}), grpc.MaxCallRecvMsgSize(largest), grpc.MaxCallSendMsgSize(largest)))
	if err != nil {
		t.Fatal(err)
	}
	pass := func(_ any, in grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(in)
		r.note(strings.TrimPrefix(method, "/"))
		ctx, cancel := context.WithCancel(in.Context())
		defer cancel()
		if md, ok := metadata.FromIncomingContext(ctx); ok {
			ctx = metadata.NewOutgoingContext(ctx, md)
		}
		out, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
		if err != nil {
			return err
		}
		go func() {
			for {
				var f frame
				if err := in.RecvMsg(&f); err != nil {
					_ = out.CloseSend() // the answer tells
					return
				}
				if out.SendMsg(&f) != nil {
					return
				}
			}
		}()
		for {
			var f frame
			err := out.RecvMsg(&f)
			if errors.Is(err, io.EOF) {
				in.SetTrailer(out.Trailer())
				return nil
			}
			if err == nil {
				err = in.SendMsg(&f)
			}
			if err != nil {
				in.SetTrailer(out.Trailer())
				return err
			}
		}
	}
	server := grpc.NewServer(grpc.ForceServerCodec(frames{}), grpc.UnknownServiceHandler(pass), grpc.MaxRecvMsgSize(largest))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }() // it ends with the test
	t.Cleanup(func() { server.Stop(); _ = connection.Close() })
	return listener.Addr().String()
}

var restPath = regexp.MustCompile(`^(?:/bigquery/v2)?/projects/[^/]+(?:/(datasets|jobs|queries)(?:/[^/]+(?:/(tables)(?:/([^/]+)(/.*)?)?)?)?)?$`)

// restCalls returns the methods of BigQuery's REST API that a request calls.
func restCalls(method, path string, body []byte) []string {
	m := restPath.FindStringSubmatch(path)
	verbs := map[string]string{"GET": "get", "POST": "insert", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
	switch {
	case m == nil:
		return []string{"unknown " + method + " " + path}
	case m[1] == "jobs" && method == http.MethodPost, m[1] == "queries" && method == http.MethodPost:
		var asked struct {
			Query         string
			Configuration struct {
				Query *struct{ Query string }
			}
		}
		_ = json.Unmarshal(body, &asked) // an unknown one is reported
		text := asked.Query
		if asked.Configuration.Query != nil {
			text = asked.Configuration.Query.Query
		}
		var calls []string
		for _, kind := range statementKinds(text) {
			calls = append(calls, "bigquery.query "+kind)
		}
		return calls
	case m[1] == "jobs", m[1] == "queries":
		return []string{"bigquery.jobs.get of its own"}
	case strings.HasSuffix(path, ":testIamPermissions"):
		return []string{"bigquery.tables.testIamPermissions"}
	case m[2] == "tables" && m[4] != "":
		return []string{"bigquery.tabledata" + strings.ReplaceAll(m[4], "/", ".")}
	case m[2] == "tables":
		return []string{"bigquery.tables." + verbs[method]}
	}
	return []string{"bigquery.datasets." + verbs[method]}
}

var statementWords = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|CREATE OR REPLACE VIEW|CREATE OR REPLACE TABLE|CREATE VIEW|CREATE TABLE|CREATE SCHEMA|ALTER TABLE|ALTER VIEW|DROP TABLE|INSERT|MERGE|BEGIN|SET)\b`)

var (
	sqlComments = regexp.MustCompile(`(?m)--.*$|#.*$`)
	schemaViews = regexp.MustCompile(`(?i)INFORMATION_SCHEMA\W*([A-Z_]+)`)
)

// statementKinds returns what a query is, for each of the system's views that it reads.
func statementKinds(text string) []string {
	text = sqlComments.ReplaceAllString(text, "")
	kind := strings.ToUpper(strings.TrimSpace(statementWords.FindString(text)))
	switch kind {
	case "WITH", "SELECT":
		kind = "SELECT"
	case "":
		return []string{"unknown " + text}
	}
	var kinds []string
	for _, view := range schemaViews.FindAllStringSubmatch(text, -1) {
		kinds = append(kinds, kind+" INFORMATION_SCHEMA."+strings.ToUpper(view[1]))
	}
	if kinds == nil {
		kinds = []string{kind}
	}
	return kinds
}

// A recorder changes nothing of what it passes on.
func TestRecorder_errors(t *testing.T) {
	s := startServices(t, "")
	r := record(t, s)
	connection, err := grpc.NewClient(r.pubsub, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	err = connection.Invoke(t.Context(), "/google.pubsub.v1.Publisher/NoSuch", &frame{}, &frame{}, grpc.ForceCodec(frames{}))
	if grpcstatus.Code(err) != codes.Unimplemented || !slices.Equal(r.taken(), []string{"google.pubsub.v1.Publisher/NoSuch"}) {
		t.Error(err)
	}
}
