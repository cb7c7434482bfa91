//go:build !race

package scheduler

// usualSeeds is how many seeds TestSwarmChaos tries: a few seconds of them.
const usualSeeds = 1000
