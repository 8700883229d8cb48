// Package prism runs pipelines on Beam's Prism, and on job servers that may be one, as
// stages with state need it.
package prism

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // the runner
)

// Runner is Prism's name: of one in this process.
const Runner = "prism"

// wholeBundles is the experiment by which Prism splits no bundle. It splits one that
// makes no progress for some tenths of a second, wherever it stands, and gives the rest to
// another that runs beside it. In a stage with state the rest may have keys that the
// first has too: both read what the state was before them, and the one that ends last
// overwrites what the other wrote, also of keys that it gave away (splitBundle and
// PersistBundle of Beam 2.77). So rows were completed from what was forgotten, on a busy
// machine. Other runners don't know the word, and ignore it.
const wholeBundles = "prism_disable_sdf_split"

// Prepare sets what a pipeline needs to run on Prism. It comes after the flags are
// parsed, and may come more than once.
func Prepare() {
	if experiments := jobopts.GetExperiments(); !slices.Contains(experiments, wholeBundles) {
		*jobopts.Experiments = strings.Join(append(experiments, wholeBundles), ",")
	}
}

// Run prepares, and runs a pipeline to its end on Beam's runner of this name.
func Run(ctx context.Context, runner string, p *beam.Pipeline) error {
	Prepare()
	_, err := beam.Run(ctx, runner, p)
	return err
}
