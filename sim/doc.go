// Package sim runs scheduling experiments in virtual time: hosts come and go as
// a trace says, tasks arrive, and the placement and migration policies of the
// live swarm decide, fed by its predictors. Run has one scheduler that sees
// every host at once and steps no messages, which makes millions of events a
// second; package sim/swarm runs the same Scenario on every machine of every
// node, message by message.
//
// A run is a pure function of its Scenario: no clock, no goroutine, and all
// randomness from its seed. Several runs may go on at once, on shared traces.
//
// What happens at one instant happens in this order, which Zhang's vectors fix
// (docs/spec/zhang.md section 11.0): completions, hosts that become available,
// arrivals, adjustments and scans of the policies, placements, hosts that leave
// or change speed.
//
// Placements come once an instant, when something changed, and a second time if
// what left at that instant gave tasks back. A task placed at the instant its
// host goes is placed and lost. At the very end of a run there are completions
// and nothing else.
//
// A host is available in the state of that name alone. Through its owner's time
// (UserPresent, CPUBusy) tasks stand still or are lost, by HostRules.Owner. From
// its notice on (Leaving) it takes nothing new, and goes on with what it has
// until it is gone. Gone are hosts that are Unavailable or Unobserved, and those
// whose history is over. One that goes without notice is not missed before
// Network.Detect is over, or it is back: until then its tasks, though they ended
// with it, are not placed again, and it is offered what it had room for; tasks
// placed there fail with the others. With notice it is known to be gone at once.
// A task that fails is at the end of the queue again or, without
// Workload.Requeue, over. Not failed but returned, and always queued again, are
// those that end by their owner's stay, whose move came to nothing because the
// destination or the origin went meanwhile, or that reach a host after its
// notice.
//
// Migration policies hear of a host's notice and, but in Paper, of its owner's
// return, as from a live coordinator: one that is driven by notices at once, and
// each 10 s while tasks there have found no place; one that scans sees all hosts
// that are there, those on notice with nothing of their processors for tasks and,
// as no live node foretells their stay, nothing foretold. One that names tasks
// hears of both, and is shown hosts that vanished as they were.
//
// A task that runs moves with its state, by the published rules at once. Else the
// state is copied while it runs on, and a place is kept for it where it goes; then
// it stands still for the hundredth part that changed meanwhile and two round
// trips. If its host goes before that, it is lost with it; if the other does, or
// takes nothing any more, it stays. Copies and checkpoints do not slow each other
// down. One that stands still ends, and goes on at its new host from the
// last checkpoint of that run; if there is none, or it stays at its host, the task
// is returned.
//
// With Scenario.Rates, and under policies that go by classes of tasks (place.Traits.Rate),
// tasks wait by class too, and machines that come or go have all that are idle
// offered again. Rates are what is imposed, or hosts' speeds by the work of a class.
//
// A task is impossible, and leaves the system as it comes, if it needs more
// memory than hosts lend or no host is ever available in the run. How long it is
// does not matter.
//
// The time that a task's place is kept for it while it is on its way is idle
// time of the host. A pause for a checkpoint is counted as work on the reference
// core, and as wasted. Tasks placed in the warm-up are in no count; the host time
// that they take after it is, so that it adds up.
package sim
