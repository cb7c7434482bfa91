package overlay

import "time"

// A CellRule says how large cells are. All members of an overlay go by the same. The zero
// CellRule is that of an overlay that stays one cell; DefaultCellRule has the usual numbers.
//
// Each leader goes by its own members and by what its sibling's leader says, and by nothing
// else of the overlay: hashes spread members evenly, so that all cells of a level grow to
// Most within some hundredths of each other, and no leader that lies about its own cell has
// others divide.
type CellRule struct {
	// Most is the most members that a cell has before it divides.
	Most int
	// Least is the fewest members that a half may have for its cell to divide. Keys are free,
	// so that somebody may make a thousand whose numbers fall into one half: then the cell
	// stays as it is, rather than leaving a few members to themselves.
	Least int
	// Join is how many members two halves have together, at most, when they become one
	// again: far enough below Most that a cell whose members come and go by a third neither
	// divides nor joins for that.
	Join int
	// Ready is from how many members on adverts tell whether their peers know of cells.
	// Below it nothing of an advert differs from before there were any. It is also the
	// fewest members that one who follows a leader into a half knows of in the whole: a
	// leader that divides a smaller cell goes alone.
	Ready int
}

// DefaultCellRule returns the rule that overlays go by. 500 members cost each about 115 MB
// of adverts a day, by what was measured of 1,000.
func DefaultCellRule() CellRule { return CellRule{Most: 500, Least: 100, Join: 300, Ready: 400} }

const (
	// CellGap is the least time between two changes of a cell, by the same leader.
	CellGap = 5 * time.Minute
	// CellWait is for how long a leader that has joined two halves waits for the other's
	// members, before it divides again.
	CellWait = 3 * CellGap
)

// On reports whether there are cells at all.
func (r CellRule) On() bool { return r.Most > 0 }

// Divides reports whether a cell becomes two. halves are how many members there are of each,
// and all says that every one of them knows of cells.
func (r CellRule) Divides(c Cell, halves [2]int, all bool) bool {
	return r.On() && all && c.Bits < MaxCellBits && halves[0]+halves[1] > r.Most && min(halves[0], halves[1]) >= r.Least
}

// Joins reports whether a cell of so many members becomes one with its sibling. sibling is
// how many that has, by its leader's word.
func (r CellRule) Joins(c Cell, members, sibling int) bool {
	return r.On() && !c.Whole() && members+sibling <= r.Join
}

// MayFollow reports whether a member that knows of so many others in its cell follows its
// leader from there into another cell.
func (r CellRule) MayFollow(c, to Cell, members int) bool {
	switch {
	case !r.On():
		return false
	case to.Bits == c.Bits+1:
		return to.Within(c) && members >= r.Ready
	case to.Bits+1 == c.Bits:
		return c.Within(to) && members <= r.Join
	}
	return false
}
