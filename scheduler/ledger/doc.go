// Package ledger is the record of an overlay's jobs and tasks. It is a
// join-semilattice: Merge is commutative, associative and idempotent, and only
// ever adds, so that any two copies, from whatever split, become one.
//
// Facts are stored, conclusions are derived: a task is done because enough
// results of distinct workers agree, not because somebody wrote "done". A
// sweep costs its definition, a row for each task touched, and a compact set
// of the tasks whose story is over and delivered.
package ledger
