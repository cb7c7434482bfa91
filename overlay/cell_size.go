package overlay

import "time"

// The sizes of cells. Each leader goes by its own members and by what its sibling's leader
// says, and by nothing else of the overlay: hashes spread members evenly, so that all
// cells of a level come to 500 within some twentieths of each other, and no leader that
// lies about its own cell has others part.
const (
	// CellMost is the most members that a cell has before it parts: half of what an
	// overlay with one group was measured with, adverts of about 115 MB a day.
	CellMost = 500
	// CellLeast is the fewest members that a half may have for its cell to part. Keys are
	// free, so that somebody may make a thousand whose numbers fall into one half: then
	// the cell stays as it is, rather than leaving a few members to themselves.
	CellLeast = 100
	// CellJoin is how many members two halves have together, at most, when they become one
	// again: far enough below CellMost that a cell whose members come and go by a third
	// neither parts nor joins for that.
	CellJoin = 300
	// CellReady is from how many members on adverts tell whether their peers know of
	// cells. Below it nothing of an advert differs from before there were any.
	CellReady = 400
	// CellSplits is the fewest members that one who follows a leader into a half knows of
	// in the whole: a leader that parts a smaller cell goes alone.
	CellSplits = CellReady
	// CellGap is the least time between two changes of a cell, by the same leader.
	CellGap = 5 * time.Minute
	// CellWait is for how long a leader that has joined two halves waits for the other's
	// members, before it parts again.
	CellWait = 2 * CellGap
)

// Parts reports whether a cell becomes two. halves are how many members there are of each,
// and all says that every one of them knows of cells.
func (c Cell) Parts(halves [2]int, all bool) bool {
	return all && c.Bits < MaxCellBits && halves[0]+halves[1] > CellMost && min(halves[0], halves[1]) >= CellLeast
}

// Joins reports whether a cell of so many members becomes one with its sibling. sibling is
// how many that has, by its leader's word.
func (c Cell) Joins(members, sibling int) bool {
	return !c.Whole() && members+sibling <= CellJoin
}

// MayFollow reports whether a member that knows of so many others in its cell follows its
// leader from there into another cell.
func (c Cell) MayFollow(to Cell, members int) bool {
	switch to.Bits {
	case c.Bits + 1:
		return to.Within(c) && members >= CellSplits
	case c.Bits - 1:
		return c.Within(to) && !c.Whole() && members <= CellJoin
	}
	return false
}
