package share

import (
	"cmp"
	"slices"

	"godwit/internal/spec"
)

// How claimants give slots back to an owner whom they hear of each by itself
// (Grundeken 2009, section 3.2.1 and chapter 5), as local=.
const (
	fairLocal         = iota // as by Shrink, since a coordinator sees them all: need slots together
	proportionalLocal        // each gives its part by what all hold, rounded up: the remedy sketched there
	drasticLocal             // each gives need, as published: up to so many times as much as there are claimants
)

// Shrink implements Policy.
func (p *dividing) Shrink(claimants []Claimant, site, need int) []Release {
	r := &p.round
	p.beginShrink(claimants)
	for rest := p.byPriority(1); len(rest) > 0; {
		var who []int
		who, rest = p.level(rest)
		who = slices.DeleteFunc(who, func(i int) bool { return claimants[i].heldAt(site) == 0 })
		there := 0
		for _, i := range who {
			there += claimants[i].heldAt(site)
		}
		if n := min(need, there); n > 0 {
			p.give(r, who, site, n)
			need -= n
		}
	}
	r.claimants = nil
	return r.releases
}

func (p *dividing) beginShrink(claimants []Claimant) {
	r := &p.round
	r.claimants, r.turns = claimants, &p.turns
	r.turns.begin(claimants)
	r.releases = r.releases[:0]
	r.held = r.held[:0]
	for i := range claimants {
		r.held = append(r.held, claimants[i].held())
	}
}

// Local implements Policy.
func (p *dividing) Local(claimants []Claimant, site, need int) []Release {
	if p.local == fairLocal {
		return p.Shrink(claimants, site, need)
	}
	p.beginShrink(claimants)
	r := &p.round
	held, holders := 0, 0
	for i := range claimants {
		if n := claimants[i].heldAt(site); n > 0 {
			held += n
			holders++
		}
	}
	for i := range claimants {
		n, why := claimants[i].heldAt(site), Reason{kind: givesAll, n: need, m: holders}
		if p.local == proportionalLocal && held > 0 {
			n = min(n, (max(0, need)*n+held-1)/held)
			why.kind = givesPart
		}
		r.release(i, min(n, need), why)
	}
	r.claimants = nil
	return r.releases
}

func (r *round) release(i, n int, why Reason) {
	if n > 0 {
		r.releases = append(r.releases, Release{i, n, why})
	}
}

// lastFirst takes from who came last, then from the one before.
func lastFirst(r *round, who []int, site, need int) {
	why := Reason{kind: givesLast, n: need, m: len(who)}
	for _, i := range slices.Backward(who) {
		n := min(need, r.claimants[i].heldAt(site))
		r.release(i, n, why)
		need -= n
	}
}

// equally takes the same from each, as far as it has so many (Grundeken 2009,
// section 3.7.1). What is left over those give who have most there.
func equally(r *round, who []int, site, need int) {
	at := func(i int) int { return r.claimants[i].heldAt(site) }
	each := equalLevel(who, need, at)
	left, why := need, Reason{kind: givesEqually, n: need, m: len(who)}
	for _, i := range who {
		left -= min(each, at(i))
	}
	slices.SortFunc(who, func(a, b int) int {
		return cmp.Or(cmp.Compare(at(b), at(a)), cmp.Compare(r.turns.at[b], r.turns.at[a]))
	})
	for k, i := range who {
		n := min(each, at(i))
		if k < left { // they have more than each, for need is no more than all have
			n++
		}
		r.release(i, n, why)
	}
}

// equalLevel is the most that can be taken from each who has so many without
// exceeding need.
func equalLevel(who []int, need int, at func(int) int) int {
	low, high := 0, need+1 // low is possible, high is not or makes no difference
	for high-low > 1 {
		middle := low + (high-low)/2
		n := 0
		for _, i := range who {
			n += min(middle, at(i))
		}
		if n <= need {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

const giveParam = "give"

// readGive reads who gives back: those above their share, or all the same.
func readGive(ps *spec.Params, set widths) func(r *round, who []int, site, need int) {
	if ps.Choice(giveParam, "level", "equal") == 1 {
		return equally
	}
	return func(r *round, who []int, site, need int) {
		f := &r.fill
		f.begin(r, who)
		if set != nil {
			set(r, f, who)
		}
		f.lower(r, who, need, func(i int) int { return r.claimants[i].heldAt(site) })
		r.releaseAdded(who, need)
	}
}

// releaseAdded releases what filling.lower found.
func (r *round) releaseAdded(who []int, need int) {
	why := Reason{kind: givesMost, n: need, m: len(who)}
	for _, i := range who {
		r.release(i, r.fill.added[i], why)
	}
}
