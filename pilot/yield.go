package pilot

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A round holds the intermediate results of one Step.
type round struct {
	p          *Pilot
	now        time.Time
	plan       *Plan
	candidates []string // running placeholders without an order, in the order in which they are ended
	free       []string // free nodes that no waiting job counts on yet
}

// order ends a placeholder and removes it from the candidates.
func (r *round) order(id, reason string) {
	known := r.p.places[id]
	how := r.p.cfg.Yield
	if known.phase == Pending { // there is no node to drain
		how = Drastic
	}
	known.ordered, known.how = r.now, how
	r.plan.Orders = append(r.plan.Orders, Order{ID: id, Node: known.node, How: how, Reason: reason})
}

// yield ends placeholders for the local jobs that wait. The demand is computed for all jobs together, so no node is
// counted twice and no more placeholders are ended than jobs want.
func (r *round) yield(s *Snapshot) {
	p := r.p
	for _, j := range p.jobs {
		j.seen = false
	}
	for i := range s.Waiting {
		of := &s.Waiting[i]
		j := p.jobs[of.ID]
		if j == nil {
			j = &job{since: r.now}
			p.jobs[of.ID] = j
		}
		j.seen = true
		j.expire(r.now, p.cfg.Settle)
		if len(r.candidates) > 0 {
			r.serve(of, j)
		}
	}
	for id, j := range p.jobs {
		if !j.seen {
			delete(p.jobs, id)
		}
	}
	if len(s.Waiting) > 0 {
		p.lastLocal = r.now
		r.withdraw(0, fmt.Sprintf("%d local jobs wait", len(s.Waiting)))
	}
}

// expire removes the nodes that did not start the job within settle. Their number was an underestimate, or they were
// unsuitable, so the demand doubles.
func (j *job) expire(now time.Time, settle time.Duration) {
	expired := false
	for node, at := range j.grants {
		if now.Sub(at) >= settle {
			delete(j.grants, node)
			expired = true
		}
	}
	if expired && j.doubled < mostDoublings {
		j.doubled++
	}
}

// serve ends the placeholders that one waiting job needs.
func (r *round) serve(of *Job, j *job) {
	want := min(max(of.Nodes, 1), len(r.candidates)+len(r.free)+len(j.grants)) << j.doubled
	reason := fmt.Sprintf("local job %s waits for %d nodes", of.ID, max(of.Nodes, 1))
	want -= len(j.grants)
	for _, node := range of.Needs {
		want -= r.grant(j, func(held string) bool { return held == node }, 1, reason)
	}
	if r.now.Sub(j.since) < r.p.cfg.Patience {
		want -= r.claim(of, want)
	}
	r.grant(j, of.reaches, want, reason)
}

// claim reserves up to n free nodes for a job and returns their number.
func (r *round) claim(of *Job, n int) int {
	claimed := 0
	r.free = slices.DeleteFunc(r.free, func(node string) bool {
		if claimed >= n || !of.reaches(node) {
			return false
		}
		claimed++
		return true
	})
	return claimed
}

// grant ends up to n placeholders on suitable nodes for a job and returns their number.
func (r *round) grant(j *job, suits func(node string) bool, n int, reason string) int {
	granted := 0
	r.candidates = slices.DeleteFunc(r.candidates, func(id string) bool {
		node := r.p.places[id].node
		if granted >= n || !suits(node) {
			return false
		}
		granted++
		r.order(id, reason)
		if j.grants == nil {
			j.grants = map[string]time.Time{}
		}
		j.grants[node] = r.now
		return true
	})
	return granted
}

// keepIdle ends placeholders until KeepIdle nodes are free, also after local jobs took kept nodes.
func (r *round) keepIdle(s *Snapshot) {
	p := r.p
	if p.cfg.KeepIdle == 0 || len(s.Waiting) > 0 {
		return
	}
	idle := p.usable(s)
	for _, known := range p.places {
		if known.seen && known.node != "" && (known.phase == Ending || !known.ordered.IsZero()) {
			idle++
		}
	}
	for _, id := range r.candidates {
		if idle >= p.cfg.KeepIdle {
			return
		}
		idle++
		p.lastLocal = r.now
		r.order(id, fmt.Sprintf("fewer than %d nodes are idle", p.cfg.KeepIdle))
	}
}

// surplus ends placeholders beyond Most, which exist if a pilot is restarted with a smaller limit. It also withdraws
// pending placeholders for which no idle node is left, so that they do not compete for the next free node.
func (r *round) surplus(s *Snapshot) {
	p, held := r.p, 0
	for _, known := range p.places {
		if known.ordered.IsZero() {
			held++
		}
	}
	reason := fmt.Sprintf("more than %d placeholders are held", p.cfg.Most)
	if pending := p.pending(); held > p.cfg.Most && pending > 0 {
		held -= r.withdraw(max(0, pending-(held-p.cfg.Most)), reason)
	}
	for _, id := range p.candidates() {
		if held <= p.cfg.Most {
			break
		}
		held--
		r.order(id, reason)
	}
	r.withdraw(max(0, p.usable(s)-p.cfg.KeepIdle)+p.fresh(r.now), "no idle node is left for it")
}

// withdraw cancels pending placeholders until keep remain and returns their number.
func (r *round) withdraw(keep int, reason string) int {
	var pending []string
	for id, known := range r.p.places {
		if known.seen && known.phase == Pending && known.ordered.IsZero() {
			pending = append(pending, id)
		}
	}
	slices.SortFunc(pending, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	if keep >= len(pending) {
		return 0
	}
	for _, id := range pending[keep:] {
		r.order(id, reason)
	}
	return len(pending) - keep
}

// escalate cancels placeholders that are still there after their time.
func (r *round) escalate() {
	var late []string
	for id, known := range r.p.places {
		limit := repeat
		if known.how == Graceful {
			limit = r.p.cfg.Grace + noticeDelay
		}
		if known.seen && known.phase != Ending && !known.ordered.IsZero() && r.now.Sub(known.ordered) >= limit {
			late = append(late, id)
		}
	}
	slices.Sort(late)
	for _, id := range late {
		known := r.p.places[id]
		reason := fmt.Sprintf("placeholder still runs %v after the order to end", r.now.Sub(known.ordered).Round(time.Second))
		known.ordered, known.how = r.now, Drastic
		r.plan.Orders = append(r.plan.Orders, Order{ID: id, Node: known.node, How: Drastic, Reason: reason})
	}
}
