// Package swarm runs a sim.Scenario on whole nodes in virtual time: every host of
// the trace has a lease, a suspicion, a coordinator or a replica, a worker and a
// submitter, driven as package node drives them, on a network that delays. What
// the live swarm would decide it decides, message by message.
//
// # Clocks
//
// The trace, the arrivals, the work of tasks, the grace and the checkpoints of a
// Scenario are in the trace's time; the machines and the network have clocks of
// their own, on which the trace's time runs Options.Speedup times as fast. A
// report is in the trace's time. Forecasts rest on what the machines saw: with a
// Speedup, on days that are shorter.
//
// # Rules of the driver
//
//  1. At one instant happen, in this order: ends of runs and checkpoints, hosts
//     that come or change, arrivals, messages and timers, hosts that leave;
//     within these kinds what was arranged first. All that a node does in answer
//     to one of these, messages of its machines to one another included, is one
//     turn, as one flush of a live node.
//  2. In a turn, effects are carried out in order: those of a Step are Persists,
//     durable at once, and Sends, which leave at the end of the turn.
//  3. A message takes Network.Delay and up to Options.Jitter, drawn for each; one
//     pair's keep their order. It is lost if the receiver is not up when it
//     arrives, or by Options.Loss. A request that is lost fails after
//     overlay.RenewEvery, or when its time is over.
//  4. An advert reaches all that are up Options.Gossip after it was issued. A node
//     that comes up hears the newest adverts of all that are up one Network.Delay
//     later, and has a connection to each from then on.
//  5. A node that dies is silent. Its connections break Network.Detect later; then
//     suspicion begins, as package node has it, or before, when a request fails. Who
//     is lost is cut off: one that lives hears so, and whoever says something next
//     makes a new connection, which brings it back. A node that says goodbye hands
//     over what it has and ends when that is done, within two seconds. Its disk, its
//     blocks and its history outlive it, and it boots from them. Its machine turns
//     dials down from then on, unless Options.Walled.
//  6. A Prepare or Fetch is answered after two delays and the bytes' time at
//     Network.Upload and Download, at the same instant where all is here already; of
//     the holders, one must be up with the blocks at that moment. A Start begins at
//     once, one with a checkpoint when that is here. A Stop is obeyed at the same
//     instant, in a turn of its own; one that wants the state, after the checkpoint's
//     pause.
//  7. While the owner uses a host its runs stand still, and are given back after the
//     grace if another member could take them, or the leader: with Config.Worker.HandOver
//     those that can be saved wait there, whoever else works. Where the host gives notice
//     (Leaving), they are given back at once, with their states where the overlay
//     moves tasks and that takes less than a second; meanwhile they go on. All that
//     are given back end in turns of their own, after what the node says with it.
//     With Config.Worker.HandOver the leader says where the tasks of a host that gives notice
//     go, and they are not given back for it.
//  8. A HandOver opens a stream, which waits up to five seconds for the offer there;
//     the whole state is copied while the run goes on, and then 1 % of it, and that
//     part of a checkpoint's pause, while it stands still. Of a run that stands still,
//     or where the order is urgent, all is copied then. Bytes take the network's rates,
//     as of a Fetch, and messages its delay, which do not get lost; a side that dies is
//     missed Network.Detect later.
//  9. A member that neither leads nor is in the group looks at who should
//     coordinate only when it knows no leader: before, its view would change
//     nothing.
//
// # How a live node differs
//
// A test of package node runs scenarios on live nodes and here, and compares what
// is decided: it is the same, in the same order, within 200 ms. Known to differ:
//
//   - A live node that knows nobody founds its overlay at once; here each waits
//     for a lease's time first.
//   - A live node measures its speed half a minute after it starts, commits to a
//     disk that takes milliseconds, and looks at the CPU that others use each two
//     seconds. Here all that is known and done at once.
//   - A live fetch opens streams and asks for a tree level by level: four to eight
//     delays more for a checkpoint. Dials and hellos take round trips as well.
//   - Of live messages that leave two nodes, or one node on two streams, within
//     milliseconds of each other, the order is a draw; here they keep theirs, but
//     for Options.Jitter. So a leader that hands over as it decides may have told
//     its successor, or not.
//   - A live connection to a silent machine breaks after the network's idle time,
//     30 s with QUIC, but for who finds out before, as who leads does of the others
//     of its group. What any other member ran is requeued when its lease runs out,
//     here as there.
//   - Live nodes that lost each other dial again after half a second to minutes;
//     here when one has something to say to the other, or by the next advert.
//   - Adverts have no address, reach, pass or spells here: to elections all are on
//     one network, and all records are believed in full.
//   - There is one overlay, whose rules never change, on machines that never sleep
//     and whose clocks agree. No disk fills up, no block is collected, no history
//     is gathered from others.
//
// # What is counted
//
// A task is complete when a coordinator decides so, and only the first time. A
// placement is a run that begins: tasks given ahead and taken back are none, nor
// is a run that goes on where a move brought it. Runs that end with their hosts
// are failed, those given back by hosts that live are returned. Useful is the
// host time in the state that the completed run ended with; all else that the
// task's runs had is wasted. A checkpoint's bytes count each time that a node
// brings it.
//
// Machines run some 400,000 events for each second of processor time, nearly all of them reports and
// renewals: two to four for each second of a busy host. A Speedup, or a longer
// Config.ReportEvery, makes them fewer.
package swarm
