package place

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("expected", Kind{
		Params: "unknown order",
		Does: "tasks, at the end of a bag the longest first (order=turn: in turn), to where they are expected to end " +
			"first, by speed, forecast and what a loss costs",
		Make: func(ps *spec.Params) Policy {
			return &Expected{unknown: ps.Duration("unknown", unknownWork), inTurn: ps.Choice("order", "longest", "turn") == 1}
		},
	})
}

const (
	// unknownWork is what a task is taken to need of which nobody knows: the
	// middle, by its logarithm, of minutes and of hours.
	unknownWork = time.Hour

	// mostLanes bounds the lengths of tasks that one round tells apart.
	mostLanes = 6
	// laneStep is how many are told apart in an octave: which host is better for a
	// task changes little with its length.
	laneStep = 1
)

// Expected places for the most expected useful work: tasks in the queue's order,
// each to the idle host where it is expected to end first. That is
//
//	length + length / mean time to failure * (work redone + time until that is known)
//
// with length at the host's speed. The mean time to failure is the time that the
// host is expected to be there within the length, over the probability that it
// leaves in it: a host that stays for long tells from others even where all will
// have left. What is redone is half of the length; of a task that saves, half of
// its checkpoint interval (Young's, for that mean) and a transfer, if that is less.
//
// At the end of a bag the longest of the tasks that wait go first: see expected_longest.go.
//
// Hosts of which none is expected to be done sooner than another by a part of the
// length that a forecast can tell (alike) are taken in the order in which they came:
// lives fall off ever more slowly with age in all traces measured (Weibull shapes below
// 1: Javadi et al. 2013), so that of those the longest there is the likeliest to stay.
//
// A host that is certain to leave before anything of a task is safe, its end or its
// first checkpoint elsewhere, is not given it. A task for which there is no other
// waits, and those behind it, which may be shorter, are looked at. No other doubt
// has a task wait beside an idle host: what is lost is little, and is done again;
// no bar from 0 to .7 that was tried instead changed what came of it.
//
// Of hosts without history the forecast is that of hosts at large at their age;
// where the forecast says nothing of them, the mean of the others. None starves
// for that: history comes with presence, not with tasks.
//
// Short tasks go to the fastest idle host, as with FCFS, and where no host is idle
// to busy ones ahead: see expected_ahead.go.
type Expected struct {
	unknown time.Duration
	inTurn  bool // the longest are not first
	s       Situation

	hosts []Host
	stays []stay  // of hosts
	most  float64 // length of the longest of tasks
	tasks []wanting
	lanes [mostLanes]lane
	used  int // of lanes
	out   []Placement
	idle  int  // slots of hosts
	alike bool // every host may run every task
	ahead ahead
}

// A wanting task is one that goes in this round, if a host is good enough.
type wanting struct {
	task    Task
	length  float64 // nanoseconds on the reference core
	guessed bool    // nobody knows
	sooner  bool    // it goes before others whose turn it was
	turn    int32   // its place in the queue, where that matters
}

// lifeParts are the parts of the round's longest task at which each host's survival
// is asked for, once; it is straight between. Hazards fall with age, so that the
// early part needs the nearer marks. Of two hosts of which neither stays to the end
// the first parts tell which is better.
var lifeParts = [...]float64{1. / 32, 1. / 4, 1}

// A stay is a host's survival at lifeParts; told says that the forecast knows
// anything.
type stay struct {
	at   [len(lifeParts)]float64
	told bool
}

// Traits implements Policy.
func (p *Expected) Traits() Traits {
	return Traits{Predictor: "blend", Again: again, Situate: p.situate}
}

func (p *Expected) situate(s Situation) { p.s = s }

// Place implements Policy.
func (p *Expected) Place(now time.Time, queue Queue, hosts []Host, f Forecast, _ *rand.Rand) []Placement {
	p.begin(hosts)
	p.collect(queue)
	p.ask(now, f)
	for i := range p.tasks {
		w := &p.tasks[i]
		l := p.lane(now, w, f)
		k, ok := p.best(l, &w.task)
		if !ok {
			continue
		}
		r := l.heap[k]
		h := &p.hosts[r.host]
		words := expectedWords
		switch {
		case w.sooner:
			words = longestWords
		case w.guessed:
			words = guessedWords
		}
		reason := Reason{words: words, x: r.stay, y: r.end, n: int64(p.lengthAt(h, l.length)), m: int64(len(l.heap))}
		p.out = append(p.out, Placement{w.task.ID, h.Peer, reason})
		h.Take(&w.task)
	}
	p.giveAhead(queue, hosts)
	return p.out
}

func expectedWords(r *Reason) string {
	return fmt.Sprintf("next in order; of %d idle members it is expected to be done here first, in %v: it takes %v, and "+
		"stays for that with probability %.3g",
		r.m, time.Duration(r.y).Round(time.Second), time.Duration(r.n).Round(time.Second), r.x)
}

// guessedWords are for a task of which nobody knows how long it takes: it is placed as if that were unknownWork.
func guessedWords(r *Reason) string {
	return fmt.Sprintf("next in order; nobody knows how long it takes; of %d idle members this one is the best for a "+
		"task of %v here, and stays for that with probability %.3g", r.m, time.Duration(r.n).Round(time.Second), r.x)
}

// begin takes a copy of the hosts that are idle.
func (p *Expected) begin(hosts []Host) {
	p.hosts, p.tasks, p.out, p.used, p.idle, p.most = p.hosts[:0], p.tasks[:0], p.out[:0], 0, 0, 0
	for i := range hosts {
		if h := &hosts[i]; h.Free > 0 && h.Idle() > 0 {
			p.hosts = append(p.hosts, *h)
			p.idle += min(h.Free, h.Idle())
		}
	}
}

// collect takes the tasks that may go from the queue's head.
func (p *Expected) collect(queue Queue) {
	least := int64(math.MaxInt64) // memory that all hosts have
	for i := range p.hosts {
		h := &p.hosts[i]
		least = min(least, min(h.Memory, h.MemoryFree)/int64(min(h.Free, h.Idle())))
	}
	p.alike = true
	look := p.idle
	for misses := 0; len(p.tasks) < look && misses < maxMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		if len(t.Avoid) > 0 || t.Memory > least {
			p.alike = false
			if !slices.ContainsFunc(p.hosts, func(h Host) bool { return h.Fits(&t) }) {
				misses++
				if !slices.ContainsFunc(p.hosts, func(h Host) bool { return t.Memory <= min(h.Memory, h.MemoryFree) }) {
					queue.SkipJob()
				}
				continue
			}
		}
		length := float64(cmp.Or(t.Left, t.Work, p.unknown))
		p.tasks = append(p.tasks, wanting{task: t, length: length, guessed: t.unknown()})
		if len(p.tasks) == 1 && length >= briefWork {
			look = p.look()
		}
	}
	p.longestFirst()
	for i := range p.tasks {
		p.most = max(p.most, p.tasks[i].length)
	}
}

// ask asks for the survival of all hosts, once. Those of which the forecast says
// nothing are as the others in the mean.
func (p *Expected) ask(now time.Time, f Forecast) {
	p.stays = p.stays[:0]
	var mean stay
	n := 0.0
	for i := range p.hosts {
		s, length := stay{told: true}, p.lengthAt(&p.hosts[i], p.most)
		was := 1.0
		for k, part := range lifeParts {
			if p.most < briefWork { // of no task too
				break
			}
			chance, known := f.Stay(p.hosts[i].Peer, now, time.Duration(part*length))
			if !known && chance >= 1 {
				s.told = false
				break
			}
			was = min(was, max(chance, 0))
			s.at[k] = was
		}
		p.stays = append(p.stays, s)
		if s.told {
			n++
			for k := range s.at {
				mean.at[k] += s.at[k]
			}
		}
	}
	for k := range mean.at {
		if mean.at[k] /= n; n == 0 {
			mean.at[k] = 1
		}
	}
	for i := range p.stays {
		if !p.stays[i].told {
			p.stays[i].at = mean.at
		}
	}
}

// within is the probability to be there after a part of the longest task, and the
// share of the time up to it that the host is expected to be there.
func (s *stay) within(part float64) (end, there float64) {
	was, from := 1.0, 0.0
	for k, mark := range lifeParts {
		at := s.at[k]
		if mark >= part {
			at = was + (at-was)*(part-from)/(mark-from)
			return at, (there + (was+at)/2*(part-from)) / part
		}
		there += (was + at) / 2 * (mark - from)
		was, from = at, mark
	}
	return was, there / from
}

// sureLoss says whether a host is certain to leave within d.
func (p *Expected) sureLoss(now time.Time, h *Host, f Forecast, d float64) bool {
	stay, known := f.Stay(h.Peer, now, time.Duration(d))
	return known && stay <= 0
}

// redone is how much of a run comes to nothing, in the mean, if its host leaves
// before its end, and after how long the first of it is safe. mean is the time to
// failure.
func (p *Expected) redone(length, mean float64, state int64) (redo, safe float64) {
	if !p.s.Saves || math.IsInf(mean, 1) {
		return length / 2, length
	}
	pause, transfer := float64(p.s.PauseFor(state)), float64(p.s.Transfer(state))
	young := max(transfer, math.Sqrt(2*pause*mean)-pause)
	return min(length/2, young/2+transfer), young + pause + transfer
}
