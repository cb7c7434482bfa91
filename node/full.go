package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/blocks/disk"
	"godwit/member"
)

// fullRetry is how often a node whose disk is full looks whether there is room.
const fullRetry = time.Second

// fullReason is what others and the owner are told.
const fullReason = "the disk is full: nothing can be promised until there is room"

// While the disk is full, what was to be made durable waits, and with it every
// message that rests on it, so that nothing is promised that a crash would take
// back. The node takes nothing in meanwhile and leaves leading to others.

// diskFull waits for room with the effects that could not be made durable.
func (n *Node) diskFull(effects []pending, err error) {
	n.pending = append(effects, n.pending...)
	n.fullUntil = n.now().Add(fullRetry)
	if n.full {
		return
	}
	n.full = true
	n.content.wantRoom()
	n.log.Error("the disk is full: this node takes nothing in and does not lead until there is room", "err", err)
	n.at(func() { n.peer.DiskFull(fullReason) })
}

// roomAgain goes on where diskFull stopped.
func (n *Node) roomAgain() {
	n.full, n.fullUntil = false, time.Time{}
	n.log.Info("there is room on the disk again")
	n.at(n.peer.RoomAgain)
}

// sayWhileFull carries out what rests on nothing durable: offers to hand over
// and refusals. All else waits in pending.
func (n *Node) sayWhileFull(ctx context.Context) {
	kept := n.pending[:0]
	for _, p := range n.pending {
		e, ok := p.effect.(member.SayLease)
		switch {
		case !ok:
			kept = append(kept, p)
		case e.Lease.Kind == member.Renewal: // who does not lead soon need not say so
		default:
			p.of.sayLease(ctx, e)
		}
	}
	n.pending = kept
}

// whatToDo says what a person can do about a store that cannot go on.
func (n *Node) whatToDo(err error) error {
	switch {
	case errors.Is(err, disk.ErrCorrupt):
		return fmt.Errorf("%w: the node's store is damaged: start the node again; if it ends so again, move the directory "+
			"store in %s away, "+
			"and what other nodes have of it comes back from them", err, n.cfg.DataDir)
	case errors.Is(err, disk.ErrBroken):
		return fmt.Errorf("%w: writing to the disk failed: check the disk that holds %s, then start the node again; "+
			"nothing that was promised is lost with it", err, n.cfg.DataDir)
	}
	return err
}
