// Package sweep runs a policy of package chunk in virtual time: nodes with slots and
// speeds do the runs of one sweep, and a coordinator gives them chunks as the policy
// says.
//
// The model is that of Sim-PETEK (G. Karaduman, M.Sc. thesis, METU, 2010): r runs of M
// trials take a node of P slots, each trial tau on one of them,
//
//	time(r) = ceil(r M / P) tau
//
// To this it adds, each 0 if it is not wanted: a cost of each chunk, a coordinator that
// serves one message after the other, results that are told run by run, trials of
// differing length, nodes slowed down for a part of each period, and nodes that come
// and go with what they have.
//
// A node is given a chunk when it has none. All that happens at one instant happens
// before chunks are given at that instant.
package sweep
