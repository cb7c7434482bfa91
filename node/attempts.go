package node

import (
	"context"
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/scheduler/message"
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

// A client is a membership's worker, whose effects package exec carries out.
type client struct{ m *membership }

var _ exec.Client = client{}

// Overlay implements exec.Client.
func (c client) Overlay() overlay.ID { return c.m.id }

// Report implements exec.Client.
func (c client) Report(ev message.Event) { c.m.step(c.m.worker, ev) }

// Moves implements exec.Client.
func (c client) Moves() bool {
	cfg := c.m.n.sched
	cfg.Rules = rulesOf(&c.m.manifest)
	return cfg.Moves()
}

// Forecast implements exec.Client.
func (c client) Forecast() func(time.Duration) float64 {
	m, n := c.m, c.m.n
	now := n.now()
	n.refreshPool(now)
	a, known := m.view.Member(n.self)
	a.Peer = n.self
	if !known {
		a.Overlay = m.id
	}
	return func(d time.Duration) float64 {
		p, _ := n.stay(&a, now, d)
		return p
	}
}
