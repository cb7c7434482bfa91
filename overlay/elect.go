package overlay

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"

	"godwit/task"
)

// GroupSize is how many members coordinate an overlay: the leader and two that
// hold the ledger beside it. Three that each stay for a day with .86, as the
// relays do, are all lost on one day in 370 even if nobody takes a lost one's
// place (docs/spec/predictors.md section 5.2).
const GroupSize = 3

// MaxGroup is the most members that a group may have, and the most coordinators
// that a manifest may ask for. Each holds all of the ledger and hears from the
// leader each second.
const MaxGroup = 7

// A Candidate is a member that may coordinate.
type Candidate struct {
	Peer task.PeerID
	// Weight is its level, from 1 to MaxLevel; 0: it does not stand.
	Weight int
	// Reserve is what it falls short of. A candidate with less of it comes first
	// whatever the weights; 0 falls short of nothing.
	Reserve Shortfall
	// Network is the network its address is in, as NetworkOf says it. All whose
	// network is not known ("") count as one.
	Network string
}

// odds are how much more often a member of each level is drawn than one of the
// first. Levels are an order of magnitude of hazard apart; with odds below that
// a large overlay's many middling members would take the places of the few
// that stay.
var odds = [MaxLevel + 1]uint64{0, 1, 8, 64}

// Group returns the k candidates that coordinate an overlay, the first of them
// to lead; fewer where fewer stand. It is a function of its arguments, whatever
// their order, so members with like views name like groups without a message.
//
// The draw is weighted rendezvous hashing: each has a number h, uniform in
// (0, 1), from the hash of the overlay and its ID, and they are taken by falling
// -w/ln(h), so that the chance to be first is as the weight w, and one that
// comes or goes moves no other (Schindelhauer and Schomaker, "Weighted
// distributed hash tables", SPAA 2005). A network is taken a second time only
// when no candidate is left of another.
func Group(overlayID ID, candidates []Candidate, k int) []task.PeerID {
	return peers(spread(draw(overlayID, candidates), k))
}

// Regroup is Group for an overlay that has a group, the leader first. Members of
// it keep their places as long as they are no worse, in what they fall short of,
// youth aside, and then in level, than the worst that Group would take. So a
// newcomer displaces nobody, and a place changes hands when its holder leaves,
// its owner returns or its forecast turns bad. Whoever falls short of something
// comes behind those who do not.
func Regroup(overlayID ID, current []task.PeerID, candidates []Candidate, k int) []task.PeerID {
	drawn := draw(overlayID, candidates)
	bar := lowest(spread(slices.Clone(drawn), k))
	var order []Candidate
	for _, peer := range current {
		i := slices.IndexFunc(drawn, func(c Candidate) bool { return c.Peer == peer })
		if i < 0 || worse(drawn[i], bar) {
			continue
		}
		order = append(order, drawn[i])
		drawn = slices.Delete(drawn, i, i+1)
	}
	order = append(order, drawn...)
	slices.SortStableFunc(order, func(a, b Candidate) int { return cmp.Compare(a.Reserve&^Young, b.Reserve&^Young) })
	return peers(spread(order, k))
}

// worse says whether a falls short of more than b, youth aside, or of as much
// with a lower level.
func worse(a, b Candidate) bool {
	return cmp.Or(cmp.Compare(b.Reserve&^Young, a.Reserve&^Young), cmp.Compare(a.Weight, b.Weight)) < 0
}

// lowest is what a member must have to keep a place in a group: as much as the
// worst in it. It is zero for nobody.
func lowest(group []Candidate) Candidate {
	var bar Candidate
	for i, c := range group {
		if i == 0 || worse(c, bar) {
			bar = c
		}
	}
	return bar
}

// Order returns those who stand in the order of the draw, the first to lead.
func Order(overlayID ID, candidates []Candidate) []task.PeerID {
	return peers(draw(overlayID, candidates))
}

// draw puts those who stand in the order of the draw.
func draw(overlayID ID, candidates []Candidate) []Candidate {
	type runner struct {
		Candidate
		race uint64
	}
	runners := make([]runner, 0, len(candidates))
	for _, c := range candidates {
		if c.Weight >= 1 && c.Weight <= MaxLevel {
			runners = append(runners, runner{c, race(overlayID, c.Peer)})
		}
	}
	slices.SortFunc(runners, func(a, b runner) int {
		return cmp.Or(cmp.Compare(a.Reserve, b.Reserve),
			cmp.Compare(a.race*odds[b.Weight], b.race*odds[a.Weight]),
			cmp.Compare(a.Peer, b.Peer))
	})
	out := make([]Candidate, len(runners))
	for i, r := range runners {
		out[i] = r.Candidate
	}
	return slices.CompactFunc(out, func(a, b Candidate) bool { return a.Peer == b.Peer })
}

// spread takes k candidates in their order, first those of networks not taken
// before. It reorders its argument.
func spread(order []Candidate, k int) []Candidate {
	k = min(max(k, 0), MaxGroup, len(order))
	for n := range k {
		fresh := slices.IndexFunc(order[n:], func(c Candidate) bool {
			return c.Reserve == order[n].Reserve &&
				!slices.ContainsFunc(order[:n], func(t Candidate) bool { return t.Network == c.Network })
		})
		if fresh > 0 {
			c := order[n+fresh]
			order = slices.Insert(slices.Delete(order, n+fresh, n+fresh+1), n, c)
		}
	}
	return order[:k]
}

func peers(group []Candidate) []task.PeerID {
	out := make([]task.PeerID, len(group))
	for i, c := range group {
		out[i] = c.Peer
	}
	return out
}

// race is -log2(h) for the hash h of a member in an overlay, in units of
// 2^-raceBits. Whole numbers keep the order the same on every machine: the
// standard library promises no last bit of math.Log.
func race(overlayID ID, peer task.PeerID) uint64 {
	sum := sha256.New()
	var n [8]byte
	sum.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(overlayID))))
	sum.Write([]byte("godwit coordinator 1\n" + string(overlayID) + string(peer)))
	return minusLog2(binary.BigEndian.Uint64(sum.Sum(nil)))
}

// raceBits leaves room to multiply with odds: 64 * 2^raceBits * 64 < 2^64.
const raceBits = 40

// minusLog2 is -log2((x+1/2) / 2^64) in units of 2^-raceBits, within some of
// them: the digits of a binary logarithm by squaring (Knuth, TAOCP 1.2.2,
// exercise 25).
func minusLog2(x uint64) uint64 {
	x |= 1 // the half that is added, and no logarithm of 0
	zeros := bits.LeadingZeros64(x)
	m := x << zeros // mantissa in [1, 2), in units of 2^-63
	var log uint64
	for range raceBits {
		hi, lo := bits.Mul64(m, m)
		log <<= 1
		if hi >= 1<<63 { // the square is 2 or more
			log |= 1
			m = hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	// log2(x/2^64) = (63-zeros) + log/2^raceBits - 64
	return uint64(zeros+1)<<raceBits - log
}
