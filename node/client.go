package node

import (
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/scheduler/message"
)

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
