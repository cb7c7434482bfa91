package main

import (
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		ms   []int
		want spread
	}{
		{nil, spread{}},
		{[]int{500}, spread{1, .5, .5}},
		{[]int{3000, 1000}, spread{2, 2, 3}},
		{[]int{4000, 1000, 2000}, spread{3, 2, 4}},
		{[]int{4000, 1000, 2000, 3000}, spread{4, 2.5, 4}},
	} {
		var d []time.Duration
		for _, ms := range c.ms {
			d = append(d, time.Duration(ms)*time.Millisecond)
		}
		if got := spreadOf(d); got != c.want {
			t.Errorf("spreadOf(%v) = %+v, want %+v", d, got, c.want)
		}
	}
}
