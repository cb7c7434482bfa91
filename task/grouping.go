package task

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// A Grouping says which rows of a table belong together, as their texts in some columns are the same; or which
// points of axes that go together, where their tables have these columns. Its submitter makes it of the rows, when
// the job is made: nobody else has to read them to know what a task of a group reads. See File.SetGroups.
type Grouping struct {
	By     []string `cbor:"1,keyasint" most:"64"` // AXIS.COLUMN, sorted, each once; all of axes that go together
	Points uint64   `cbor:"2,keyasint"`           // rows, at most MaxStaged
	Count  uint64   `cbor:"3,keyasint"`           // groups, at least 1
	// Of has the number of the group of each point, one after the other, in as many bits as the last number takes,
	// from the lowest bit of the first byte on. Groups are numbered as they first come.
	Of []byte `cbor:"4,keyasint"`

	lists atomic.Pointer[groupLists] // made when they are first asked for
}

// maxGrouped is the most points that all groupings of a job may have together: five columns of the most tasks that
// stages may have. Whoever reads the job holds four bytes for each.
const maxGrouped = 5 * MaxStaged

// groupLists are the points of the groups of a grouping.
type groupLists struct {
	points []uint32 // of the first group, then of the next, each growing
	from   []uint32 // where those of each group begin, and where the last one's end
	widest uint64   // points of the largest group
	soon   uint64   // the group of which the last point comes first
}

// of returns the points of a group.
func (l *groupLists) of(group uint64) []uint32 { return l.points[l.from[group]:l.from[group+1]] }

// width is how many bits the number of a group has.
func (g *Grouping) width() uint64 { return uint64(bits.Len64(g.Count - 1)) }

// size is how many bytes the groups take.
func (g *Grouping) size() uint64 { return (g.Points*g.width() + 7) / 8 }

// eachBits calls f for the parts of the number of a point's group: which byte it is in, from which bit on, how many
// bits it has, and how many of the number come before it.
func (g *Grouping) eachBits(point uint64, f func(at, from, n, before uint64)) {
	width := g.width()
	for before, bit := uint64(0), point*width; before < width; {
		n := min(8-bit%8, width-before)
		f(bit/8, bit%8, n, before)
		before, bit = before+n, bit+n
	}
}

// at returns the group of a point.
func (g *Grouping) at(point uint64) (group uint64) {
	g.eachBits(point, func(at, from, n, before uint64) {
		group |= uint64(g.Of[at]>>from) & (1<<n - 1) << before
	})
	return group
}

// newGrouping packs the groups of points, which are numbered as they first come.
func newGrouping(by []string, count uint64, groups []uint32) *Grouping {
	g := &Grouping{By: by, Points: uint64(len(groups)), Count: count}
	g.Of = make([]byte, g.size())
	for p, group := range groups {
		g.eachBits(uint64(p), func(at, from, n, before uint64) {
			g.Of[at] |= byte(uint64(group) >> before & (1<<n - 1) << from)
		})
	}
	return g
}

// check checks a grouping of so many points, which may be hostile: there is one form of each.
func (g *Grouping) check(points uint64) *fault {
	switch {
	case g.Points != points || points > MaxStaged:
		return faultf("by", "", "groups of %d rows, and there are %d", g.Points, points)
	case g.Count == 0 || g.Count > points:
		return faultf("by", "", "%d groups of %d rows", g.Count, points)
	case uint64(len(g.Of)) != g.size():
		return faultf("by", "", "the groups of %d rows are in %d bytes", points, len(g.Of))
	}
	next := uint64(0)
	for p := range points {
		group := g.at(p)
		if group > next {
			return faultf("by", "", "group %d comes before group %d", group, next)
		}
		next = max(next, group+1)
	}
	if next != g.Count {
		return faultf("by", "", "%d groups, and rows of %d", g.Count, next)
	}
	if rest := points * g.width() % 8; rest > 0 && g.Of[len(g.Of)-1]>>rest != 0 {
		return faultf("by", "", "bits after the last group")
	}
	return nil
}

// listed returns the points of the groups. The grouping is one that check accepts.
func (g *Grouping) listed() *groupLists {
	if l := g.lists.Load(); l != nil {
		return l
	}
	l := &groupLists{points: make([]uint32, g.Points), from: make([]uint32, g.Count+1)}
	for p := range g.Points {
		l.from[g.at(p)+1]++
	}
	for k := range g.Count {
		l.widest = max(l.widest, uint64(l.from[k+1]))
		l.from[k+1] += l.from[k]
	}
	next := slices.Clone(l.from)
	for p := range g.Points {
		group := g.at(p)
		l.points[next[group]] = uint32(p)
		next[group]++
	}
	last := func(group uint64) uint32 { return l.points[l.from[group+1]-1] }
	for k := range g.Count {
		if last(k) < last(l.soon) {
			l.soon = k
		}
	}
	g.lists.Store(l) // another may have been as fast, and made the same
	return l
}

// first returns the first point of a group.
func (g *Grouping) first(group uint64) uint64 { return uint64(g.listed().of(group)[0]) }

// same reports whether two put the same points of the same columns together.
func (g *Grouping) same(o *Grouping) bool {
	return g == o || g != nil && o != nil && g.Points == o.Points && g.Count == o.Count && slices.Equal(g.By, o.By) &&
		slices.Equal(g.Of, o.Of)
}

// clone returns a copy that shares no memory with g.
func (g *Grouping) clone() *Grouping {
	return &Grouping{By: slices.Clone(g.By), Points: g.Points, Count: g.Count, Of: slices.Clone(g.Of)}
}

// A split is how the points of a sweep, of one axis or of several that go together, fall into groups.
type split struct {
	into *Grouping // of the rows
	of   *Grouping // what the sweep's points are groups of rows by; nil: they are rows
}

// count is how many groups there are.
func (s split) count() uint64 { return s.into.Count }

// group returns the group of a point.
func (s split) group(point uint64) uint64 {
	if s.of != nil {
		point = s.of.first(point)
	}
	return s.into.at(point)
}

// points returns the points of a group, growing. They are not to be changed.
func (s split) points(group uint64) []uint32 {
	rows := s.into.listed().of(group)
	if s.of == nil {
		return rows
	}
	out := make([]uint32, len(rows))
	for i, row := range rows {
		out[i] = uint32(s.of.at(uint64(row)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// widest is how many points the largest group has.
func (s split) widest() (most uint64) {
	if s.of == nil {
		return s.into.listed().widest
	}
	for k := range s.count() {
		most = max(most, uint64(len(s.points(k))))
	}
	return most
}

// soon is the group of which the last point comes first.
func (s split) soon() (group uint64) {
	if s.of == nil {
		return s.into.listed().soon
	}
	least := s.of.Count
	for k := range s.count() {
		points := s.points(k)
		if last := uint64(points[len(points)-1]); last < least {
			group, least = k, last
		}
	}
	return group
}
