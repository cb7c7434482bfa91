package node

import (
	"time"

	"godwit/member"
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
func (c client) Report(ev message.Event) { c.m.step(c.m.Worker(), ev) }

// Moves implements exec.Client.
func (c client) Moves() bool {
	cfg := c.m.all.sched
	cfg.Rules = member.Rules(c.m.Manifest())
	return cfg.Moves()
}

// Forecast implements exec.Client.
func (c client) Forecast() func(time.Duration) float64 {
	m, past := c.m, c.m.all.past
	now := past.now()
	past.refreshPool(now)
	a, known := m.View().Member(past.self)
	a.Peer = past.self
	if !known {
		a.Overlay = m.id
	}
	return func(d time.Duration) float64 {
		p, _ := past.stay(&a, now, d)
		return p
	}
}
