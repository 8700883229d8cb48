// Package enrich has what package enrichment's steps need from outside: the reference
// tables of lookups and the keys of masks. Package keyed takes rows through it between
// their key and their encoding.
//
// A reference is a table of the process, not a side input. Beam makes a DoFn instance
// for each bundle that runs at the same time, and each would have a side input of its
// own: with eight bundles, eight tables of a million rows. A side input is also
// decoded anew for each window, a lookup in it is a linear search or a call to the
// runner, and Prism refuses the global window's triggered ones, which is what a
// slowly changing side input is. Here there is one table a process, a lookup costs one
// hash, and a refresh is one pointer that changes.
//
// It is loaded by the first bundle that needs it, which waits for it, at most
// [Config.LoadFor]; what a load's error says is tried again (a service out of reach)
// or fails the bundle (a file that isn't there, a key that is there twice). Where the
// pipeline runs in the launching process, that happens before the first message.
package enrich
