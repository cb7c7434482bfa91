package main

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSides(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	group, rest := []int{0, 1, 2}, []int{3, 4, 5, 6}
	inGroup := func(side []int) (n int) {
		for _, i := range side {
			if slices.Contains(group, i) {
				n++
			}
		}
		return n
	}
	seen := map[int]bool{}
	for range 200 {
		large, small := sides(rng, group, rest)
		if len(large) != 4 || len(small) != 3 {
			t.Fatalf("%v | %v: want four and three", large, small)
		}
		if inGroup(large) == 0 || inGroup(small) == 0 {
			t.Fatalf("%v | %v: a side has no coordinator", large, small)
		}
		if slices.Contains(group, large[3]) || slices.Contains(group, small[2]) {
			t.Fatalf("%v | %v: a submitter coordinates", large, small)
		}
		if all := slices.Sorted(slices.Values(append(large, small...))); !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6}) {
			t.Fatalf("the sides are %v together", all)
		}
		seen[inGroup(small)] = true
	}
	if !seen[1] || !seen[2] {
		t.Errorf("coordinators on the small side: %v, want one and two", seen)
	}
	if large, small := sides(rng, []int{}, []int{1, 2, 3}); len(large) != 2 || len(small) != 1 {
		t.Errorf("without a group: %v | %v", large, small)
	}
}
