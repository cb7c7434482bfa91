package ending

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

const (
	// leastShown is the least share of its time that a member is taken to show itself:
	// one stands for no more than 20 like it.
	leastShown = 1. / 20
	// mostShown is of how many members that is found out one by one.
	mostShown = 512
	// forgotten, in seconds, is for how long a member that is away is still known:
	// member.AdvertLife.
	forgotten = 45 * 60
	// mostSlots and mostFaster bound the slots and the speed that a member is believed to have,
	// by the medians of all, where they are fewMembers or more.
	mostSlots, mostFaster, fewMembers = 16, 4, 3
	// paceSpread is the standard deviation of the logarithm of how much faster, or slower,
	// all members together come and go than they did: fitted so that the intervals hold
	// (docs/measured.md, Forecasts of the end).
	paceSpread = 0.45
	// surer makes a probability to do as a week ago of a rhythm: fitted as paceSpread is.
	surer = 2
	// speedSpread and commonSpread are the standard deviations of the logarithms of how far
	// a member's speed is off what it says, and all tasks' pace off what they took: what is
	// beside a task, such as fetching and starting, is in neither.
	speedSpread, commonSpread = 0.05, 0.08
)

// A habit is what is known of a member's coming and going.
type habit struct {
	Member
	stayer
	own   []absence
	shown float64 // share of the time that it shows itself
	week
}

// there says whether the member runs tasks now.
func (h *habit) there() bool { return h.State == trace.Available }

// A crowd is the members of a swarm, with what they have in common.
type crowd struct {
	now    time.Time
	habits []habit
	absences
	bounds
	away  int     // members that are known to be gone
	share float64 // of all members, that habits are
	told  int     // of all members, with a history worth the name
}

// newCrowd looks at the members of a swarm for a job of so many tasks.
func newCrowd(now time.Time, s *Swarm, tasks float64) *crowd {
	slots, speed := believed(s.Members)
	bounds := boundsFor(s.Members, slots, tasks)
	members, share := some(s.Members, tasks, bounds.known)
	c := &crowd{now: now, habits: make([]habit, 0, len(members)), bounds: bounds, share: share}
	for i := range s.Members {
		if r := s.Members[i].Record; r != nil && r.Known >= hoursPerDay {
			c.told++
		}
	}
	pool := cmp.Or(s.Pool, &predictor.Pool{})
	for i := range members {
		m := members[i]
		m.Slots, m.Speed = min(m.Slots, slots), min(m.Speed, speed)
		h := habit{Member: m, stayer: stayer{pool: pool, now: now, today: now.Sub(now.Truncate(dayLength)).Seconds()}}
		if m.Record != nil {
			h.record = *m.Record
		}
		if !m.Until.IsZero() {
			h.record.Leave = uint32(min(max(m.Until.Unix(), 0), math.MaxUint32))
		}
		if m.Record == nil && !m.Since.IsZero() {
			h.record.Up, h.record.Since = h.there(), uint32(min(max(m.Since.Unix(), 0), math.MaxUint32))
		}
		h.own = absencesOf(m.Spells)
		h.week = weekOf(&h.record, now)
		for _, a := range h.own {
			c.add(a)
		}
		if m.State == trace.Unavailable {
			c.away++
		}
		c.habits = append(c.habits, h)
	}
	slices.SortFunc(c.habits, func(a, b habit) int { return cmp.Compare(a.Peer, b.Peer) })
	c.show()
	return c
}

// believed bounds what members are believed to lend and how fast they are to be, by what the
// others say: a forecast is not to rest on one that boasts.
func believed(members []Member) (slots int, speed float64) {
	var all []int
	var speeds []float64
	for i := range members {
		if m := &members[i]; m.Slots > 0 {
			all, speeds = append(all, m.Slots), append(speeds, speedOf(m))
		}
	}
	if len(all) < fewMembers {
		return math.MaxInt, math.Inf(1)
	}
	slices.Sort(all)
	slices.Sort(speeds)
	return all[(len(all)-1)/2] * mostSlots, speeds[(len(speeds)-1)/2] * mostFaster
}

// show says how much of its time each member shows itself in the long run, by what its
// times there and away are drawn from: so that as many come as leave. Of very many members
// some stand for the others.
func (c *crowd) show() {
	rng := rand.New(rand.NewPCG(uint64(len(c.habits)), uint64(len(c.all))))
	step, shown := 1+len(c.habits)/mostShown, 1.0
	for i := range c.habits {
		h := &c.habits[i]
		if i%step == 0 {
			shown = c.shows(h, rng)
		}
		h.shown = shown
	}
}

func (c *crowd) shows(h *habit, rng *rand.Rand) float64 {
	const draws, parts = 32, 4
	up, owner, gone := 0.0, 0.0, 0.0
	for k := range parts {
		up += h.fresh(float64(k)*hoursPerDay/parts*secondsPerHour).mean() / parts
	}
	for k := range draws {
		a := c.drawOf(h.own, (float64(k)+rng.Float64())*hoursPerDay/draws, rng)
		if a.owner {
			owner += a.length / draws
		} else {
			gone += a.length / draws
		}
	}
	return max(leastShown, (up+owner)/(up+owner+gone))
}

// A host is a member in one draw.
type host struct {
	habit   *habit
	peer    task.PeerID
	there   bool
	owner   bool    // away, but there for its owner
	replay  bool    // it does as it did a week ago
	speed   float64 // relative to the reference core
	session bool    // the one that ran when the forecast began
	since   float64 // when it came, seconds from now
	change  float64 // when it leaves or comes back
	running []int   // runs, those that stand still too
	memory  int64   // spoken for
	idle    float64 // since when
}

// hosts draws who there is: members that are known, and those that are away and that they
// stand for. share is the part of them that is looked at.
func (c *crowd) hosts(tasks float64, rng *rand.Rand) (out []host, share float64) {
	for i := range c.habits {
		h := &c.habits[i]
		if h.Slots > 0 {
			out = append(out, host{habit: h, peer: h.Peer})
		}
	}
	stands := 0.0
	for i := range out {
		if h := out[i].habit; h.State != trace.Unavailable {
			stands += 1/h.shown - 1
		}
	}
	if stands > 0 {
		known := max(0, 1-float64(c.away)/stands)
		for i := range len(out) {
			h := out[i].habit
			if h.State == trace.Unavailable {
				continue
			}
			n := (1/h.shown - 1) * known
			for k := range int(n + rng.Float64()) {
				out = append(out, host{habit: h, peer: like(h.Peer, k)})
			}
		}
	}
	return c.thin(out, tasks, rng)
}

// like is the name of a member that is away and of which nothing is known.
func like(peer task.PeerID, k int) task.PeerID {
	return peer + task.PeerID([]byte{'~', byte('a' + k%26)}) // leastShown: fewer than 26
}

// thin leaves out hosts where they are many: the slow ones where there are more than the
// job has tasks for, else any.
func (c *crowd) thin(all []host, tasks float64, rng *rand.Rand) ([]host, float64) {
	if len(all) <= c.drawn {
		return all, c.share
	}
	if tasks*spare < float64(c.drawn) {
		slices.SortStableFunc(all, func(a, b host) int {
			if x, y := here(a), here(b); x != y {
				return y - x
			}
			return cmp.Compare(speedOf(&b.habit.Member), speedOf(&a.habit.Member))
		})
		return all[:c.drawn], c.share
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:c.drawn], c.share * float64(c.drawn) / float64(len(all))
}

// here is 1 for a member that is there now.
func here(h host) int {
	if h.habit.there() && h.peer == h.habit.Peer {
		return 1
	}
	return 0
}

// begin draws when a host first leaves or comes. alike is drawn once for all: those whose
// rhythm is above it do as a week ago.
func (c *crowd) begin(h *host, up, down, alike float64, rng *rand.Rand) {
	m := h.habit
	h.replay = h.peer == m.Peer && m.State != trace.Unavailable && alike < surer*m.rhythm
	switch {
	case h.replay:
		h.there, h.session = m.there(), m.there()
		h.owner = !h.there
		h.change = m.next(c.now, h.there, rng)
	case h.peer != m.Peer:
		h.change = c.met(m.own, forgotten, rng) * down
	case m.there():
		h.there, h.session = true, true
		h.change = m.session().draw(0, rng) * up
		if !m.Until.IsZero() {
			h.change = min(h.change, max(0, m.Until.Sub(c.now).Seconds()))
		}
	default:
		lasted := 0.0
		if !m.Since.IsZero() {
			lasted = max(0, c.now.Sub(m.Since).Seconds())
		}
		h.owner = m.State == trace.UserPresent || m.State == trace.CPUBusy
		h.change = c.rest(m.own, hourOf(c.now.Add(-time.Duration(lasted*float64(time.Second)))), lasted, rng) * down
	}
}
