// Package pilot decides how many placeholder jobs to keep in a cluster's batch system, and which of them to end when
// local jobs wait for nodes. Each placeholder runs a node of a pool on an otherwise idle node of the cluster.
//
// A [Pilot] is a function from time and queue snapshots to plans. The package pilot/batch reads the snapshots from a
// batch system and carries out the plans. docs/spec/koala.md describes the published component manager.
package pilot

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	// shortLife is the lifetime below which a placeholder that ended by itself counts as failed.
	shortLife = 30 * time.Second
	// firstHold and longestHold bound the exponential delay of submissions after failures.
	firstHold   = 30 * time.Second
	longestHold = time.Hour
	// repeat is the interval at which a placeholder that ignores its cancellation is canceled again.
	repeat = 5 * time.Second
	// noticeDelay is the additional time, beyond Grace, for a drained placeholder to leave the queue.
	noticeDelay = time.Second
	// mostDoublings bounds the growth of the demand of a job that nodes do not satisfy.
	mostDoublings = 16
)

// A Pilot holds the history that decisions depend on. Losing this history is safe, because a new Pilot continues with
// the placeholders in the queue.
type Pilot struct {
	cfg     Config
	closing bool
	places  map[string]*place
	jobs    map[string]*job // waiting local jobs, by ID

	lastLocal time.Time // time of the latest local demand, zero before the first
	heldUntil time.Time // end of the delay after failures
	failures  int       // consecutive failures
}

// A place records a placeholder that was submitted or found in the queue.
type place struct {
	since   time.Time // submission, or first sight of it
	seen    bool      // in the queue at the latest poll
	phase   Phase
	node    string
	ordered time.Time // time of the latest order, zero without an order
	how     Yield     // kind of the latest order
}

// A job records the demand of a waiting local job.
type job struct {
	since   time.Time            // first poll that saw the job
	seen    bool                 // in the queue at the latest poll
	grants  map[string]time.Time // nodes that were given back for the job, with the time
	doubled int                  // number of times that granted nodes did not start the job
}

// New returns a Pilot. The configuration must be valid.
func New(cfg Config) *Pilot {
	return &Pilot{cfg: cfg, places: map[string]*place{}, jobs: map[string]*job{}}
}

// Close switches to shutdown: further plans end all placeholders and submit no others.
func (p *Pilot) Close() { p.closing = true }

// Submitted records a placeholder that was submitted. It counts as held until Settle has passed, even if snapshots
// lack it.
func (p *Pilot) Submitted(now time.Time, id string) { p.places[id] = &place{since: now} }

// SubmitFailed records that the batch system rejected a placeholder, which delays further ones.
func (p *Pilot) SubmitFailed(now time.Time) { p.fail(now) }

func (p *Pilot) fail(now time.Time) {
	hold := firstHold << min(p.failures, 10)
	p.failures++
	p.heldUntil = now.Add(min(hold, longestHold))
}

// Step returns the plan for a snapshot.
func (p *Pilot) Step(now time.Time, s *Snapshot) Plan {
	p.track(now, s)
	var plan Plan
	r := &round{p: p, now: now, plan: &plan, candidates: p.candidates(), free: p.freeNodes(s)}
	switch {
	case p.closing:
		for _, id := range r.candidates {
			r.order(id, "the pilot ends")
		}
		r.withdraw(0, "the pilot ends")
	default:
		r.yield(s)
		r.keepIdle(s)
		r.surplus(s)
		p.grow(now, s, &plan)
	}
	r.escalate()
	return plan
}

// track updates what is known of placeholders and waiting jobs.
func (p *Pilot) track(now time.Time, s *Snapshot) {
	for _, known := range p.places {
		known.seen = false
	}
	for i := range s.Places {
		of := &s.Places[i]
		known := p.places[of.ID]
		if known == nil {
			known = &place{since: now}
			p.places[of.ID] = known
		}
		if known.phase != of.Phase && of.Phase == Running {
			known.since = now
		}
		known.seen, known.phase, known.node = true, of.Phase, of.Node
		if of.Phase == Running && now.Sub(known.since) >= shortLife {
			p.failures = 0
		}
	}
	failed := false
	for id, known := range p.places {
		age := now.Sub(known.since)
		switch {
		case known.seen:
			continue
		case known.node == "" && known.ordered.IsZero() && age < p.cfg.Settle:
			continue // submitted, and not visible in the queue yet
		case known.ordered.IsZero() && age < shortLife:
			failed = true
		}
		delete(p.places, id)
	}
	if failed { // several that fail together have one cause
		p.fail(now)
	}
}

// candidates returns the running placeholders without an order. The youngest come first, because older nodes have
// earned more trust and hold more of the pool's data.
func (p *Pilot) candidates() []string {
	var ids []string
	for id, known := range p.places {
		if known.seen && known.phase == Running && known.ordered.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(p.places[b].since.Compare(p.places[a].since), cmp.Compare(len(b), len(a)), cmp.Compare(b, a))
	})
	return ids
}

// freeNodes returns the nodes that are idle or becoming idle, without those that were given back for a job that still
// waits.
func (p *Pilot) freeNodes(s *Snapshot) []string {
	taken := map[string]bool{}
	for _, j := range p.jobs {
		for node := range j.grants {
			taken[node] = true
		}
	}
	var free []string
	add := func(node string) {
		if node != "" && !taken[node] {
			taken[node] = true
			free = append(free, node)
		}
	}
	held := p.heldNodes()
	for i := range s.Nodes {
		if !held[s.Nodes[i].Name] {
			add(s.Nodes[i].Name)
		}
	}
	for _, known := range p.places {
		if known.seen && (known.phase == Ending || !known.ordered.IsZero()) {
			add(known.node)
		}
	}
	slices.Sort(free)
	return free
}

// heldNodes returns the nodes of running placeholders. The list of nodes may be older than the queue, and show them
// as idle.
func (p *Pilot) heldNodes() map[string]bool {
	held := map[string]bool{}
	for _, known := range p.places {
		if known.seen && known.phase != Pending {
			held[known.node] = true
		}
	}
	return held
}

// grow plans the submission of placeholders.
func (p *Pilot) grow(now time.Time, s *Snapshot, plan *Plan) {
	room := p.cfg.Most - len(p.places)
	switch {
	case room <= 0:
		return
	case len(s.Waiting) > 0:
		plan.Why = fmt.Sprintf("%d local jobs wait", len(s.Waiting))
		return
	case !p.lastLocal.IsZero() && now.Sub(p.lastLocal) < p.cfg.Quiet:
		plan.Why = fmt.Sprintf("a local job waited less than %v ago", p.cfg.Quiet)
		return
	case now.Before(p.heldUntil):
		plan.Why = fmt.Sprintf("%d failures in a row", p.failures)
		return
	}
	idle, pending := p.usable(s), p.pending()
	plan.Submit = max(0, min(room, idle-p.cfg.KeepIdle-pending))
	plan.Why = fmt.Sprintf("%d nodes are idle, %d are kept for local jobs, %d placeholders are pending", idle,
		p.cfg.KeepIdle, pending)
}

// usable returns the number of idle nodes in the pilot's queue.
func (p *Pilot) usable(s *Snapshot) int {
	held, n := p.heldNodes(), 0
	for i := range s.Nodes {
		if s.Nodes[i].Usable && !held[s.Nodes[i].Name] {
			n++
		}
	}
	return n
}

// pending returns the number of placeholders without a node, also those that are not visible in the queue yet.
func (p *Pilot) pending() int {
	n := 0
	for _, known := range p.places {
		if known.phase == Pending && known.ordered.IsZero() {
			n++
		}
	}
	return n
}

// fresh returns the number of pending placeholders that the batch system may not have considered yet.
func (p *Pilot) fresh(now time.Time) int {
	n := 0
	for _, known := range p.places {
		if known.phase == Pending && now.Sub(known.since) < p.cfg.Settle {
			n++
		}
	}
	return n
}
