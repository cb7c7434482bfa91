package swarm

import (
	"time"

	"godwit/overlay"
)

// firstLineage returns the lineage of a cell that the overlay begins with: the divisions were an hour before the start.
// The first node in each divided cell led it.
func (w *world) firstLineage(c overlay.Cell) (out overlay.Lineage) {
	for bits := range c.Bits {
		if !w.opt.Signed {
			out = append(out, overlay.Division{Epoch: uint64(bits) + 1})
			continue
		}
		parent := overlay.Cell{Bits: bits, Prefix: c.Prefix >> (c.Bits - bits)}
		d, known := w.divisions[parent]
		for _, n := range w.nodes {
			if !known && parent.Holds(overlay.CellNumber(w.overlay, n.id)) {
				d, known = overlay.Division{Leader: n.id, Epoch: overlay.NextEpoch(0, n.id),
					Issued: w.base.Add(-time.Hour)}, true
				w.note(d.Sign(w.overlay, bits, n.key))
			}
		}
		if w.divisions == nil {
			w.divisions = map[overlay.Cell]overlay.Division{}
		}
		w.divisions[parent] = d
		out = append(out, d)
	}
	return out
}
