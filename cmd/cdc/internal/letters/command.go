package letters

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/cmd/cdc/internal/arguments"
	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/pipeline"
)

// request is what the command line asks for.
type request struct {
	action string // "list", "show" or "replay"
	config *configured.Flags
	from   from
	filter filter
	asJSON bool

	each bool // of list

	to                string // of replay: the topic
	dryRun, old       bool
	asNew             bool
	jq, cel           string
	stdout, stderr    io.Writer
	started           time.Time
	mentionedProgress time.Time
}

// ErrLeft says that letters were not replayed: their outcomes tell why.
var ErrLeft = errors.New("some letters were not replayed")

// Run runs cdc dead-letters. Errors of the command line are UsageErrors.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	r, err := parse(args, time.Now())
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(stdout, usage)
		return err
	}
	if err != nil {
		return err
	}
	r.stdout, r.stderr = stdout, stderr
	o, err := r.config.OptionsOrNone()
	if err != nil {
		return UsageError{err}
	}
	s, err := open(ctx, &o, r.from)
	if err != nil {
		return err
	}
	opened, err := opening(ctx, s, r.action, o.DeadLetters.Key)
	if err == nil {
		err = r.run(ctx, &o, opened)
	}
	return errors.Join(err, s.close())
}

func parse(args []string, now time.Time) (*request, error) {
	if len(args) == 0 {
		return nil, usageErrorf("say what to do with the dead letters: list, show or replay; run \"cdc dead-letters -h\"")
	}
	r := &request{action: args[0], started: now}
	if slices.Contains([]string{"-h", "-help", "--help", "help"}, r.action) {
		return nil, flag.ErrHelp
	}
	if !slices.Contains([]string{"list", "show", "replay"}, r.action) {
		return nil, usageErrorf("dead-letters has no command %q; it has list, show and replay", r.action)
	}
	flags := flag.NewFlagSet("dead-letters "+r.action, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a bad flag gets one line
	r.config = configured.Add(flags)
	var stages, reasons, tables, ids, since, until, output string
	wait := 5 * time.Second
	flags.StringVar(&r.from.subscription, "dead_letter_subscription", "", "")
	flags.DurationVar(&wait, "wait", wait, "")
	flags.StringVar(&stages, "stage", "", "")
	flags.StringVar(&reasons, "reason", "", "")
	flags.StringVar(&tables, "table", "", "")
	flags.StringVar(&ids, "message_id", "", "")
	flags.StringVar(&since, "since", "", "")
	flags.StringVar(&until, "until", "", "")
	flags.StringVar(&output, "output", "table", "")
	switch r.action {
	case "list":
		flags.BoolVar(&r.each, "each", false, "")
	case "replay":
		flags.StringVar(&r.to, "to", "", "")
		flags.BoolVar(&r.dryRun, "dry_run", false, "")
		flags.StringVar(&r.jq, "repair_jq", "", "")
		flags.StringVar(&r.cel, "repair_cel", "", "")
		flags.BoolVar(&r.old, "forgotten_deletes", false, "")
		flags.BoolVar(&r.asNew, "as_new", false, "")
	}
	named, err := arguments.Parse(flags, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usageErrorf("%w; run \"cdc dead-letters -h\"", err)
	case output != "table" && output != "json":
		return nil, usageErrorf("-output %q is neither table nor json", output)
	case wait <= 0:
		return nil, usageErrorf("-wait %v is no time to wait", wait)
	case r.jq != "" && r.cel != "":
		return nil, usageErrorf("-repair_jq and -repair_cel are two repairs; give one")
	}
	r.asJSON, r.from.wait = output == "json", waiting(wait)
	// What the command line names is a letter or a message, as list -each prints them.
	r.filter = filter{stages: parseList(stages), reasons: parseList(reasons), tables: parseList(tables), ids: append(parseList(ids), named...)}
	if r.filter.since, err = parseWhen(since, now); err != nil {
		return nil, usageErrorf("-since: %w", err)
	}
	if r.filter.until, err = parseWhen(until, now); err != nil {
		return nil, usageErrorf("-until: %w", err)
	}
	return r, nil
}

func (r *request) run(ctx context.Context, o *pipeline.Options, s sink) error {
	var replayer *replayer
	if r.action == "replay" { // what is wrong with it is told before anything is read
		var err error
		if replayer, err = r.replayer(ctx, o); err != nil {
			return err
		}
	}
	all, err := s.heads(ctx)
	if err != nil {
		return err
	}
	letters, messages := parted(all)
	selected := slices.DeleteFunc(slices.Clone(letters), func(h *Head) bool { return !r.filter.takes(h) })
	switch r.action {
	case "list":
		if len(selected) == 0 {
			_, _ = fmt.Fprintln(r.stderr, r.filter.why(letters, s.String()))
			return nil
		}
		if r.each {
			return listEach(r.stdout, selected, r.asJSON)
		}
		return listGroups(r.stdout, selected, r.asJSON)
	case "show":
		switch {
		case len(letters) == 0:
			return fmt.Errorf("there is no dead letter in %s", s)
		case len(selected) == 0:
			return r.nothing(letters, s)
		}
		return show(ctx, r.stdout, s, selected, messages, r.asJSON)
	}
	switch {
	case len(letters) == 0: // who replays all that there is has done so
		_, _ = fmt.Fprintln(r.stderr, r.filter.why(letters, s.String()))
		return nil
	case len(selected) == 0: // a typo is no success
		return r.nothing(letters, s)
	}
	if err := r.connect(ctx, o, s, replayer); err != nil {
		return err
	}
	if p, ok := replayer.publisher.(*topicPublisher); ok {
		defer p.close()
	}
	replayer.messages = messages
	counts, err := replayer.run(ctx, withSiblings(selected, letters))
	r.summarize(counts)
	if err == nil && counts[outcomeFailed]+counts[outcomeRefused] > 0 {
		err = ErrLeft
	}
	return err
}

// nothing is the error of a filter that takes none of the letters.
func (r *request) nothing(letters []*Head, s sink) error {
	return fmt.Errorf("%s; \"list -each\" tells their IDs", r.filter.why(letters, s.String()))
}

// withSiblings adds the other letters of the selected letters' messages: publishing a
// message replays all of them.
func withSiblings(selected, all []*Head) []*Head {
	chosen := make(map[messageKey]bool)
	picked := make(map[*Head]bool)
	for _, h := range selected {
		picked[h] = true
		if h.MessageID != "" {
			chosen[h.message()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(h *Head) bool { return !picked[h] && !chosen[h.message()] })
}

// replayer returns a replayer without its sink and publisher, after a look at all that
// the command line and the configuration alone show to be wrong.
func (r *request) replayer(ctx context.Context, o *pipeline.Options) (*replayer, error) {
	x := &replayer{old: r.old, asNew: r.asNew, now: time.Now, report: reporter(r.stdout, r.asJSON), progress: r.progress}
	var err error
	switch {
	case r.jq != "":
		x.repair, err = jqRepair(r.jq)
	case r.cel != "":
		x.repair, err = celRepair(r.cel)
	}
	if err != nil {
		return nil, UsageError{err}
	}
	if x.ages.decoder, err = o.Decoder(); err != nil {
		return nil, UsageError{err}
	}
	if r.to != "" || o.Source.Subscription == "" { // else it takes credentials to know
		to, err := r.topic(ctx, o)
		if err != nil {
			return nil, err
		}
		return x, notTheLetters(to, o)
	}
	return x, nil
}

func notTheLetters(to string, o *pipeline.Options) error {
	if to == o.DeadLetters.Topic {
		return usageErrorf("topic %s has the dead letters; they are replayed to the source's", to)
	}
	return nil
}

// connect gives a replayer what it reads from and publishes to.
func (r *request) connect(ctx context.Context, o *pipeline.Options, s sink, x *replayer) error {
	x.sink = s
	to, err := r.topic(ctx, o)
	if err != nil {
		return err
	}
	if err := notTheLetters(to, o); err != nil {
		return err
	}
	if r.dryRun {
		_, _ = fmt.Fprintf(r.stderr, "dry run: nothing is published to %s, and nothing marked in %s\n", to, s)
		return nil
	}
	options, err := o.SourceConfig().ClientOptions()
	if err != nil {
		return err
	}
	p, err := newPublisher(ctx, to, options)
	if err != nil {
		return err
	}
	x.publisher = p
	return nil
}

// topic returns the topic to publish to: the one that is given, or that of the
// source's subscription.
func (r *request) topic(ctx context.Context, o *pipeline.Options) (string, error) {
	if r.to != "" {
		_, err := topicProject(r.to)
		return r.to, err
	}
	name := o.Source.Subscription
	if name == "" {
		return "", usageErrorf("give the topic to publish to: -to projects/PROJECT/topics/NAME, or -config FILE, whose subscription's topic it is")
	}
	in, err := project(name)
	if err != nil {
		return "", err
	}
	options, err := o.SourceConfig().ClientOptions()
	if err != nil {
		return "", err
	}
	client, err := pubsub.NewClient(ctx, in, options...)
	if err != nil {
		return "", fmt.Errorf("connecting to Pub/Sub: %w", err)
	}
	defer func() { _ = client.Close() }() // it has its answer
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	found, err := client.SubscriptionAdminClient.GetSubscription(ctx, &pubsubpb.GetSubscriptionRequest{Subscription: name})
	if err != nil {
		return "", fmt.Errorf("looking for the topic of %s, which -to can name: %w", name, err)
	}
	if !strings.HasPrefix(found.GetTopic(), "projects/") {
		return "", fmt.Errorf("the topic of %s was deleted; name another one by -to", name)
	}
	return found.GetTopic(), nil
}

// topicProject returns the project of "projects/PROJECT/topics/TOPIC".
func topicProject(topic string) (string, error) {
	parts := strings.Split(topic, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[1] == "" || parts[2] != "topics" || parts[3] == "" {
		return "", usageErrorf("topic %q does not read projects/PROJECT/topics/NAME", topic)
	}
	return parts[1], nil
}

// progressEvery is how often a long run tells how far it is.
const progressEvery = 10 * time.Second

func (r *request) progress(done, all int) {
	now := time.Now()
	if now.Sub(r.started) < progressEvery || now.Sub(r.mentionedProgress) < progressEvery {
		return
	}
	r.mentionedProgress = now
	_, _ = fmt.Fprintf(r.stderr, "%d of %d messages\n", done, all)
}

func (r *request) summarize(counts tally) {
	var parts []string
	for _, name := range []string{outcomeReplayed, outcomeWould, outcomeRefused, outcomeFailed, outcomeUnmarked} {
		if n := counts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(name, "_", " ")))
		}
	}
	_, _ = fmt.Fprintf(r.stderr, "%s\n", strings.Join(parts, ", "))
}
