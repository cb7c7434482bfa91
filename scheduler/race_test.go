//go:build race

package scheduler

// usualSeeds is how many seeds TestSwarmChaos tries: a few seconds of them, under
// the race detector too, which makes all of it ten times as slow. What the seeds
// look for is no race, as the machines have no goroutine.
const usualSeeds = 100

// movingSeeds is how many seeds TestSwarmMoves tries under it.
const movingSeeds = 40
