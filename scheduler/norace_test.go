//go:build !race

package scheduler

// usualSeeds is how many seeds TestSwarmChaos tries: a few seconds of them.
const usualSeeds = 1000

// movingSeeds is how many seeds TestSwarmMoves tries: some seconds of one core.
const movingSeeds = 300
