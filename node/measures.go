package node

import (
	"context"
	"time"

	"godwit/node/budget"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// mostDecided bounds the decisions that are counted by name; the machines know some fifty.
const mostDecided = 128

// otherDecisions is where those beyond mostDecided are counted.
const otherDecisions = "other"

// decided counts what machines decided, by what that was. The zero value has counted nothing.
type decided map[string]uint64

func (d *decided) note(action string) {
	if *d == nil {
		*d = decided{}
	}
	if _, known := (*d)[action]; !known && len(*d) >= mostDecided {
		action = otherDecisions
	}
	(*d)[action]++
}

// Measures are what a node has at a moment, and what it has counted since it began, for monitoring.
// Nothing in them is by peer or by job.
type Measures struct {
	Version string
	Up      time.Duration // since New
	State   overlay.State
	Stopped bool // what runs stands still
	Running int  // tasks here
	Slots   int  // tasks that may run here
	Notices int  // that an owner should read
	Waiting int  // posts of this node itself that wait for its loop

	Ended map[task.Outcome]uint64 // attempts
	CPU   time.Duration           // of those

	DiskFull bool
	Disk     map[string]int64 // bytes by use, as budget.Use has them
	DiskMost int64            // bytes that the owner lends; 0: no bound

	Overlays []OverlayMeasures
	Net      p2p.Stats
	Reach    ReachStatus
}

// OverlayMeasures are those of one overlay that a node serves.
type OverlayMeasures struct {
	Overlay     string // its name; with the end of its ID where two have one name
	Members     int    // that are there, this node among them
	Lost        int    // whose adverts are not over
	Led         bool   // a leader is known
	Leads       bool   // this node does
	Coordinates bool   // this node is of the group
	Term        uint64 // grows by one with each change of leader
	Jobs, Rows  int    // in the ledger's copy here
	// OpenJobs, WaitingTasks and RunningTasks are of all jobs, where this node leads; 0 elsewhere.
	OpenJobs                   int
	WaitingTasks, RunningTasks uint64
	Submitted                  int // jobs of this node's owner that are not over
	Decided                    map[string]uint64
}

// Measures looks at the node now. It takes the loop for some microseconds for each open job.
func (n *Node) Measures(ctx context.Context) (Measures, error) {
	m := Measures{Version: n.cfg.Version, Reach: n.reached(), Net: n.net.Stats(), Disk: map[string]int64{},
		Waiting: len(n.inbox) + len(n.first) + len(n.ends)}
	for _, use := range budget.Uses() {
		m.Disk[use.String()] = n.content.room.budget.Used(use)
	}
	m.DiskMost = n.content.room.budget.Most()
	m.Ended, m.CPU = n.exec.Ended.By(), n.exec.Ended.CPU()
	err := n.look(ctx, func() {
		d := n.monitor.Decision()
		m.Up = n.now().Sub(n.clock.started)
		m.State, m.Stopped, m.Slots = d.State, d.Stop, d.Cores
		m.Running, m.Notices, m.DiskFull = n.exec.Count(), len(n.notices()), n.full
		names := map[string]int{}
		all := n.ordered()
		for _, o := range all {
			names[o.Manifest().Name]++
		}
		for _, o := range all {
			of := o.measures()
			if names[of.Overlay] > 1 {
				of.Overlay += "-" + shortPeer(task.PeerID(o.id))
			}
			m.Overlays = append(m.Overlays, of)
		}
	})
	return m, err
}

// measures is on the loop.
func (m *membership) measures() OverlayMeasures {
	s := m.status()
	out := OverlayMeasures{
		Overlay: s.Name, Members: s.Members, Lost: len(m.Away()), Led: s.Leader != "", Leads: s.Role == RoleLeader,
		Coordinates: s.Role != RoleMember, Term: s.Term, Jobs: s.Jobs, Rows: s.Rows, Decided: map[string]uint64{},
	}
	if c := m.Coordinator(); c != nil {
		out.OpenJobs, out.WaitingTasks, out.RunningTasks = c.Load()
	}
	for _, j := range m.Submitter().Jobs() {
		if !j.Final {
			out.Submitted++
		}
	}
	for action, count := range m.decided {
		out.Decided[action] = count
	}
	return out
}
