// Package predictor answers how long a host will stay. Every predictor follows
// one host: it is told of the host's changes as they happen, by a live node,
// by the simulator or by a back-test, and is never shown the future.
package predictor
