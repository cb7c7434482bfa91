package share

import (
	"cmp"
	"math"
	"slices"
)

// A filling raises the shares of claimants together, as water fills vessels: at
// each moment those with the least share get the next slot. A claimant's share is
// the slots that it has, with what it held before, divided by its width.
//
// It is progressive filling in whole slots (Bertsekas and Gallager, Data Networks,
// section 6.5.2; with several resources: Ghodsi et al., NSDI 2011, algorithm 1).
// Instead of slot by slot it looks for the last level that all can be raised to,
// and gives by turns what is left between that level and the next.
type filling struct {
	who   []int     // whose share still rises
	width []float64 // of each claimant; > 0
	need  []Amount  // of each claimant for a slot; zero: slots alone are counted
	added []int     // to each claimant
	slots int       // to be given
	free  Amount
	tied  []int
	held  []int // at a site, where sites are filled one by one
}

// begin sets up for some of the round's claimants. Their widths and needs are set
// next.
func (f *filling) begin(r *round, who []int) {
	f.who = append(f.who[:0], who...)
	f.width, f.need, f.added = f.width[:0], f.need[:0], f.added[:0]
	for range r.claimants {
		f.width, f.need, f.added = append(f.width, 1), append(f.need, Amount{}), append(f.added, 0)
	}
	f.slots, f.free = r.pool, r.free
}

// run gives until nothing is left that anybody wants and has room for.
func (f *filling) run(r *round) {
	for {
		f.who = slices.DeleteFunc(f.who, func(i int) bool { return f.added[i] == r.want[i] || !f.fits(i) })
		if f.slots == 0 || len(f.who) == 0 {
			return
		}
		low, high := f.search(r)
		f.tied = f.tied[:0]
		for _, i := range f.who {
			now, next := f.units(r, i, low), f.units(r, i, high)
			f.add(i, now-f.added[i])
			if next > now {
				f.tied = append(f.tied, i)
			}
		}
		if len(f.tied) == 0 { // all have what they want
			return
		}
		f.giveTied(r)
	}
}

// giveTied gives a slot to each of those whose turn it is at one level, as far as
// there are some. One that has no room gets no more.
func (f *filling) giveTied(r *round) {
	r.turns.order(f.tied)
	for _, i := range f.tied {
		switch {
		case f.slots == 0:
			return
		case f.fits(i):
			f.add(i, 1)
			r.turns.back(r.claimants, i)
		}
	}
}

// units is how many slots are added to claimant i once all shares are at a level.
// It never is less than those that were.
func (f *filling) units(r *round, i int, level float64) int {
	// Shares of one level may differ in their last digits.
	const rounding = 1e-9
	x := math.Ceil(level*f.width[i] - float64(r.held[i]) - rounding)
	if !(x > float64(f.added[i])) {
		return f.added[i]
	}
	return int(min(x, float64(r.want[i])))
}

// bisections is enough to tell levels apart that a float64 can.
const bisections = 64

// search returns the highest level that there is enough for, and the next, at
// which there is not; or one and the same if everybody can have all.
func (f *filling) search(r *round) (low, high float64) {
	for _, i := range f.who {
		high = max(high, (float64(r.held[i]+r.want[i])+1)/f.width[i])
	}
	if f.enough(r, high) {
		return high, high
	}
	for range bisections {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if f.enough(r, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// enough says whether all shares can be raised to a level.
func (f *filling) enough(r *round, level float64) bool {
	slots, cores, memory := 0, 0.0, 0.0 // float64: these need not be exact where they exceed
	for _, i := range f.who {
		n := f.units(r, i, level) - f.added[i]
		slots += n
		cores += float64(n) * float64(f.need[i].Cores)
		memory += float64(n) * float64(f.need[i].Memory)
	}
	return slots <= f.slots && cores <= float64(f.free.Cores) && memory <= float64(f.free.Memory)
}

func (f *filling) fits(i int) bool {
	return f.need[i].Cores <= f.free.Cores && f.need[i].Memory <= f.free.Memory
}

func (f *filling) add(i, n int) {
	f.added[i] += n
	f.slots -= n
	f.free.Cores -= int64(n) * f.need[i].Cores
	f.free.Memory -= int64(n) * f.need[i].Memory
}

// lower is the reverse, at one site: x of those who hold most beside their widths
// are taken first, until need are. held is what each has there.
func (f *filling) lower(r *round, who []int, need int, held func(i int) int) {
	f.who = append(f.who[:0], who...)
	low, high := 0.0, 0.0
	for _, i := range who {
		high = max(high, float64(r.held[i])/f.width[i])
	}
	taken := func(i int, level float64) int {
		const rounding = 1e-9
		x := math.Ceil(float64(r.held[i]) - level*f.width[i] - rounding)
		return int(min(max(x, 0), float64(held(i))))
	}
	all := func(level float64) int {
		n := 0
		for _, i := range who {
			n += taken(i, level)
		}
		return n
	}
	if all(low) <= need {
		high = low
	}
	for range bisections {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if all(middle) <= need {
			high = middle
		} else {
			low = middle
		}
	}
	left := need
	for _, i := range who {
		f.added[i] = taken(i, high)
		left -= f.added[i]
	}
	f.who = slices.DeleteFunc(f.who, func(i int) bool { return taken(i, low) == f.added[i] })
	slices.SortFunc(f.who, func(a, b int) int { return cmp.Compare(r.turns.at[b], r.turns.at[a]) })
	for _, i := range f.who {
		if left > 0 {
			f.added[i]++
			left--
		}
	}
	for _, i := range who { // where a level is too fine for a float64
		n := min(left, held(i)-f.added[i])
		f.added[i] += n
		left -= n
	}
}
