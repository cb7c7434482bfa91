// Package exec carries out the attempts of tasks that the workers of a node ask for: it
// prepares jobs, runs each attempt in a sandbox, keeps its checkpoints, and hands it over
// to another member while it runs.
//
// Its door is an [Executor]. A worker's effects go in by [Executor.Do], what the owner
// lends by [Executor.Lend] and the streams that members open by [Executor.Serve]; what
// comes of them is reported to the worker, a [Client], as events of package scheduler.
//
// The loop of the node owns what is live here. Methods that say "on the loop" are called
// by that goroutine alone, as are those of a Client. All other goroutines are the
// Executor's own; each ends by having the loop do something ([Host.Post]), and Close waits
// for all of them.
package exec
