package share

// A ring deals equal parts to claimants that are all in it until they have what
// they want. What cannot be divided goes round: who would be next at the end of
// one site is first at the next, so that parts of all sites together differ by
// no more than one, too.
type ring struct {
	who  []int // in turn
	head int   // in who, the next
	here []int // of each claimant, what it gets of this site
	some []int // those that get some
	left int   // of who, those that want no more
	over []int // that left
}

// join puts claimants of one priority in the ring, by their turns.
func (g *ring) join(r *round, who []int) {
	g.who = append(g.who[:0], who...)
	r.turns.order(g.who)
	g.head, g.left, g.over = 0, 0, g.over[:0]
	for len(g.here) < len(r.claimants) {
		g.here = append(g.here, 0)
	}
}

// deal divides n slots, as far as they are wanted, and calls give for each
// claimant that gets some.
func (g *ring) deal(r *round, n int, give func(i, n int)) {
	g.some = g.some[:0]
	for n > 0 && len(g.who) > 0 {
		each, takers := n/len(g.who), len(g.who)
		if each == 0 {
			each, takers = 1, n
		}
		for range takers {
			i := g.who[g.head]
			if g.head++; g.head == len(g.who) {
				g.head = 0
			}
			x := min(each, r.want[i]-g.here[i])
			if g.here[i] == 0 {
				g.some = append(g.some, i)
			}
			g.here[i] += x
			if n -= x; g.here[i] == r.want[i] {
				g.left++
			}
		}
		g.drop(r)
	}
	for _, i := range g.some {
		x := g.here[i]
		g.here[i] = 0
		give(i, x)
	}
}

// drop takes those out who have what they want.
func (g *ring) drop(r *round) {
	if g.left == 0 {
		return
	}
	g.left = 0
	kept, head := g.who[:0], 0
	for k, i := range g.who {
		if k == g.head {
			head = len(kept)
		}
		if g.here[i] == r.want[i] {
			g.over = append(g.over, i)
			continue
		}
		kept = append(kept, i)
	}
	if g.who, g.head = kept, head; g.head == len(kept) {
		g.head = 0
	}
}

// leave notes whose turn is next: those that want more in the order of the ring,
// then those who left it.
func (g *ring) leave(r *round) {
	for k := range g.who {
		r.turns.back(r.claimants, g.who[(g.head+k)%len(g.who)])
	}
	for _, i := range g.over {
		r.turns.back(r.claimants, i)
	}
}
