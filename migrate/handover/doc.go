// Package handover decides how a running task goes from its worker to another
// while it runs: rounds of pre-copy, the freeze, the last delta, the thaw. Two
// machines do, a Giver at the source and a Taker at the destination, each a
// pure function of its past; and frames are what they say to each other
// (docs/protocol.md, /godwit/handover/1).
//
// The shape is that of pre-copy migration (Clark et al., Live Migration of
// Virtual Machines, NSDI 2005): the guest runs on while its pages are sent,
// then those sent meanwhile changed, until what is left is small or stops
// shrinking. Only then it stands still. Where it changes its memory too fast for
// that it is slowed before (docs/rationale.md, Why is a task slowed that is on its
// way?); one that stays after all is let run again before Finish.
//
// What holds at every instant, whatever is lost and whoever dies:
//
//   - The guest runs at one side at most. The Taker thaws nothing before a
//     Final, the Giver sends that after the freeze alone, and from the freeze on
//     the guest never runs at the source again.
//   - A side that gives up says what it has: the Giver whether the guest goes on
//     here, the Taker its last complete round.
//   - Each machine comes to its Finish within bounded time.
//
// A driver feeds them events and carries out effects. Its duties:
//
//  1. One goroutine calls Step of a machine; now never decreases.
//  2. Effects are carried out in the order given. After each Step a Wake is
//     arranged for NextWake.
//  3. Every Dial is answered by one Dialled or Broken; every Checkpoint by one
//     Saved or NotSaved; every Freeze by one Frozen or NotFrozen, or by Ended;
//     every SendRound and SendFinal by one Sent, unless the stream breaks;
//     every Inspect by one Inspected; every Place by one Placed or Cancel;
//     every Thaw by one Thawed or Cancel. What comes late is ignored.
//  4. After Finish nothing is asked of the machine and nothing given to it. A
//     Giver's outcome Stopped, and a Taker's NotArrived, oblige the driver to end
//     the guest's process, if there is one.
//  5. The guest at the source never runs an instruction after Frozen was
//     reported; the one at the destination none before Thaw.
package handover
