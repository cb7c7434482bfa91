// Package metrics shows what a node counts to Prometheus. Nothing is collected while nobody asks, and
// nothing is labelled by peer or by job: what a series may be is bounded by the program alone.
package metrics

import (
	"godwit/node"
	"godwit/task"

	"github.com/prometheus/client_golang/prometheus"
)

// A Family is a metric with all of its series.
type Family struct {
	Name    string // godwit_ROOM_WHAT_UNIT
	Help    string
	Counter bool     // it only grows, from 0 at the node's start; else it goes up and down
	Labels  []string // of each series
}

// A say has one series of a family collected, with the values of its labels.
type say func(value float64, labels ...string)

// A collected is a Family and where its series come from.
type collected struct {
	Family
	from func(m *node.Measures, say say)
}

// Labels, of which no family has others.
const (
	byOverlay  = "overlay"
	byReason   = "reason"
	byProtocol = "protocol"
	byVersion  = "version"
)

// Families lists what is collected, in the order of docs/metrics.md.
func Families() []Family {
	var out []Family
	for _, c := range all() {
		out = append(out, c.Family)
	}
	return out
}

func all() []collected {
	var out []collected
	for _, room := range [][]collected{ofNode(), ofSandbox(), ofOverlays(), ofScheduler(), ofGossip(), ofDisk(),
		ofNetwork()} {
		out = append(out, room...)
	}
	return out
}

// gauge and counter make a family of one series.
func gauge(name, help string, value func(*node.Measures) float64) collected {
	return collected{Family{Name: name, Help: help}, func(m *node.Measures, say say) { say(value(m)) }}
}

func counter(name, help string, value func(*node.Measures) float64) collected {
	c := gauge(name, help, value)
	c.Counter = true
	return c
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func ofNode() []collected {
	return []collected{
		{Family{Name: "godwit_node_info", Help: "1, with the program's version.", Labels: []string{byVersion}},
			func(m *node.Measures, say say) { say(1, m.Version) }},
		gauge("godwit_node_up_seconds", "Time since the node began.",
			func(m *node.Measures) float64 { return m.Up.Seconds() }),
		{Family{Name: "godwit_node_state", Help: "1, with the state that the owner's rules have the machine in.",
			Labels: []string{byReason}},
			func(m *node.Measures, say say) { say(1, m.State.String()) }},
		gauge("godwit_node_stopped", "1 while the owner's rules have tasks stand still.",
			func(m *node.Measures) float64 { return yes(m.Stopped) }),
		gauge("godwit_node_slots", "Tasks that may run here at once.",
			func(m *node.Measures) float64 { return float64(m.Slots) }),
		gauge("godwit_node_notices", "Notices of `godwit status` that the owner should read.",
			func(m *node.Measures) float64 { return float64(m.Notices) }),
		gauge("godwit_node_waiting_events", "Events of this node itself that wait for its loop.",
			func(m *node.Measures) float64 { return float64(m.Waiting) }),
	}
}

func ofSandbox() []collected {
	return []collected{
		gauge("godwit_sandbox_running_tasks", "Tasks here now.",
			func(m *node.Measures) float64 { return float64(m.Running) }),
		{Family{Name: "godwit_sandbox_attempts_total", Help: "Attempts that ended here, by how.", Counter: true,
			Labels: []string{byReason}},
			func(m *node.Measures, say say) {
				for o := task.Completed; o <= task.HostError; o++ {
					say(float64(m.Ended[o]), o.String())
				}
			}},
		counter("godwit_sandbox_cpu_seconds_total", "Processor time of attempts that ended here.",
			func(m *node.Measures) float64 { return m.CPU.Seconds() }),
	}
}

func ofGossip() []collected {
	return []collected{
		gauge("godwit_gossip_adverts", "Adverts of members that are known and not over.",
			func(m *node.Measures) float64 { return float64(m.Net.Adverts) }),
		{Family{Name: "godwit_gossip_dropped_adverts_total", Help: "Adverts that were refused, by why.", Counter: true,
			Labels: []string{byReason}},
			func(m *node.Measures, say say) {
				for why, n := range m.Net.DroppedAdverts {
					say(float64(n), why)
				}
			}},
	}
}

func ofDisk() []collected {
	return []collected{
		gauge("godwit_disk_full", "1 while the disk has no room and the node takes nothing in.",
			func(m *node.Measures) float64 { return yes(m.DiskFull) }),
		{Family{Name: "godwit_disk_used_bytes", Help: "Bytes in the data directory, by what for.",
			Labels: []string{byReason}},
			func(m *node.Measures, say say) {
				for use, n := range m.Disk {
					say(float64(n), use)
				}
			}},
		gauge("godwit_disk_lent_bytes", "Bytes that the owner lends; 0 for no bound.",
			func(m *node.Measures) float64 { return float64(m.DiskMost) }),
	}
}

func ofNetwork() []collected {
	return []collected{
		gauge("godwit_p2p_peers", "Peers connected now.",
			func(m *node.Measures) float64 { return float64(m.Net.Peers) }),
		gauge("godwit_p2p_connections", "Connections open now.",
			func(m *node.Measures) float64 { return float64(m.Net.Conns) }),
		{Family{Name: "godwit_p2p_received_bytes_total", Help: "Bytes read of streams, before encryption, by protocol.",
			Counter: true, Labels: []string{byProtocol}},
			func(m *node.Measures, say say) {
				for p, n := range m.Net.Protocols {
					say(float64(n.In), p)
				}
			}},
		{Family{Name: "godwit_p2p_sent_bytes_total", Help: "Bytes written to streams, before encryption, by protocol.",
			Counter: true, Labels: []string{byProtocol}},
			func(m *node.Measures, say say) {
				for p, n := range m.Net.Protocols {
					say(float64(n.Out), p)
				}
			}},
		gauge("godwit_p2p_hidden", "1 while the node takes itself for one whom nobody can dial.",
			func(m *node.Measures) float64 { return yes(m.Reach.Hidden) }),
		gauge("godwit_p2p_relayed_connections", "Connections that it relays for others now.",
			func(m *node.Measures) float64 { return float64(m.Reach.Circuits) }),
		counter("godwit_p2p_relayed_bytes_total", "Bytes that it relayed for others, read and written.",
			func(m *node.Measures) float64 { return float64(m.Reach.CarriedBytes) }),
	}
}

func (f *Family) kind() prometheus.ValueType {
	if f.Counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}
