package node

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/scheduler/worker"
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
	Drained     bool            `json:"drained"`     // the owner has said that all leaves
	Running     []LocalTask     `json:"running"`     // what is here, and where it goes
	Coordinates []string        `json:"coordinates"` // overlays that this node coordinates
	Given       GivenToday      `json:"given"`       // by this machine, as submitters thank for it
	Notices     []string        `json:"notices"`     // what an owner should know: a full disk, a clock that was set
	Peers       int             `json:"peers"`       // connected
	Addrs       []string        `json:"addrs"`
	Reach       ReachStatus     `json:"reach"`
	RSSBytes    uint64          `json:"rss_bytes"`
	RxBytes     int64           `json:"rx_bytes"`
	TxBytes     int64           `json:"tx_bytes"`
	Version     string          `json:"version"`
}

// Status describes the node now.
func (n *Node) Status(ctx context.Context) (Status, error) {
	n.atlas.lookRound(ctx)
	return n.describe(ctx, (*membership).status)
}

// Glance is Status for who looks each second: nobody else is asked, and of overlays it has the name and ID,
// who leads and how many members there are.
func (n *Node) Glance(ctx context.Context) (Status, error) {
	return n.describe(ctx, func(m *membership) OverlayStatus {
		s := OverlayStatus{Name: m.Manifest().Name, ID: m.id, Share: m.weight(), Leader: m.Leader().Leader,
			Role: RoleMember, Members: m.View().Len(), Group: slices.Clone(m.Group())}
		switch {
		case m.Coordinator() != nil:
			s.Role = RoleLeader
		case slices.Contains(s.Group, n.self):
			s.Role = RoleCoordinator
		}
		return s
	})
}

// describe is Status with what is told of each overlay.
func (n *Node) describe(ctx context.Context, of func(*membership) OverlayStatus) (Status, error) {
	s := Status{PeerID: n.self, Addrs: n.Addrs(), Peers: len(n.net.Peers()), Version: n.cfg.Version,
		Coordinates: []string{}, Overlays: []OverlayStatus{}, Running: []LocalTask{}, Reach: n.reached()}
	err := n.look(ctx, func() {
		s.ownersWord(n.monitor.Decision())
		s.RulesFile = n.cfg.RulesFile
		s.Tasks, s.Running = n.exec.Count(), n.localTasks()
		s.Notices, s.Given = n.notices(), n.givenToday()
		for _, m := range n.ordered() {
			o := of(m)
			s.Overlays = append(s.Overlays, o)
			if o.Role != RoleMember {
				s.Coordinates = append(s.Coordinates, m.Manifest().Name)
			}
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
	s.Drained = d.Drained
	s.Since, s.Until, s.Stopped, s.MoveAt, s.Slots = d.Since, d.Until, d.Stop, d.MoveAt, d.Cores
}

// jumpMemory is how long a status tells that the clock was set.
const jumpMemory = time.Hour

// notices is on the loop.
func (n *Node) notices() []string {
	out := []string{}
	if n.full {
		out = append(out, fullReason)
	}
	if refused := n.content.room.notice(); refused != "" {
		out = append(out, refused)
	}
	out = append(append(out, n.missing(time.Now())...), n.lists.notices()...)
	for _, m := range n.ordered() {
		if err := m.Manifest().Admits(n.self, m.Pass(), n.clock.wall()); err != nil {
			out = append(out, err.Error())
		}
	}
	for _, m := range n.ordered() {
		if faults := m.Worker().Faults(n.clock.wall()); len(faults) > 0 {
			out = append(out, faultsNotice(faults))
		}
	}
	if j := n.clock.news; j.by != 0 && n.now().Sub(j.at) < jumpMemory {
		out = append(out, fmt.Sprintf("the clock was set by %v at %s", j.by.Round(time.Second),
			j.at.UTC().Format(time.RFC3339)))
	}
	return out
}

// faultsNotice tells an owner whose machine errs.
func faultsNotice(faults []worker.Fault) string {
	last := faults[len(faults)-1]
	return fmt.Sprintf("%d results of this machine were found wrong by who submitted the jobs, the last on %s by %s "+
		"(task %s: %s): test this machine's memory, and its cooling", len(faults),
		time.Unix(last.At, 0).UTC().Format(time.DateOnly), last.By, last.Task, last.Why)
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
	// Path is how it is connected: "tcp", "quic", "relay" or "" for not at all; Via who relays.
	Path    string      `json:"path,omitempty"`
	Via     task.PeerID `json:"via,omitempty"`
	Roles   []string    `json:"roles"`   // "leader", "coordinator", "self"
	Overlay string      `json:"overlay"` // by name
	Site    string      `json:"site"`    // "" for none
	// Belief is "there", "suspected" or "lost"; BeliefBy what that rests on, and
	// BeliefSince since when it is so.
	Belief      string    `json:"belief"`
	BeliefBy    string    `json:"belief_by"`
	BeliefSince time.Time `json:"belief_since,omitzero"`
	Addrs       []string  `json:"addrs"`
	Version     string    `json:"version"`
	Seen        time.Time `json:"seen"` // when its newest advert was issued
}

// Members lists the members of an overlay, by name or ID, or of all overlays
// for "", this node among them: by overlay, then peer ID. Members that are
// believed to be lost come with their last advert, as long as it lives.
func (n *Node) Members(ctx context.Context, nameOrID string) ([]Member, error) {
	var out []Member
	var err error
	if e := n.look(ctx, func() {
		all := n.ordered()
		if nameOrID != "" {
			var m *membership
			if m, err = n.find(nameOrID); err != nil {
				return
			}
			all = []*membership{m}
		}
		beliefs := n.beliefs()
		for _, m := range all {
			out = append(out, m.list(beliefs)...)
		}
	}); e != nil {
		return nil, e
	}
	connect(out, n.net.Peers())
	return out, err
}

// beliefs are what is believed of members, on the loop.
func (n *Node) beliefs() map[task.PeerID]overlay.Belief {
	out := map[task.PeerID]overlay.Belief{}
	for _, b := range n.peer.Suspicion().Beliefs() {
		out[b.Peer] = b
	}
	return out
}

// connect fills in how members are connected.
func connect(out []Member, peers []p2p.Peer) {
	connected := map[task.PeerID]p2p.Peer{}
	for _, p := range peers {
		connected[p.ID] = p
	}
	for i := range out {
		var p p2p.Peer
		p, out[i].Connected = connected[out[i].Peer]
		out[i].LatencyMS = float64(p.Latency) / float64(time.Millisecond)
		out[i].Path, out[i].Via = p.Transport, p.Via
	}
}

// list is on the loop.
func (m *membership) list(beliefs map[task.PeerID]overlay.Belief) []Member {
	adverts := m.View().Members()
	adverts = append(adverts, m.Away()...)
	slices.SortFunc(adverts, func(a, b overlay.Advert) int { return cmp.Compare(a.Peer, b.Peer) })
	out := make([]Member, 0, len(adverts))
	for i := range adverts {
		x := m.row(&adverts[i], beliefs)
		if _, here := m.View().Member(x.Peer); here {
			x.Stay = m.all.past.forecast(&adverts[i], usualHorizon).Stay
		}
		out = append(out, x)
	}
	return out
}

// row is a member by its advert, without a forecast; on the loop.
func (m *membership) row(a *overlay.Advert, beliefs map[task.PeerID]overlay.Belief) Member {
	x := Member{
		Peer: a.Peer, State: a.State, Slots: a.Slots, Memory: a.Memory, Speed: a.Speed, Overlay: m.Manifest().Name,
		Site:  a.Site,
		Addrs: a.Addrs, Version: a.Program(), Seen: a.Issued, Roles: m.roles(a.Peer), Free: a.Free,
		Belief: overlay.There.String(),
	}
	if _, here := m.View().Member(a.Peer); !here {
		x.Belief = overlay.Lost.String()
	}
	if b, ok := beliefs[a.Peer]; ok {
		x.Belief, x.BeliefBy, x.BeliefSince = b.State.String(), b.By, b.Since
	}
	if a.Peer == m.all.self {
		x.BeliefBy = "self"
	}
	return x
}

func (m *membership) roles(peer task.PeerID) []string {
	roles := []string{}
	switch {
	case peer == m.Leader().Leader:
		roles = append(roles, RoleLeader)
	case slices.Contains(m.Group(), peer):
		roles = append(roles, RoleCoordinator)
	}
	if peer == m.all.self {
		roles = append(roles, "self")
	}
	return roles
}
