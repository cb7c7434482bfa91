package swarm

import (
	"math"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// speed is how fast a run goes here now, by the machines' clock.
func (n *node) speed() float64 {
	switch {
	case !n.lends():
		return 0
	case n.w.s.Hosts.Speeds == sim.Traced:
		return n.speedUsual() * n.spell.cpu
	}
	return 1
}

// speedUsual is what the node's adverts say of its speed.
func (n *node) speedUsual() float64 {
	if n.host != nil && n.w.s.Hosts.Speeds == sim.Traced && n.host.GHz > 0 {
		return n.host.GHz
	}
	return 1
}

// withheld is the percentage of the machine's CPU that tasks do not get.
func (n *node) withheld() int {
	const step = 5
	switch {
	case n.host == nil || n.spell.state != trace.Available:
		return 100
	case n.w.s.Hosts.Speeds == sim.Traced:
		return step * int(math.Round((1-n.spell.cpu)*100/step))
	}
	return 0
}

// pause is how long a run stands still for a checkpoint of so many bytes.
func (w *world) pause(bytes int64) time.Duration {
	const unit, least = 64 << 20, 1 << 20
	return w.machines(time.Duration(float64(w.s.Checkpoints.Pause) * float64(max(bytes, least)) / unit))
}

// transfer is how long bytes take between two nodes, beside the delays.
func (w *world) transfer(bytes int64) time.Duration {
	rate := w.s.Network.Upload
	if d := w.s.Network.Download; rate == 0 || d > 0 && d < rate {
		rate = d
	}
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(bytes) / rate * float64(time.Second))
}
