package node

import (
	"context"
	"slices"
	"time"

	"godwit/member"
	"godwit/task"
)

// A CellStatus is a cell of an overlay as its leader sums it up. Nothing of it is more than that one's word.
type CellStatus struct {
	Cell    string      `json:"cell"`   // its bits; "whole" for the overlay that has not divided
	Leader  task.PeerID `json:"leader"` // several may say that they lead one cell
	Members int         `json:"members"`
	Slots   int         `json:"slots"`
	Idle    int         `json:"idle"`    // of the slots
	Waiting int         `json:"waiting"` // tasks, at most overlay.MaxCellSlots
	Said    time.Time   `json:"said"`
	Own     bool        `json:"own"` // this node is in it
}

// fillCells fills in the cells that the node knows of; on the loop. An overlay in one cell has none.
func (m *membership) fillCells(s *OverlayStatus) {
	own := m.Cell()
	if own.Whole() {
		return
	}
	s.Cell = own.String()
	for _, x := range m.Summaries() {
		s.Cells = append(s.Cells, CellStatus{Cell: x.Cell.String(), Leader: x.Leader, Members: x.Members,
			Slots: x.Slots, Idle: x.Idle, Waiting: x.Waiting, Said: x.Issued, Own: x.Cell == own})
	}
	slices.SortStableFunc(s.Cells, func(a, b CellStatus) int {
		switch {
		case a.Cell < b.Cell:
			return -1
		case a.Cell > b.Cell:
			return 1
		}
		return 0
	})
}

// statusWait bounds how long a status waits for leaders to say how the cells stand.
const statusWait = time.Second

// lookRound asks the leaders of overlays that are divided how the cells stand, for a status: members that do
// not lead need not know it otherwise. Who does not answer in time is left out.
func (c *cartographer) lookRound(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	type divided struct {
		m      *member.Member
		leader task.PeerID
	}
	var all []divided
	if c.look(ctx, func() {
		for _, m := range c.ordered() {
			if !m.Cell().Whole() && m.Coordinator() == nil && m.Leader().Leader != "" {
				all = append(all, divided{m.Member, m.Leader().Leader})
			}
		}
	}) != nil {
		return
	}
	for _, d := range all {
		list := c.ofLeader(ctx, d.leader, d.m.ID())
		if len(list) == 0 {
			continue
		}
		_ = c.look(ctx, func() { c.heard(d.m, d.leader, list) }) // or the status goes without it
	}
}
