package member

import (
	"cmp"
	"slices"
)

// A claim is what one overlay has a right to.
type claim struct {
	share float64 // 0 or less: to nothing
	busy  bool    // has work for this node
	turns int64   // it has had, where slots are too few for all
}

// allot says how many slots each overlay gets, in the order given. Those with
// work divide the slots by their shares and leave none over. One without work
// gets what it would get if it had some, so that its first task finds a slot:
// what nobody uses is meanwhile with those who have work.
func allot(slots int, claims []claim) []int {
	out := divide(slots, claims)
	for i, c := range claims {
		if !c.busy {
			all := slices.Clone(claims)
			all[i].busy = true
			out[i] = divide(slots, all)[i]
		}
	}
	return out
}

// divide gives all slots to the overlays with work. With fewer slots than such
// overlays, each of the first in turn gets one. Else each gets one at least;
// those whose shares are worth more divide the rest, to the nearest whole slot:
// the largest remainders get what is left over.
func divide(slots int, claims []claim) []int {
	out := make([]int, len(claims))
	var rest []int // who is still to get slots
	for i, c := range claims {
		if c.busy && c.share > 0 {
			rest = append(rest, i)
		}
	}
	left := max(0, slots)
	if left < len(rest) {
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(claims[a].turns, claims[b].turns) })
		for _, i := range rest[:left] {
			out[i] = 1
		}
		return out
	}
	worth := func(i int) float64 {
		var sum float64
		for _, k := range rest {
			sum += claims[k].share
		}
		return float64(left) * (claims[i].share / sum)
	}
	for {
		var small []int
		for _, i := range rest {
			if worth(i) < 1 {
				small = append(small, i)
			}
		}
		if len(small) == 0 || len(small) == len(rest) { // all: by rounding, of equals
			break
		}
		for _, i := range small {
			out[i] = 1
		}
		left -= len(small)
		rest = slices.DeleteFunc(rest, func(i int) bool { return out[i] > 0 })
	}
	over := left
	remainder := map[int]float64{}
	for _, i := range rest {
		w := worth(i)
		out[i] = min(int(w), over)
		remainder[i] = w - float64(out[i])
		over -= out[i]
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
	for k := 0; over > 0 && len(rest) > 0; k = (k + 1) % len(rest) {
		out[rest[k]]++
		over--
	}
	return out
}
