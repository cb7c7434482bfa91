// Package sandbox runs one WebAssembly task at a time in a child process of
// its own and says how it ended.
//
// Call [NewPool] once and [Pool.Run] for each task, from as many goroutines as
// tasks may run at once. A child keeps its compiled module between tasks (a
// warm stream), but every task gets a fresh instance, so what it answers
// depends on the [Task] alone: the same task gives the same bytes on every
// machine. [CheckModule] and [Inspect] look at a module without running it.
//
// A child is the same program started again, in which [Main] takes over. It
// has the lowest priority, dies with its parent, and is treated as hostile
// once it has run a stranger's program: every length it sends is checked
// before anything is allocated. Stopping a task means killing its child, since
// compiled guest code cannot be interrupted from within at a bearable price.
package sandbox
