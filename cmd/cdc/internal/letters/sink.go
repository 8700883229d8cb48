package letters

import (
	"context"
	"errors"
	"fmt"

	"beamcdc/pipeline"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/pubsubsource"
)

// Head is what is known of a letter before its message is read.
type Head struct {
	deadletter.Stored        // without attributes and data
	Size              int64  // of the message's data in the sink, in bytes
	Broken            string // why it can't be replayed: a piece is missing, its file can't be read; "" where it can
	key               string // what its sink knows it by
}

// sink is where dead letters are. Its methods are for one goroutine.
type sink interface {
	// heads returns what is in the sink, messages that are stored by themselves
	// (deadletter.StageMessage) among them, in any order. Calling it again looks again.
	heads(ctx context.Context) ([]Head, error)
	// load returns a letter with its message.
	load(ctx context.Context, h *Head) (deadletter.Stored, error)
	// done marks letters as replayed.
	done(ctx context.Context, heads []*Head) error
	// close gives back what was taken. It does so after ctx has ended, too.
	close() error
	// String names the sink, for people.
	String() string
}

// from says where a sink is, besides the configuration.
type from struct {
	subscription string
	wait         waiting
}

// open opens the sink that the configuration names.
func open(ctx context.Context, o *pipeline.Options, f from) (sink, error) {
	to := o.DeadLetters
	named := 0
	for _, name := range []string{to.Directory, to.Table, to.Topic} {
		if name != "" {
			named++
		}
	}
	if to.Topic == "" && named == 0 && f.subscription != "" {
		return openSubscription(ctx, o, f)
	}
	switch {
	case named == 0:
		return nil, usageErrorf("no dead letters are named; give -config FILE, or one of -dead_letter_directory, -dead_letter_table and -dead_letter_subscription")
	case named > 1:
		return nil, usageErrorf("dead letters are in one place: a directory, a table or a topic")
	case to.Topic == "" && f.subscription != "":
		return nil, usageErrorf("-dead_letter_subscription is for dead letters in a topic; these are not")
	case to.Directory != "":
		return openDirectory(to.Directory)
	case to.Table != "":
		return openTable(ctx, o.CatalogConfig(), to.Table)
	case f.subscription == "":
		return nil, usageErrorf("the dead letters are in topic %s; give a subscription of it, -dead_letter_subscription projects/PROJECT/subscriptions/NAME, that was made before they came", to.Topic)
	}
	return openSubscription(ctx, o, f)
}

func openSubscription(ctx context.Context, o *pipeline.Options, f from) (sink, error) {
	options, err := o.SourceConfig().ClientOptions()
	if err != nil {
		return nil, err
	}
	return openTopic(ctx, options, f)
}

// project returns the project of a subscription's full name.
func project(subscription string) (string, error) {
	name, _, err := pubsubsource.ParseSubscription(subscription)
	if err != nil {
		return "", UsageError{err}
	}
	return name, nil
}

// UsageError is what the user has to write differently.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

func usageErrorf(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// errBroken says that a letter can't be read any more as it was at first.
var errBroken = errors.New("it has changed since it was listed")
