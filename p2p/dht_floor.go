//go:build !smalltable

package p2p

// dhtLeast is how many members must be known for there to be a table: in a smaller swarm one
// neighbour tells of all others, and it would only add connections.
const dhtLeast = 50
