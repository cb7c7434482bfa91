package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/chunk"
)

// epoch is time 0 as policies see it.
var epoch = time.Date(2010, 9, 1, 0, 0, 0, 0, time.UTC)

// Run runs the scenario. It fails if it is not valid, or if all nodes leave before the
// runs are done.
func Run(s *Scenario) (*Report, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p, err := chunk.Parse(s.Policy, chunk.Job{Runs: s.Runs, Trials: s.Trials})
	if err != nil {
		return nil, err
	}
	if s.Wrap != nil {
		p = s.Wrap(p)
	}
	w := &world{Scenario: s, policy: p, left: s.Runs, nodes: make([]node, len(s.Nodes)), byPolicy: map[chunk.Node]int{},
		report: &Report{Policy: s.Policy, Bound: s.bound(), Nodes: make([]NodeReport, len(s.Nodes))}}
	w.ranker, _ = p.(chunk.Ranker)
	w.copier, _ = p.(chunk.Copier)
	for i := range s.Nodes {
		w.at(s.Nodes[i].Joins, event{kind: joins, node: i})
		if t := s.Nodes[i].Leaves; t > 0 {
			w.at(t, event{kind: leaves, node: i})
		}
	}
	for w.left > 0 {
		if len(w.agenda.events) == 0 {
			return nil, fmt.Errorf("sweep: %d runs are left and no node is there to do them", w.left)
		}
		w.instant()
	}
	w.close()
	return w.report, nil
}

// A piece is the runs of a chunk, which a copy shares with it.
type piece struct {
	runs []int64
	done []bool
	left int
	on   []int // the nodes that have it
}

// A node is one that does runs, and what it has: no piece if it is idle.
type node struct {
	here   bool
	handle chunk.Node

	piece  *piece
	copy   bool            // it is another's
	serial int             // of its chunks: events of others are late
	places []int           // in piece.runs, as they end
	ends   []time.Duration // of those, in work time
	given  time.Duration
	begun  time.Duration // the work
	told   int           // of places, to the coordinator
	from   time.Duration // since when the next report is
	heard  int           // of places, by the coordinator
	first  int           // of those, that nobody had done before
	unheld time.Duration // work on runs that others had done first, since the last Done
	trace  int           // in Report.Trace
}

// world is what is the case at now.
//
// Invariant: each run is done, in exactly one of fresh and back, or in the piece of a
// node; left counts those that are not done.
type world struct {
	*Scenario
	policy   chunk.Policy
	ranker   chunk.Ranker
	copier   chunk.Copier
	nodes    []node
	byPolicy map[chunk.Node]int
	agenda   agenda
	now      time.Duration
	serial   int
	fresh    int64   // the first run that nobody has had
	back     []int64 // runs that came back
	left     int64
	busy     time.Duration // until when the coordinator serves
	report   *Report
}

// instant does all that happens at the next instant, and then gives chunks.
func (w *world) instant() {
	w.now = w.agenda.events[0].at
	for len(w.agenda.events) > 0 && w.agenda.events[0].at == w.now {
		e := byTime.Pop(&w.agenda.events)
		switch n := &w.nodes[e.node]; {
		case e.kind == joins:
			w.join(e.node)
		case e.kind == leaves:
			w.leave(e.node)
		case n.piece == nil || n.serial != e.serial: // cancelled since
		case e.kind == ends:
			w.tell(e.node)
		case e.kind == hears:
			w.hear(e.node, e.runs, e.took)
		}
	}
	if w.left > 0 {
		w.give()
	}
}

func (w *world) join(i int) {
	n, is := &w.nodes[i], &w.Nodes[i]
	n.here = true
	n.handle = w.policy.Join(chunk.Member{Slots: is.Slots, Cores: is.Cores, Speed: is.Told,
		Available: is.Slowed.at(w.now), Latency: w.Chunk + is.Way})
	w.byPolicy[n.handle] = i
}

func (w *world) leave(i int) {
	n := &w.nodes[i]
	w.policy.Leave(n.handle)
	delete(w.byPolicy, n.handle)
	n.here = false
	p := n.piece
	if p == nil {
		return
	}
	w.stop(i, false)
	if len(p.on) == 0 {
		w.back = append(w.back, p.open()...)
		w.report.Lost += int64(p.left)
	}
}

// remaining is how many runs nobody has.
func (w *world) remaining() int64 { return w.Runs - w.fresh + int64(len(w.back)) }

// give asks the policy for everybody who is idle, the fastest first if it says who is.
func (w *world) give() {
	var idle []int
	for i := range w.nodes {
		if w.nodes[i].here && w.nodes[i].piece == nil {
			idle = append(idle, i)
		}
	}
	if w.ranker != nil {
		slices.SortStableFunc(idle, func(a, b int) int {
			return cmp.Compare(w.ranker.Rank(w.nodes[b].handle), w.ranker.Rank(w.nodes[a].handle))
		})
	}
	for _, i := range idle {
		if w.remaining() == 0 {
			w.again(i)
			continue
		}
		runs, why := w.policy.Size(epoch.Add(w.now), w.nodes[i].handle, chunk.Ask{Remaining: w.remaining()})
		if runs > 0 {
			p := w.take(runs)
			w.report.Chunks++
			w.start(i, p, false, why)
		}
	}
}
