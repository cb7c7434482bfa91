// Package scheduler decides who runs what. With worker and submitter it has four machines,
// each a pure function of its past: the Coordinator that leads an overlay, the Replica
// that holds a copy of its ledger and may become one, the Worker that runs
// tasks, and the Submitter that keeps a job until it holds every result.
//
// The Coordinator is made of parts, each a type with a file of its own; coordinator.go
// names them, and step.go has the order in which they act. What shares little with the rest
// is a package: the states of a lease (leasing), what is learnt of classes of tasks
// (learning), the other copies of the ledger (replication), and the policies.
//
// A driver (the live node, the simulator) feeds them events and carries out
// the effects that they answer with. Its duties:
//
//  1. One goroutine calls Step; now never decreases.
//  2. Effects are carried out in the order given; a Persist is on disk before
//     any Send that follows it.
//  3. Every Start is answered by exactly one Ended, every Fetch by one
//     Fetched, every Prepare by one Prepared; HandOver and Expect, where
//     WorkerConfig.HandOver says that the driver carries them out, as they say.
//     So are Ready, Begin and Unready, where WorkerConfig.Ahead says that there
//     are any: each Ready begins once, with the Ended that follows, or is
//     answered by one NotBegun, or a Begin takes its place.
//  4. After each Step a Wake is arranged for NextWake.
//  5. State is looked at only from the goroutine that calls Step.
//  6. At every start, Restore is called with every pair persisted, before the
//     first Step; the effects that it returns are carried out. The Submitter
//     reads its pairs itself, one at a time. Before a clean stop the effects of
//     Worker.Keep are carried out.
//  7. A node has a Coordinator or a Replica, never both: when its overlay.Lease
//     says BecomeLeader it calls Replica.Lead (or Coordinator.Begin, if it leads
//     already), when it says StepDown Coordinator.Retire. Answers to a Fetch of
//     the machine that is no more are dropped. A Coordinator is told GroupIs and
//     every member, a Replica LeaderChanged; Outrun goes to Lease.Refused.
//  8. A node that leads gives its Coordinator its own advert as MemberSeen too,
//     and its own machines LeaderChanged. The epoch it announces is always
//     Coordinator.Epoch, which may grow.
//  9. Blocks named by Roots of any machine, and the outputs of every result
//     under ResultsPrefix, are kept; others may be collected.
//  10. It may look at signatures before a machine does (message.LookAtSignatures), on
//     another goroutine: a machine looks itself at what is not marked.
package scheduler
