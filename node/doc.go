// Package node is the live driver: it feeds what happens on a real machine and
// a real network to the scheduler's machines, and carries out what they answer.
//
// One goroutine, the loop, owns all state (loop.go). Everything else - the
// network, running tasks, fetches, timers - ends by posting one event to it. It
// keeps the duties of a driver that package scheduler lists.
//
// A node serves several overlays. Its part in each is a membership: a view of the
// members, a lease, a coordinator or a replica, a worker and a submitter, and pairs
// in the store under a prefix of its own (membership.go, part.go). Who is there
// is judged once for all of them (suspect.go), and the machine's slots are shared out
// among them (shares.go).
package node
