// Package node is the live driver: it feeds what happens on a real machine and
// a real network to the scheduler's machines, and carries out what they answer.
//
// One goroutine, the loop, owns all state (loop.go). Everything else - the
// network, running tasks, fetches, timers - ends by posting one event to it.
// The simulator drives the same machines in virtual time; both drivers keep
// the duties listed in package scheduler.
package node
