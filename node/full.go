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
func (d *driver) diskFull(effects []pending, err error) {
	d.pending = append(effects, d.pending...)
	d.fullUntil = d.now().Add(fullRetry)
	if d.full {
		return
	}
	d.full = true
	d.content.wantRoom()
	d.log.Error("the disk is full: this node takes nothing in and does not lead until there is room", "err", err)
	d.at(func() { d.peer.DiskFull(fullReason) })
}

// roomAgain goes on where diskFull stopped.
func (d *driver) roomAgain() {
	d.full, d.fullUntil = false, time.Time{}
	d.log.Info("there is room on the disk again")
	d.at(d.peer.RoomAgain)
}

// sayWhileFull carries out what rests on nothing durable: offers to hand over
// and refusals. All else waits in pending.
func (d *driver) sayWhileFull(ctx context.Context) {
	kept := d.pending[:0]
	for _, p := range d.pending {
		e, ok := p.effect.(member.SayLease)
		switch {
		case !ok:
			kept = append(kept, p)
		case e.Lease.Kind == member.Renewal: // who does not lead soon need not say so
		default:
			p.of.sayLease(ctx, e)
		}
	}
	d.pending = kept
}

// whatToDo says what a person can do about a store that cannot go on.
func (d *driver) whatToDo(err error) error {
	switch {
	case errors.Is(err, disk.ErrCorrupt):
		return fmt.Errorf("%w: the node's store in %s is damaged: start the node again, and it "+
			"recovers what is readable", err, d.cfg.DataDir)
	case errors.Is(err, disk.ErrBroken):
		return fmt.Errorf("%w: writing to the disk failed: check the disk that holds %s, then start the node again; "+
			"nothing that was promised is lost with it", err, d.cfg.DataDir)
	}
	return err
}
