package member

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
)

// A worker that may use nothing is told why, and of several reasons the one that a
// person can do most about.
func TestWhyNoSlots(t *testing.T) {
	lent := message.OwnerState{State: overlay.Available, Slots: 2}
	for name, c := range map[string]struct {
		full, going string
		leaving     bool
		owner       message.OwnerState
		slots       int
		share       float64
		state       overlay.State
		reason      string
	}{
		"all is well":       {owner: lent, slots: 2, share: 1, state: overlay.Available},
		"the disk is full":  {full: "the disk is full", owner: lent, slots: 2, share: 1, reason: "the disk is full"},
		"full, and leaving": {full: "the disk is full", leaving: true, owner: lent, share: 1, reason: "the disk is full"},
		"leaving": {leaving: true, going: "it sleeps soon", owner: lent, slots: 2, share: 1, state: overlay.Leaving,
			reason: "the member is leaving"},
		"what runs has to go": {going: "it sleeps soon", owner: lent, slots: 2, share: 1, state: overlay.Leaving,
			reason: "it sleeps soon"},
		"no share":       {owner: lent, reason: "the owner's rules give this overlay no share"},
		"another's turn": {owner: lent, share: 1, reason: "it is another overlay's turn"},
		"the owner is there": {owner: message.OwnerState{State: overlay.UserPresent, Reason: "a key was touched"}, share: 1,
			state: overlay.UserPresent, reason: "a key was touched"},
	} {
		h := hosting(t, 0)
		h.peer.full, h.peer.lent, h.m.leaving = c.full, Lent{State: c.owner, Going: c.going}, c.leaving
		word := h.m.word(c.slots, c.share)
		if word.State != c.state || !strings.HasPrefix(word.Reason, c.reason) || c.reason == "" && word.Reason != "" {
			t.Errorf("%s: the worker hears %+v", name, word)
		}
		if goes := c.full != "" || c.leaving || c.going != ""; goes && word.Slots != 0 || !goes && word.Slots != c.slots {
			t.Errorf("%s: it may use %d slots", name, word.Slots)
		}
	}
}

// shared is a host of one slot with several overlays of different weights that all have
// work; the one that has the slot runs a task.
type shared struct {
	*host
	members []*Member
	weights map[*Member]float64
	had     map[*Member]time.Duration
}

func (s *shared) Weight(m *Member) float64 { return s.weights[m] }

func (s *shared) Guests(each func(*Member)) {
	for _, m := range s.members {
		for range m.told.Slots {
			each(m)
		}
	}
}

func newShared(t testing.TB, weights []float64) *shared {
	h := hosting(t, 0)
	s := &shared{host: h, weights: map[*Member]float64{}, had: map[*Member]time.Duration{}}
	key, self := schedtest.Identity(0)
	h.peer = New(Config{Self: self, Key: key, Scheduler: scheduler.Default(), World: s, Pool: h.peer.cfg.Pool,
		Draw: func() float64 { return .5 }, Unsigned: true}, h.s.now)
	for i, w := range weights {
		manifest, err := overlay.Named(fmt.Sprint("overlay ", i))
		if err != nil {
			t.Fatal(err)
		}
		m := NewMember(h.peer, manifest, nil, scheduler.Default())
		s.members, s.weights[m] = append(s.members, m), w
		h.at(func() {
			if _, err := m.Restore(func(string) (map[string][]byte, error) { return nil, nil },
				schedtest.ScanOf(nil)); err != nil {
				t.Fatal(err)
			}
			h.peer.Enter(m)
		})
	}
	h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 1}})
	return s
}

// Where there are more overlays with work than slots, each has them in turn, for times
// that go by their weights: after hours every share is within a turn of its due.
func TestTurnsAreJust(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var weights []float64
		sum, least := 0.0, math.Inf(1)
		for _, w := range rapid.SliceOfN(rapid.IntRange(1, 5), 2, 4).Draw(rt, "weights") {
			weights = append(weights, float64(w))
			sum, least = sum+float64(w), min(least, float64(w))
		}
		s := newShared(t, weights)
		const tick = time.Second
		const long = time.Hour
		for range long / tick {
			for _, m := range s.members {
				m.busy = s.s.now.Add(DemandFor)
				s.had[m] += time.Duration(m.told.Slots) * tick
			}
			s.s.now = s.s.now.Add(tick)
			s.pending = append(s.pending[:0], s.peer.Settle(s.s.now)...)
			slots := 0
			for _, m := range s.members {
				slots += m.told.Slots
			}
			if slots != 1 {
				rt.Fatalf("%d slots are given of one", slots)
			}
		}
		for i, m := range s.members {
			due := weights[i] / sum * long.Seconds()
			turn := 2 * TurnTime.Seconds() * weights[i] / least
			if had := s.had[m].Seconds(); math.Abs(had-due) > turn {
				rt.Errorf("of weights %v the overlay %d had %.0f s of %v, its due is %.0f", weights, i, had, long, due)
			}
		}
	})
}

// What is asked of the network rests on nothing durable; what machines want done does.
func TestAsks(t *testing.T) {
	for _, c := range []struct {
		effect Effect
		want   bool
	}{
		{Probe{}, true}, {ProbeVia{}, true}, {Ping{}, true}, {Cut{}, true}, {FetchRules{}, true},
		{LeadershipChanged{}, true}, {Notice{}, true}, {&Do{}, false}, {Gossip{}, false}, {SayLease{}, false},
	} {
		if got := Asks(c.effect); got != c.want {
			t.Errorf("%T rests on nothing durable: %v", c.effect, got)
		}
	}
}

// A step's effects come as one Do, in the machine's order; a step without any comes as
// none.
func TestEffectsOfAStep(t *testing.T) {
	h := hosting(t, 0)
	steps := 0
	for _, e := range h.pending {
		do, ok := e.(*Do)
		if !ok {
			continue
		}
		if steps++; len(do.Effects) == 0 || do.Of != h.m {
			t.Errorf("a Do of %d effects", len(do.Effects))
		}
	}
	h.pending = nil
	a, b := message.Persist{Key: "w/a"}, message.Persist{Key: "w/b"}
	h.at(func() {
		h.m.do(h.m.worker, []message.Effect{a, b})
		h.m.do(h.m.worker, nil)
	})
	if len(h.pending) != 1 {
		t.Fatalf("%d effects of one step, and of one without any", len(h.pending))
	}
	do, ok := h.pending[0].(*Do)
	if !ok || do.From != Machine(h.m.worker) || fmt.Sprint(do.Effects) != fmt.Sprint([]message.Effect{a, b}) {
		t.Errorf("got %+v", h.pending[0])
	}
}
