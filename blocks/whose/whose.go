package whose

import (
	"crypto/sha256"
	"math/bits"
	"slices"
	"time"
)

// A Block names one. The same bytes are two where they are read as a node with children
// and as a leaf: only in a node do they lead to others.
type Block struct {
	Digest [sha256.Size]byte
	Inner  bool // read as a node that names its children
}

// A Set is of overlays, each by a bit that an Index has given it. The zero value is none.
type Set uint32

// MaxOverlays bounds the overlays of an Index: a Set has a bit for each.
const MaxOverlays = 32

// Limits bound an Index.
type Limits struct {
	Roots   int           // at most so many are known; more than 3
	Reached int           // blocks, at most, of which it is remembered whose they are; more than 1
	Keep    time.Duration // a root that is told no more is known for so long, and no longer than twice that
	Again   time.Duration // before what had to be forgotten is looked for again
}

// Usual are the limits of a node: 47 MB when all is full, which takes more than
// 130,000 results on their way or 60 GB of files asked for at once.
func Usual() Limits {
	return Limits{Roots: 1 << 17, Reached: 1 << 18, Keep: time.Hour, Again: 30 * time.Second}
}

// A root is content that jobs of overlays name: those told since all was looked at anew,
// and those told in the time before.
type root struct{ of, before Set }

func (r root) all() Set { return r.of | r.before }

// An Index says whose blocks are. Use New. It is not safe for concurrent use.
type Index struct {
	limits Limits
	names  [MaxOverlays]string // "" is free
	roots  map[Block]root
	// What roots reach: what was asked for last, and before that.
	young, old map[Block]Set
	todo       [MaxOverlays][]Block // roots of each whose children were not looked at; the newest last
	partial    []Block              // roots of which not all was here when they were looked at
	forgotten  bool                 // something reached was, since refilled
	refilled   time.Time            // when all roots were last looked at anew
}

// New returns an Index that knows no root.
func New(limits Limits) *Index {
	return &Index{limits: limits, roots: map[Block]root{}, young: map[Block]Set{}, old: map[Block]Set{}}
}

// Sets returns those of the overlays that have roots here.
func (x *Index) Sets(overlays []string) (s Set) {
	for _, o := range overlays {
		if i := slices.Index(x.names[:], o); i >= 0 && o != "" {
			s |= 1 << i
		}
	}
	return s
}

// bit returns an overlay's, giving it one; 0 when none is free.
func (x *Index) bit(overlay string) Set {
	if s := x.Sets([]string{overlay}); s != 0 || overlay == "" {
		return s
	}
	i := slices.Index(x.names[:], "")
	if i < 0 {
		return 0
	}
	x.names[i] = overlay
	return 1 << i
}

// Of returns the overlays of which a root is known to reach a block.
func (x *Index) Of(b Block) Set {
	s := x.young[b]
	if before, ok := x.old[b]; ok && before&^s != 0 {
		s |= before
		x.remember(b, s)
	}
	return s | x.roots[b].all()
}

// Note takes in roots of an overlay, as they come to be here.
func (x *Index) Note(overlay string, roots ...Block) {
	of := x.bit(overlay)
	if of == 0 {
		return
	}
	for _, b := range roots {
		r, known := x.roots[b]
		if !known && len(x.roots) >= x.limits.Roots {
			x.makeRoom()
		}
		if r.all()&of == 0 && b.Inner {
			x.look(b, of)
		}
		r.of |= of
		x.roots[b] = r
	}
}

// Renew takes in all roots of all overlays anew, as they are known at now. Those noted
// before that are not among them are known for a while.
func (x *Index) Renew(now time.Time, all map[string][]Block) {
	old := now.Sub(x.refilled) >= x.limits.Keep
	if old { // what roots of before reached goes with them
		x.age() // before the bits are given back, or what was reached would be another's
	}
	for overlay, roots := range all {
		x.Note(overlay, roots...)
	}
	if old {
		x.freeNames(all)
	}
	if old || x.forgotten && now.Sub(x.refilled) >= x.limits.Again {
		x.refill(now)
		return
	}
	for _, b := range x.partial {
		x.look(b, x.roots[b].all())
	}
	x.partial = nil
}

// age forgets the roots that were not told since it was last called, and all that was reached.
func (x *Index) age() {
	for b, r := range x.roots {
		if r.of == 0 {
			delete(x.roots, b)
		} else {
			x.roots[b] = root{before: r.of}
		}
	}
	clear(x.young)
	clear(x.old)
}

// freeNames has overlays give back their bits that have no roots left.
func (x *Index) freeNames(told map[string][]Block) {
	used := Set(0)
	for _, r := range x.roots {
		used |= r.all()
	}
	for i, name := range x.names {
		if _, here := told[name]; used&(1<<i) == 0 && !here {
			x.names[i] = ""
		}
	}
}

// refill has all roots looked at anew.
func (x *Index) refill(now time.Time) {
	x.todo, x.partial = [MaxOverlays][]Block{}, nil
	for b, r := range x.roots {
		if b.Inner {
			x.look(b, r.all())
		}
	}
	x.forgotten, x.refilled = false, now
}

// look has what a root reaches looked at. Of too many the oldest are forgotten.
func (x *Index) look(b Block, of Set) {
	for ; of != 0; of &= of - 1 {
		i := bits.TrailingZeros32(uint32(of))
		if len(x.todo[i]) >= x.limits.Roots {
			x.todo[i] = slices.Clone(x.todo[i][len(x.todo[i])/2:])
			x.forgotten = true
		}
		x.todo[i] = append(x.todo[i], b)
	}
}

// Next returns a root of one of some overlays at whose children nobody has looked, the
// newest first, and false for none. It counts as looked at from now on.
func (x *Index) Next(among Set) (b Block, of Set, ok bool) {
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(uint32(among))
		for len(x.todo[i]) > 0 {
			last := len(x.todo[i]) - 1
			b, x.todo[i] = x.todo[i][last], x.todo[i][:last]
			if of = x.roots[b].all(); of&(1<<i) != 0 {
				return b, of, true
			}
		}
	}
	return Block{}, 0, false
}

// Reach takes in what roots of some overlays reach.
func (x *Index) Reach(of Set, blocks ...Block) {
	of &= x.used()
	if of == 0 {
		return
	}
	for _, b := range blocks {
		x.remember(b, x.young[b]|x.old[b]|of)
	}
}

// Partial notes that not all below a root was here: it is looked at again after the next
// Renew.
func (x *Index) Partial(b Block) {
	if len(x.partial) < x.limits.Roots {
		x.partial = append(x.partial, b)
	}
}

// Leave forgets an overlay and what is its alone.
func (x *Index) Leave(overlay string) {
	gone := x.Sets([]string{overlay})
	if gone == 0 {
		return
	}
	i := bits.TrailingZeros32(uint32(gone))
	x.names[i], x.todo[i] = "", nil
	for b, r := range x.roots {
		if r = (root{r.of &^ gone, r.before &^ gone}); r.all() == 0 {
			delete(x.roots, b)
		} else {
			x.roots[b] = r
		}
	}
	for _, reached := range []map[Block]Set{x.young, x.old} {
		for b, s := range reached {
			if s &^= gone; s == 0 {
				delete(reached, b)
			} else {
				reached[b] = s
			}
		}
	}
}

// used are the overlays that have a bit.
func (x *Index) used() (s Set) {
	for i, name := range x.names {
		if name != "" {
			s |= 1 << i
		}
	}
	return s
}

// remember keeps whose a block is. What was not asked for in the last while makes room.
func (x *Index) remember(b Block, s Set) {
	if _, known := x.young[b]; !known && len(x.young) >= x.limits.Reached/2 {
		x.forgotten = x.forgotten || len(x.old) > 0
		x.old, x.young = x.young, map[Block]Set{}
	}
	x.young[b] = s
}

// makeRoom forgets a quarter of the roots, first those that were not told lately.
func (x *Index) makeRoom() {
	most := x.limits.Roots - x.limits.Roots/4
	for _, late := range []bool{true, false} {
		for b, r := range x.roots {
			if len(x.roots) < most {
				return
			}
			if r.of == 0 || !late {
				delete(x.roots, b)
			}
		}
	}
}
