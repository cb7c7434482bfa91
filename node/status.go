package node

import (
	"context"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"godwit/overlay"
	"godwit/owner"
	"godwit/task"
)

// Status is what `godwit status` shows of a node.
type Status struct {
	PeerID      task.PeerID     `json:"peer_id"`
	State       overlay.State   `json:"state"`
	Reason      string          `json:"reason"`           // why, in one line
	Rule        string          `json:"rule"`             // of the owner's that decided State; "" for none
	Sensor      string          `json:"sensor"`           // what the rule read; "" for nothing
	Since       time.Time       `json:"since"`            // when the rule began to decide
	Until       time.Time       `json:"until,omitzero"`   // when State is known to end
	RulesFile   string          `json:"rules_file"`       // "" for a node without rules
	Stopped     bool            `json:"stopped"`          // running tasks stand still
	MoveAt      time.Time       `json:"move_at,omitzero"` // when stopped tasks go on elsewhere
	Overlays    []OverlayStatus `json:"overlays"`
	Tasks       int             `json:"tasks"`       // running here now
	Slots       int             `json:"slots"`       // that may run here at once
	Coordinates []string        `json:"coordinates"` // overlays this node leads
	Peers       int             `json:"peers"`       // connected
	Addrs       []string        `json:"addrs"`
	RSSBytes    uint64          `json:"rss_bytes"`
	RxBytes     int64           `json:"rx_bytes"`
	TxBytes     int64           `json:"tx_bytes"`
	Version     string          `json:"version"`
}

// OverlayStatus is one overlay as this node sees it.
type OverlayStatus struct {
	Name     string      `json:"name"`
	Manifest string      `json:"manifest"` // its ID; "" before one is followed
	Leader   task.PeerID `json:"leader"`   // "" while none is known
	Epoch    uint64      `json:"epoch"`
	Members  int         `json:"members"`
}

// Status describes the node now.
func (n *Node) Status(ctx context.Context) (Status, error) {
	s := Status{PeerID: n.self, Addrs: n.Addrs(), Peers: len(n.net.Peers()), Version: n.cfg.Version, Coordinates: []string{}}
	err := n.do(ctx, func() {
		s.ownersWord(n.monitor.Decision())
		s.RulesFile = n.cfg.RulesFile
		s.Tasks = len(n.running)
		o := OverlayStatus{Name: n.cfg.Overlay, Leader: n.leader.Leader, Epoch: n.leader.Epoch, Members: len(n.view.Members())}
		if m := n.view.Manifest(); !m.IsZero() {
			o.Manifest = m.ID()
		}
		s.Overlays = []OverlayStatus{o}
		if n.coordinator != nil {
			s.Coordinates = append(s.Coordinates, n.cfg.Overlay)
		}
	})
	if err != nil {
		return s, err
	}
	stats := n.net.Stats()
	s.RxBytes, s.TxBytes = stats.BytesIn, stats.BytesOut
	if p, err := process.NewProcess(int32(os.Getpid())); err == nil {
		if m, err := p.MemoryInfo(); err == nil {
			s.RSSBytes = m.RSS
		}
	}
	return s, nil
}

// ownersWord fills in what the owner allows. It is the monitor's newest word:
// the loop may not have heard it yet.
func (s *Status) ownersWord(d owner.Decision) {
	s.State, s.Reason, s.Rule, s.Sensor = d.State, d.Reason, d.Rule, d.Sensor
	s.Since, s.Until, s.Stopped, s.MoveAt, s.Slots = d.Since, d.Until, d.Stop, d.MoveAt, d.Cores
}

// A Member is a peer as this node sees it.
type Member struct {
	Peer      task.PeerID   `json:"peer"`
	State     overlay.State `json:"state"`
	Slots     int           `json:"slots"`
	Memory    int64         `json:"memory_bytes"`
	Speed     float64       `json:"speed"`    // 0 unknown
	Free      int           `json:"free"`     // slots without a task when it last said
	Stay      float64       `json:"forecast"` // probability that it runs tasks for the next hour
	Connected bool          `json:"connected"`
	LatencyMS float64       `json:"latency_ms"` // 0 unknown
	Roles     []string      `json:"roles"`      // "leader", "self"
	Addrs     []string      `json:"addrs"`
	Version   string        `json:"version"`
	Seen      time.Time     `json:"seen"` // when its newest advert was issued
}

// Members lists the members of the overlay, this node among them, by peer ID.
func (n *Node) Members(ctx context.Context) ([]Member, error) {
	var adverts []overlay.Advert
	var leader task.PeerID
	stay := map[task.PeerID]float64{}
	if err := n.do(ctx, func() {
		adverts, leader = n.view.Members(), n.leader.Leader
		for i := range adverts {
			stay[adverts[i].Peer] = n.forecast(&adverts[i], usualHorizon).Stay
		}
	}); err != nil {
		return nil, err
	}
	latency := map[task.PeerID]time.Duration{}
	for _, p := range n.net.Peers() {
		latency[p.ID] = p.Latency
	}
	out := make([]Member, 0, len(adverts))
	for _, a := range adverts {
		m := Member{
			Peer: a.Peer, State: a.State, Slots: a.Slots, Memory: a.Memory, Speed: a.Speed,
			Addrs: a.Addrs, Version: a.Version, Seen: a.Issued, Roles: []string{}, Free: a.Free, Stay: stay[a.Peer],
		}
		var l time.Duration
		l, m.Connected = latency[a.Peer]
		m.LatencyMS = float64(l) / float64(time.Millisecond)
		if a.Peer == leader {
			m.Roles = append(m.Roles, "leader")
		}
		if a.Peer == n.self {
			m.Roles = append(m.Roles, "self")
		}
		out = append(out, m)
	}
	return out, nil
}
