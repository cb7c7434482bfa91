// Package member is a peer's part in its overlays: one pure machine that the live
// node and the simulator both drive.
//
// A Member has the view of an overlay, the lease by which its coordinators are
// elected, the machines of package scheduler, and what this peer tells the others of
// itself. A Peer holds the members of one machine and what they share: whom it
// suspects to be gone, what the machine's owner lends and how that is divided, and the
// goodbye.
//
// A driver gives a Peer what happens, and carries out what it answers with. Its
// duties:
//
//  1. One goroutine calls the Peer and reads its state; now never decreases.
//  2. Effects are carried out in the order given; a Persist in a Do is on disk before
//     any Send, Gossip or SayLease that follows it, in the same Do or a later effect. Several steps may be
//     gathered, as long as what is sent waits for what is to be durable.
//  3. Before effects are carried out Settle is called, and its effects follow them:
//     it divides the machine among the overlays.
//  4. Asks (Probe, ProbeVia, Ping, Cut, FetchRules) rest on nothing durable. Each but
//     Cut is answered once, by the event that its comment names.
//  5. The answer to an effect of a machine is an Answered for that machine.
//  6. After each step a Wake is arranged for NextWake.
package member
