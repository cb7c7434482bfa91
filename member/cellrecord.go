package member

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// CellKey is where a member stores which cell it is in.
const CellKey = "l/cell"

// cellTrust is how long a restarted member waits for the members of its cell before it asks others where its cell is.
const cellTrust = time.Minute

// A CellRecord is a member's cell on disk, as JSON.
type CellRecord struct {
	Bits    uint8           `json:"bits"` // 0 if the overlay was undivided
	Lineage overlay.Lineage `json:"lineage,omitempty"`
	Entered time.Time       `json:"entered"`
	Members int             `json:"members"`          // the largest number that was known at once
	Before  overlay.Lineage `json:"before,omitempty"` // of the half that the member was in until Joined
	Joined  time.Time       `json:"joined,omitzero"`
	Reigns  []Reign         `json:"reigns,omitempty"` // leaders that the member followed, the newest last
}

// A Reign is a leader that a member followed, and the first epoch in which it did.
type Reign struct {
	Leader task.PeerID `json:"leader"`
	Epoch  uint64      `json:"epoch"`
}

// keepCell stores the member's cell if it has changed. A member that follows a leader stores the cell at once, because
// strangers could move a newcomer, which it would be after a restart without a stored cell. A cell on probation is
// stored when the member no longer asks whether it is the right one.
func (c *cells) keepCell() {
	m, d := c.m, &c.descent
	leader, _ := m.lease.Leader()
	if probation := !c.search.tried.IsZero(); !c.inCells() || leader == "" || m.alone() || probation || c.seeks() {
		return
	}
	now := CellRecord{Bits: m.cell.Bits, Lineage: d.lineage, Entered: d.entered, Members: d.most, Before: d.before, Joined: d.joined,
		Reigns: slices.Clone(d.reigns)}
	if reflect.DeepEqual(now, c.stored) {
		return
	}
	b, err := json.Marshal(now)
	if err != nil {
		m.notice(Error, "cannot store the cell", "err", err)
		return
	}
	c.stored = now
	m.persist(CellKey, b)
}

// readCell decodes a stored cell, and checks its bounds.
func readCell(b []byte) (r CellRecord, err error) {
	if err := json.Unmarshal(b, &r); err != nil {
		return CellRecord{}, fmt.Errorf("reading a stored cell: %w", err)
	}
	switch {
	case r.Bits > overlay.MaxCellBits:
		err = fmt.Errorf("%d bits, at most %d", r.Bits, overlay.MaxCellBits)
	case max(len(r.Lineage), len(r.Before)) > overlay.MaxCellBits:
		err = fmt.Errorf("a lineage of more than %d divisions", overlay.MaxCellBits)
	case len(r.Reigns) > maxReigns:
		err = fmt.Errorf("%d leaders, at most %d", len(r.Reigns), maxReigns)
	case r.Members < 0:
		err = fmt.Errorf("%d members", r.Members)
	default:
		return r, nil
	}
	return CellRecord{}, fmt.Errorf("reading a stored cell: %w", err)
}

// restoreCell takes the member back into the cell that was stored. known are the peers that led the member's cell or
// stood by: their reports of cells count more than those of others.
func (c *cells) restoreCell(stored []byte, known []task.PeerID) {
	m := c.m
	if stored == nil || !c.inCells() {
		return
	}
	r, err := readCell(stored)
	if err != nil {
		m.notice(Error, "the stored cell cannot be read; other peers are asked", "err", err)
		return
	}
	c.cell, c.stored = overlay.CellOf(c.number, r.Bits), r
	c.descent = descent{lineage: r.Lineage, before: r.Before, joined: r.Joined, entered: r.Entered, most: r.Members,
		reigns: slices.Clone(r.Reigns)}
	c.search.known = slices.DeleteFunc(slices.Clone(known), func(p task.PeerID) bool { return p == m.p.cfg.Self })
	c.search.trusts = m.p.now.Add(cellTrust)
}
