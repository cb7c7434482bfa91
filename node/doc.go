// Package node is the live driver: it feeds what happens on a real machine and
// a real network to the scheduler's machines, and carries out what they answer.
//
// One goroutine, the loop, owns all state (loop.go). Everything else - the
// network, running tasks, fetches, timers - ends by posting one event to it. It
// keeps the duties of a driver that package scheduler lists.
//
// A node is made of parts. Each owns what it works with, and knows only those before it:
//
//   - core (core.go): who the node is, its disk and network, the way to the loop
//   - driver (driver.go): the peer, and the effects that are still to be carried out
//   - past (history.go): this node's history, those of others, and forecasts from them
//   - lending (owner.go): what the machine's owner lends, and what leaves when he wants it
//   - overlays (serving.go): the overlays that the node serves
//   - queries (query.go): what is asked of leaders, and of this node as one
//   - submissions (submit.go): the jobs that the node hands in
//
// A node serves several overlays. Its part in each is a membership: a view of the
// members, a lease, a coordinator or a replica, a worker and a submitter, and pairs
// in the store under a prefix of its own (membership.go). Who is there is judged once
// for all of them (suspect.go), and the machine's slots are shared out among them.
package node
