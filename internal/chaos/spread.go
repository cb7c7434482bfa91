package main

import (
	"slices"
	"time"
)

// A spread says how durations lie. The zero value is of none.
type spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median_s"` // seconds; 0 of none
	Worst  float64 `json:"worst_s"`
}

// spreadOf sums durations up. The median of an even number is the mean of the
// two in the middle. It changes nothing of what it is given.
func spreadOf(d []time.Duration) spread {
	if len(d) == 0 {
		return spread{}
	}
	d = slices.Sorted(slices.Values(d))
	n := len(d)
	middle := (d[(n-1)/2] + d[n/2]) / 2
	return spread{N: n, Median: middle.Seconds(), Worst: d[n-1].Seconds()}
}
