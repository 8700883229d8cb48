// Package pipeline is the graph and its configuration.
//
// [Load] reads the configuration, the same file for every runner; [Options.Set]
// overrides its scalars by flags; [Options.Validate] returns everything that is
// wrong with it at once; [Check] asks the services at start-up; [Build] builds
// the graph.
package pipeline
