package node

import (
	"context"
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/task"
)

// A door is what package exec sees of the node.
type door struct{ n *Node }

var _ exec.Host = door{}

// Now implements exec.Host.
func (d door) Now() time.Time { return d.n.now() }

// Post implements exec.Host.
func (d door) Post(do func()) { d.n.post(post{call: do}) }

// PostEnd implements exec.Host. An attempt that completed is told in a way of its own:
// its slot is free, and what waits for one need not wait for the disk.
func (d door) PostEnd(o task.Outcome, do func()) {
	if o == task.Completed {
		select {
		case d.n.ends <- post{call: do}:
			return
		default:
		}
	}
	d.Post(do)
}

// Do implements exec.Host.
func (d door) Do(ctx context.Context, do func()) error { return d.n.do(ctx, do) }

// HandOver implements exec.Host.
func (d door) HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error) {
	return d.n.net.HandOver(ctx, to)
}

// Client implements exec.Host.
func (d door) Client(of overlay.ID, peer task.PeerID) exec.Client {
	if m := d.n.members[of]; m != nil && m.admits(peer) {
		return client{m}
	}
	return nil
}

// Speed implements exec.Host.
func (d door) Speed() float64 { return d.n.speed }

// MustGo implements exec.Host.
func (d door) MustGo() bool { return d.n.movedOut && d.n.othersCanWork() }

// CountChanged implements exec.Host: it tells the overlays when the last slot fills or
// the first empties.
func (d door) CountChanged() { d.n.freeChanged() }

// StateSaved implements exec.Host.
func (d door) StateSaved() { d.n.leaveLater() }
