package migrate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

func init() {
	Register("cost", Kind{
		Params: "period rest exchange",
		Does: "tasks move on notice, and to an idle member where they are expected to end so much sooner that it pays " +
			"for the move; those ahead leave fast members to the last of their job",
		Make: func(ps *spec.Params) Policy {
			return &Cost{period: ps.Duration("period", costPeriod), rest: ps.Number("rest", costRest, 1, 1e6),
				pays: ps.Number("exchange", exchangeGain, 1, 1e6)}
		},
	})
}

const (
	// costPeriod is the time between scans: a transfer of 64 MiB at 10 Mbit/s
	// takes as long, and what is foretold changes little in it.
	costPeriod = time.Minute

	// costRest is how many times as long as a transfer a task that moved stays where it
	// is, so that moves, which come at the end of a bag alone, take at most half of a member's
	// uplink. With ten, as it was, the last tasks wait beside faster hosts: bags of 50 and
	// 150 tasks took .909 of FCFS's time, with two .901 and with one, and half as many moves
	// again, .899 (docs/measured.md, "The end of a bag").
	costRest = 2

	// handOverTrips and deltaPart are what a live move takes after its state was
	// copied: two round trips and a hundredth of the state.
	handOverTrips = 4
	deltaPart     = 100

	// mostLanes bounds the lengths of tasks that one scan tells apart, laneStep
	// the difference: an eighth of an octave.
	mostLanes = 8
	laneStep  = 8
)

// Cost moves tasks on notice, as Reactive does, to where the placement policy
// says; and, while nobody waits for them, to idle members: when a member is
// likely to leave, when a much faster one is idle (a straggler's, at a job's
// end), or both. A task is compared by when it is expected to end,
//
//	length + P(leaves) * (work redone + time until that is known)
//
// with length at the member's speed. P is of the time to the end, but no longer
// than a task rests after a move: what is foretold beyond that can be decided then,
// and differs between members by chance more than by truth. It moves
// if it is expected to end sooner there by more than the move takes: the time that it stands
// still, and that of the transfer, in which a place is kept for it and two uplinks
// are in use. So a forecast must change by twice that before it moves back; and it
// rests for two transfers after each move. For its own sake nothing moves to where it would
// end later.
//
// At the end of a job tasks that are ahead leave the fast members to those that are behind:
// see exchange.go.
//
// Tasks that wait have a better use for idle members than those that run
// already: while any wait only notices count.
type Cost struct {
	period time.Duration
	rest   float64
	pays   float64 // how many times its cost a move that clears a member has to gain

	lanes  [mostLanes]lane
	used   int
	taken  []int32 // places taken of each host in this scan
	moved  map[task.TaskID]time.Time
	asked  []wish
	placed []placedRun
	out    []Move

	notices Reactive
}

// A lane is the idle hosts for tasks of about one length, by when those are
// expected to end.
type lane struct {
	length float64 // nanoseconds on the reference core
	ends   []ending
	next   int
}

type ending struct {
	at, stay float64 // nanoseconds from now; probability
	host     int32
}

// A wish is a task that may be better off elsewhere.
type wish struct {
	host, run int32
	placed    int32 // among those that may move
	end, stay float64
}

// Predictor implements Foreteller.
func (c *Cost) Predictor() string { return "blend" }

// Period implements Policy.
func (c *Cost) Period() time.Duration { return c.period }

// Left implements Policy.
func (c *Cost) Left(task.PeerID, time.Time) {}

// Scan implements Policy, for whoever looks at hosts alone: it names those on
// notice.
func (c *Cost) Scan(now time.Time, hosts []Host, f Forecast, rng *rand.Rand) []Prediction {
	return c.notices.Scan(now, hosts, f, rng)
}

// HeedsNotices implements Heeder: where tasks wait, or nobody is idle, none moves for its own sake.
func (c *Cost) HeedsNotices(idle bool, s Situation) bool { return !idle || s.Waiting > 0 || s.Endless }

// Moves implements Mover.
func (c *Cost) Moves(now time.Time, hosts []Host, f Forecast, s Situation) []Move {
	c.out, c.asked, c.placed, c.used = c.out[:0], c.asked[:0], c.placed[:0], 0
	c.taken = slices.Grow(c.taken[:0], len(hosts))[:len(hosts)]
	clear(c.taken)
	idle := false
	for i := range hosts {
		h := &hosts[i]
		switch {
		case h.Paused: // a short visit costs less than a move
		case h.Leaving:
			for _, t := range h.Tasks {
				c.out = append(c.out, Move{Task: t, From: h.Peer,
					Reason: "it gave notice that it goes or takes no guests any more"})
			}
		case h.Idle > 0:
			idle = true
		}
	}
	if c.HeedsNotices(idle, s) {
		return c.out
	}
	c.forget(now)
	fastest := fastestIdle(hosts)
	for i := range hosts {
		if h := &hosts[i]; !h.Leaving {
			c.wishes(now, int32(i), h, f, &s, fastest)
		}
	}
	// Those with most to lose choose first.
	slices.SortFunc(c.asked, func(a, b wish) int {
		return cmp.Or(-cmp.Compare(a.end, b.end), cmp.Compare(a.host, b.host), cmp.Compare(a.run, b.run))
	})
	for _, w := range c.asked {
		c.grant(now, &w, hosts, f, &s)
	}
	c.exchange(now, hosts, f, &s)
	return c.out
}

func fastestIdle(hosts []Host) (speed float64) {
	for i := range hosts {
		if h := &hosts[i]; h.Idle > 0 && !h.Leaving {
			speed = max(speed, speedOf(h))
		}
	}
	return speed
}

// speedOf is a host's speed, the reference core's where it is unknown.
func speedOf(h *Host) float64 {
	if h.Speed > 0 {
		return h.Speed
	}
	return 1
}

// moveCost is what moving a task costs, and how much of it the task stands still.
func moveCost(r *Run, s *Situation) (all, still float64) {
	still = float64((handOverTrips-1)*s.Delay + s.Transfer(r.State/deltaPart))
	return still + float64(s.Transfer(r.State)), still
}

// wishes notes the tasks of a host that any idle host could be worth moving to.
func (c *Cost) wishes(now time.Time, i int32, h *Host, f Forecast, s *Situation, fastest float64) {
	for k := range h.Runs {
		r := &h.Runs[k]
		if !r.Movable || r.Left <= 0 {
			continue
		}
		if at, ok := c.moved[h.Tasks[k]]; ok && now.Sub(at) < c.resting(r.State, s) {
			continue
		}
		length := float64(r.Left) / speedOf(h)
		cost, _ := moveCost(r, s)
		if length <= cost {
			continue // it ends before it could move
		}
		stay, _ := f.Stay(h.Peer, now, min(time.Duration(length), c.resting(r.State, s)))
		w := wish{i, int32(k), int32(len(c.placed)), expectedEnd(r, h, stay, s), stay}
		if w.end-float64(r.Left)/fastest > cost {
			c.asked = append(c.asked, w)
		}
		c.placed = append(c.placed, placedRun{host: i, run: int32(k), end: w.end, stay: stay})
	}
}

// expectedEnd is when a task is expected to end on a host that stays for it, as
// far as one looks, with such a probability.
func expectedEnd(r *Run, h *Host, stay float64, s *Situation) float64 {
	length := float64(r.Left) / speedOf(h)
	return length + (1-stay)*(redone(r, h, length, stay, s)+float64(s.Detect))
}

// redone is how much of a run comes to nothing, in the mean, if its host leaves
// before its end: half of it and what was done before, or with checkpoints half of
// Young's interval and a transfer.
func redone(r *Run, h *Host, length, stay float64, s *Situation) float64 {
	if !s.Saves || stay >= 1 {
		return length/2 + float64(r.Unsaved)/speedOf(h)
	}
	pause, transfer := float64(s.PauseFor(r.State)), float64(s.Transfer(r.State))
	mean := length * (1 + stay) / 2 / (1 - stay)
	return min(length/2, max(transfer, math.Sqrt(2*pause*mean)-pause)/2+transfer)
}

// grant moves a task to the best idle host that is left, if that pays.
func (c *Cost) grant(now time.Time, w *wish, hosts []Host, f Forecast, s *Situation) {
	h := &hosts[w.host]
	r := &h.Runs[w.run]
	e, ok := c.firstFree(c.lane(now, r, hosts, f, s), hosts)
	if !ok {
		return
	}
	cost, still := moveCost(r, s)
	end := expectedEnd(r, &hosts[e.host], e.stay, s) + still
	if w.end-end <= cost {
		return
	}
	c.taken[e.host]++
	c.placed[w.placed].used = true
	c.send(now, Move{
		Task: h.Tasks[w.run], From: h.Peer, To: hosts[e.host].Peer,
		words: costWords, ends: [2]float64{end, w.end}, stays: [2]float64{e.stay, w.stay},
	})
}

// firstFree is the best idle host of a lane that is left.
func (c *Cost) firstFree(l *lane, hosts []Host) (ending, bool) {
	for l.next < len(l.ends) && c.taken[l.ends[l.next].host] >= int32(hosts[l.ends[l.next].host].Idle) {
		l.next++
	}
	if l.next == len(l.ends) {
		return ending{}, false
	}
	return l.ends[l.next], true
}

func costWords(m *Move) string {
	return fmt.Sprintf("expected to end in %v there and %v here: it stays with probability %.3g, the other with %.3g",
		time.Duration(m.ends[0]).Round(time.Second), time.Duration(m.ends[1]).Round(time.Second), m.stays[1], m.stays[0])
}

// lane is the one for a task, or the nearest in length when there are enough.
func (c *Cost) lane(now time.Time, r *Run, hosts []Host, f Forecast, s *Situation) *lane {
	step := math.Round(laneStep * math.Log2(float64(r.Left)))
	nearest, off := 0, math.Inf(1)
	for i := range c.used {
		d := math.Abs(math.Round(laneStep*math.Log2(c.lanes[i].length)) - step)
		if d < off {
			nearest, off = i, d
		}
	}
	if off == 0 || c.used == mostLanes {
		return &c.lanes[nearest]
	}
	l := &c.lanes[c.used]
	c.used++
	l.length, l.ends, l.next = float64(r.Left), l.ends[:0], 0
	copying := float64(s.Transfer(r.State))
	for i := range hosts {
		h := &hosts[i]
		if h.Idle <= 0 || h.Leaving {
			continue
		}
		length := l.length / speedOf(h)
		stay, known := f.Stay(h.Peer, now, min(time.Duration(copying+length), c.resting(r.State, s)))
		if !known && stay >= 1 {
			continue // nobody can say that it is better there
		}
		l.ends = append(l.ends, ending{expectedEnd(r, h, stay, s), stay, int32(i)})
	}
	slices.SortFunc(l.ends, func(a, b ending) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.host, b.host)) })
	return l
}

// resting is how long a task stays where it moved.
func (c *Cost) resting(state int64, s *Situation) time.Duration {
	return max(time.Duration(c.rest*float64(s.Transfer(state))), c.period)
}

// longestRest is after how long a move is forgotten.
const longestRest = 24 * time.Hour

// forget drops moves of long ago.
func (c *Cost) forget(now time.Time) {
	for t, at := range c.moved {
		if now.Sub(at) > longestRest {
			delete(c.moved, t)
		}
	}
}
