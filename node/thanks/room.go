package thanks

import (
	"slices"

	"godwit/task"
)

// makeRoom removes receipts until there are at most most, and returns them. Submitters with less measured work lose
// theirs first, the oldest day first. The submitters with the most work keep at least one receipt each, for half of the
// room. So receipts of other keys cannot push out those of a submitter for which this machine did more work.
func (g *Got) makeRoom(most int) (gone []Page) {
	excess := len(g.notes) - most
	if excess <= 0 {
		return nil
	}
	pages := map[task.PeerID][]Page{}
	for name := range g.notes {
		pages[name.Peer] = append(pages[name.Peer], name)
	}
	ranked := make([]task.PeerID, 0, len(pages))
	for of := range pages {
		ranked = append(ranked, of)
	}
	slices.SortFunc(ranked, g.patrons.Compare) // the least work first
	reserved := len(ranked) - most/2           // index of the first submitter that keeps one
	for i, of := range ranked {
		if len(gone) >= excess {
			break
		}
		own := pages[of]
		slices.SortFunc(own, comparePages)
		if i >= reserved {
			own = own[:len(own)-1]
		}
		gone = append(gone, own[:min(len(own), excess-len(gone))]...)
	}
	for _, name := range gone {
		delete(g.notes, name)
	}
	return gone
}

// Shown lists the receipts of an overlay from a day on, as other members read them: those of submitters with the most
// measured work first, the latest day first. A reader may stop after some, which are then the best supported ones.
func (g *Got) Shown(overlay string, day int64) []Note {
	out := g.Since(overlay, day)
	slices.SortStableFunc(out, func(a, b Note) int { return -g.patrons.Compare(a.Submitter, b.Submitter) })
	return out
}
