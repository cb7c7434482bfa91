package sweep

import (
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/chunk"
)

// again has an idle node do what another has, if the policy copies and wants that.
func (w *world) again(i int) {
	if w.copier == nil {
		return
	}
	of, runs, why, ok := w.copier.Copy(epoch.Add(w.now), w.nodes[i].handle)
	if !ok {
		return
	}
	p := w.nodes[w.byPolicy[of]].piece
	if runs != p.left {
		panic(fmt.Sprintf("sweep: a copy of %d runs, where %d are out", runs, p.left))
	}
	w.report.Copies++
	w.start(i, p, true, why)
}

// take makes a piece of so many runs, first of those that came back.
func (w *world) take(runs int) *piece {
	p := &piece{runs: make([]int64, 0, runs), done: make([]bool, runs), left: runs}
	k := min(runs, len(w.back))
	p.runs = append(p.runs, w.back[len(w.back)-k:]...)
	w.back = w.back[:len(w.back)-k]
	for len(p.runs) < runs {
		p.runs = append(p.runs, w.fresh)
		w.fresh++
	}
	return p
}

// open returns the runs that are not done.
func (p *piece) open() []int64 {
	var out []int64
	for k, run := range p.runs {
		if !p.done[k] {
			out = append(out, run)
		}
	}
	return out
}

// serve takes the coordinator's time for a message, and returns when it is through.
func (w *world) serve() time.Duration {
	w.report.Messages++
	w.busy = max(w.busy, w.now) + w.Serve
	return w.busy
}

// start sends what is open of a piece to a node.
func (w *world) start(i int, p *piece, again bool, why chunk.Reason) {
	w.serial++
	begun := w.serve() + w.Chunk + w.Nodes[i].Way
	n := &w.nodes[i]
	*n = node{here: true, handle: n.handle, piece: p, copy: again, serial: w.serial, given: w.now, begun: begun,
		from: begun}
	p.on = append(p.on, i)
	for k := range p.runs {
		if !p.done[k] {
			n.places = append(n.places, k)
		}
	}
	n.places, n.ends = w.schedule(&w.Nodes[i], p, n.places)
	if w.Trace {
		n.trace = len(w.report.Trace)
		w.report.Trace = append(w.report.Trace, Chunk{Start: w.now, Node: i, Runs: len(n.places), Copy: again, Reason: why})
	}
	w.work(i)
}

// work waits for the next results of a node.
func (w *world) work(i int) {
	n := &w.nodes[i]
	k := len(n.places) - 1
	if w.Each {
		k = n.told
	}
	w.at(w.Nodes[i].Slowed.elapsed(n.begun, n.ends[k]), event{kind: ends, node: i, serial: n.serial})
}

// tell has a node tell its results: the next, or all.
func (w *world) tell(i int) {
	n := &w.nodes[i]
	runs := len(n.places)
	if w.Each {
		runs = 1
	}
	w.at(w.serve(), event{kind: hears, node: i, serial: n.serial, runs: runs, took: w.now - n.from})
	n.told, n.from = n.told+runs, w.now
	if n.told < len(n.places) {
		w.work(i)
	}
}

// hear is the coordinator's part of that.
func (w *world) hear(i, runs int, took time.Duration) {
	n := &w.nodes[i]
	p, first := n.piece, 0
	for _, k := range n.places[n.heard : n.heard+runs] {
		if !p.done[k] {
			p.done[k] = true
			first++
		}
	}
	n.heard += runs
	n.unheld += took
	if first == 0 {
		return
	}
	now := epoch.Add(w.now)
	w.policy.Done(now, n.handle, first, n.unheld)
	n.unheld = 0
	n.first += first
	p.left -= first
	w.left -= int64(first)
	w.report.Nodes[i].Runs += int64(first)
	for _, j := range slices.Clone(p.on) {
		if j != i {
			w.policy.Back(now, w.nodes[j].handle, first)
		}
		if p.left == 0 {
			w.stop(j, j == i)
		}
	}
}

// stop ends a node's part in a piece, and books its time: over if it was the one to
// end it.
func (w *world) stop(i int, over bool) {
	n, r := &w.nodes[i], &w.report.Nodes[i]
	until := w.now
	if n.told == len(n.places) {
		until = n.from
	}
	begun := min(n.begun, until)
	work := until - begun
	useful := time.Duration(0)
	if n.told > 0 && !n.copy {
		// Of what it told, some another may have told before; of what it has not told,
		// nothing came.
		useful = time.Duration(float64(n.from-begun) * float64(n.first) / float64(n.told))
	}
	r.Busy += useful
	switch {
	case !n.here:
		r.Lost += work - useful
	case n.copy:
		r.Duplicate += work - useful
	default:
		r.Redundant += work - useful
	}
	r.Waiting += begun - n.given + w.now - until
	r.Finish = until
	if w.Trace {
		c := &w.report.Trace[n.trace]
		c.End, c.Over = until, over
	}
	n.piece.on = slices.DeleteFunc(n.piece.on, func(j int) bool { return j == i })
	n.piece, n.places, n.ends = nil, nil, nil
}

// close books the rest.
func (w *world) close() {
	w.report.Makespan = w.now
	for i := range w.report.Nodes {
		r, is := &w.report.Nodes[i], &w.Nodes[i]
		there := w.now
		if is.Leaves > 0 {
			there = min(there, is.Leaves)
		}
		there = max(0, there-is.Joins)
		r.Name = is.Name
		r.Idle = there - r.Busy - r.Duplicate - r.Redundant - r.Lost - r.Waiting
	}
}
