package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/pipeline"
)

// Request says what to examine beside the configuration.
type Request struct {
	Messages   int           // of the sample; 0 for none
	Wait       time.Duration // for how long the sample is waited for
	Dataflow   Dataflow
	unemulated unemulated
	// Progress is told of each check as it begins; it may be nil.
	Progress func(what string)
}

// callTime bounds each call to a service.
const callTime = 15 * time.Second

// examination is one run.
type examination struct {
	Report
	options  pipeline.Options
	request  Request
	bigquery *warehouse.Client // nil where there is no client
	tables   []*destination
}

// Examine looks at everything. What is wrong is in the report; nothing makes it
// give up but the context's end.
func Examine(ctx context.Context, o pipeline.Options, q Request) *Report {
	o.RunnerOwnsSource, o.AnyRunner = q.Dataflow.Wanted, false
	x := &examination{options: o, request: q}
	x.begin("the configuration")
	x.configuration()
	if x.Fatal() {
		return &x.Report // what it names can't be trusted
	}
	for _, check := range []struct {
		what   string
		do     func(context.Context)
		needed bool
	}{
		{aboutCredentials, x.credentials, true},
		{"the subscription", x.subscription, true},
		{"other consumers of the subscription", x.consumers, true},
		{"the dead letters' sink", x.deadLetters, true},
		{"the project's permissions", x.project, true},
		{"the tables", x.destinations, true},
		{"who else writes and reads the tables", x.usage, true},
		{"a sample of messages", x.sample, q.Messages > 0},
		{"the options of the Dataflow job", x.dataflow, q.Dataflow.Wanted},
	} {
		if ctx.Err() != nil {
			x.add(Finding{Unknown, check.what, fmt.Sprintf("interrupted: %v", context.Cause(ctx)), ""})
			break
		}
		if check.needed {
			x.begin(check.what)
			check.do(ctx)
		}
	}
	x.withoutCredentials()
	x.sort()
	return &x.Report
}

// withoutCredentials says of all that could not be looked at for want of credentials
// that this is why, instead of what else each advises: that they are missing is a
// finding of its own.
func (x *examination) withoutCredentials() {
	for i := range x.Findings {
		f := &x.Findings[i]
		if f.About == aboutCredentials || !strings.Contains(f.Problem, "could not find default credentials") { // Google's libraries have no type for it
			continue
		}
		if what, _, ok := strings.Cut(f.Problem, ": "); ok {
			f.Problem = what + ": there are no credentials"
		} else {
			f.Problem = "there are no credentials"
		}
		f.Mend = "see " + aboutCredentials + ", above"
	}
}

// granting advises a permission where an error is for want of one, and else otherwise.
func granting(err error, permission, otherwise string) string {
	e, ok := errors.AsType[*googleapi.Error](err)
	if ok && e.Code == http.StatusForbidden || status.Code(err) == codes.PermissionDenied {
		return strings.TrimSuffix("grant "+permission+", or "+otherwise, ", or ")
	}
	return otherwise
}

func (x *examination) begin(what string) {
	if x.request.Progress != nil {
		x.request.Progress(what)
	}
}

// configuration reports what pipeline.Validate finds.
func (x *examination) configuration() {
	err := x.options.Validate()
	x.checked("the configuration: %s", counted(len(x.options.Tables), "rule"))
	var findings pipeline.Findings
	switch {
	case err == nil:
	case errors.As(err, &findings):
		for _, f := range findings {
			x.add(Finding{Fatal, "the configuration", f.String(), ""})
		}
	default:
		x.add(Finding{Fatal, "the configuration", err.Error(), ""})
	}
}

// scope is what Google's clients ask a token for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// aboutCredentials is what findings about credentials are about.
const aboutCredentials = "credentials"

// credentials looks for application default credentials, where a service needs them.
func (x *examination) credentials(ctx context.Context) {
	if x.emulated() {
		x.checked("credentials: none are needed, all addresses are emulators'")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	const about = aboutCredentials
	found, err := google.FindDefaultCredentials(ctx, scope)
	if err != nil {
		x.add(Finding{Fatal, about, "there are no application default credentials", "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; on Google Cloud attach a service account"})
		return
	}
	if _, err := found.TokenSource.Token(); err != nil {
		x.add(Finding{Fatal, about, fmt.Sprintf("the credentials give no token: %v", err), "run `gcloud auth application-default login` again, or look whether the service account is enabled"})
		return
	}
	x.checked("credentials: a token was given")
}

// emulated says whether no address is Google's own.
func (x *examination) emulated() bool {
	return x.options.Runtime.BigQueryRESTEndpoint != "" && pubsubEmulated(&x.options)
}
