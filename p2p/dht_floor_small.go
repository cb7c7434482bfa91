//go:build smalltable

package p2p

// dhtLeast is that of a build for trials of the table among few nodes: scripts/chaos dht.
const dhtLeast = 8
