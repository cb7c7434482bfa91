// Chaos does to a swarm of real nodes what the world does to it, and checks what
// godwit promises: that the peers go on without those that died, and that no
// accepted job is lost. It drives the binary from outside, as a stranger would:
// by its verbs, its signals and its API. Run it by scripts/chaos:
//
//	scripts/chaos [SCENARIO] [--seed N] [--json] ...
//
//	processes     (the default) nodes are killed and restarted all the time
//	coordinators  the whole group is killed at once and never comes back
//	split         the network falls in two, for a while, and heals
//	wide          nodes of an Internet lose the one by which they met, and move;
//	              somebody comes in by a ticket (needs root)
//	lan           two nodes of one local network meet by multicast DNS (needs root)
//	disk          the leader's disk fills up
//	corrupt       a coordinator finds its store damaged
//	damage        each file of a node's data is damaged in three ways
//	clock         a node's clock jumps an hour forward, and back
//	migration     owners return all the time, and nodes are killed, under tasks that move
//	moves         a guest is moved to and fro between two nodes, again and again
//	slowmoves     the same over a slow network (needs root)
//	hostile       strangers, insiders and a lying leader attack nodes (--rows, --times)
//
// Each prints what it measured beside its target, and a line for each promise.
// The exit code is 0 where all were kept, 1 where one was broken, 2 where it was
// called wrongly. What lacks the rights or the devices that it needs says so and
// ends with 0. The choices of a run follow from its seed, which is printed; when
// messages arrive does not.
package main
