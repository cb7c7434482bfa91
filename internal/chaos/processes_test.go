package main

import (
	"math/rand/v2"
	"testing"
)

func TestChoose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	const draws = 1000
	live, hits := []int{1, 2, 4, 5, 6}, map[int]int{}
	for range draws {
		hits[choose(rng, live, 4)]++
	}
	// Half of the draws, and a fifth of the others: 600, with a spread of 16.
	if hits[4] < 520 || hits[4] > 680 {
		t.Errorf("the leader was chosen %d times of %d, want about 600", hits[4], draws)
	}
	for _, n := range live {
		if hits[n] == 0 {
			t.Errorf("node %d was never chosen", n)
		}
	}
	for range draws {
		if n := choose(rng, live, nowhere); n == nowhere {
			t.Fatal("without a leader nobody is chosen")
		}
	}
}
