package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/credentials/oauth"

	"beamcdc/tests/internal/emulatorcmd"
)

// backend is what is tested: an emulator, or BigQuery itself.
type backend struct {
	project, dataset string
	region           string               // the dataset's, as INFORMATION_SCHEMA is qualified by it: region-us
	program          string               // the built cmd/emulator; empty for BigQuery itself
	emulator         *emulatorcmd.Process // nil for BigQuery itself
	buckets          string               // the folder of the emulator's Cloud Storage
	grpcAddr         string
	grpcOptions      []grpc.DialOption
	rest, write      []option.ClientOption // where the clients connect to

	bq     *bigquery.Client
	writer *managedwriter.Client
	conn   *grpc.ClientConn
	raw    storagepb.BigQueryWriteClient
}

// newBackend starts an emulator unless the environment names a project of BigQuery's.
func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{project: os.Getenv("BEAMCDC_CONFORMANCE_PROJECT"), dataset: os.Getenv("BEAMCDC_CONFORMANCE_DATASET")}
	if b.project != "" {
		if err := b.useBigQuery(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.connect(t)
		return b
	}
	var err error
	if b.program, err = emulatorcmd.Build(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return startEmulator(t, b.program)
}

// startEmulator starts an emulator; the test stops it.
func startEmulator(t *testing.T, program string) *backend {
	t.Helper()
	b := &backend{program: program, project: "conformance", dataset: "cases", buckets: t.TempDir()}
	var err error
	if b.emulator, err = emulatorcmd.Start(program, "--project", b.project, "--dataset", b.dataset, "--buckets", b.buckets); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.emulator.Stop(); err != nil {
			t.Error(err)
		}
	})
	b.grpcAddr = b.emulator.GRPC
	b.grpcOptions = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	b.rest = []option.ClientOption{option.WithEndpoint(b.emulator.REST), option.WithoutAuthentication()}
	b.write = []option.ClientOption{
		option.WithEndpoint(b.grpcAddr), option.WithoutAuthentication(), option.WithGRPCDialOption(b.grpcOptions[0]),
	}
	b.connect(t)
	return b
}

func (b *backend) useBigQuery(ctx context.Context) error {
	if b.dataset == "" {
		return errors.New("BEAMCDC_CONFORMANCE_DATASET must name a dataset in which tables may be made and deleted")
	}
	token, err := oauth.NewApplicationDefault(ctx, "https://www.googleapis.com/auth/bigquery")
	if err != nil {
		return fmt.Errorf("taking the application default credentials: %w", err)
	}
	b.grpcAddr = "bigquerystorage.googleapis.com:443"
	b.grpcOptions = []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(nil)), grpc.WithPerRPCCredentials(token)}
	return nil
}

// connect makes the clients; the test closes them.
func (b *backend) connect(t *testing.T) {
	t.Helper()
	var err error
	if b.bq, err = bigquery.NewClient(t.Context(), b.project, b.rest...); err != nil {
		t.Fatalf("making the REST client: %v", err)
	}
	if b.writer, err = managedwriter.NewClient(t.Context(), b.project, b.write...); err != nil {
		t.Fatalf("making the write client: %v", err)
	}
	if b.conn, err = grpc.NewClient(b.grpcAddr, b.grpcOptions...); err != nil {
		t.Fatalf("making the gRPC connection: %v", err)
	}
	b.raw = storagepb.NewBigQueryWriteClient(b.conn)
	dataset, err := b.bq.Dataset(b.dataset).Metadata(t.Context())
	if err != nil {
		t.Fatalf("getting dataset %s: %v", b.dataset, err)
	}
	b.region = "region-" + strings.ToLower(dataset.Location)
	t.Cleanup(func() {
		if err := errors.Join(b.bq.Close(), b.writer.Close(), b.conn.Close()); err != nil {
			t.Logf("closing the clients: %v", err)
		}
	})
}

// caseTimeout bounds a case. BigQuery itself sees a new table after minutes.
func (b *backend) caseTimeout() time.Duration {
	if b.emulator == nil {
		return 15 * time.Minute
	}
	return 30 * time.Second
}
