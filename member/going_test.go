package member

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// hosting boots a host alone that runs so many guests, lent until a known end.
func hosting(tb testing.TB, guests int) *host {
	tb.Helper()
	s := newSwarm(tb, 1)
	h := s.hosts[0]
	h.boot()
	for i := range guests {
		h.running[message.AttemptName{Attempt: message.Attempt{Seq: uint64(i + 1)}}] = s.now.Add(24 * time.Hour)
	}
	return h
}

func (h *host) lend(until time.Time, ends string) {
	state := message.OwnerState{State: overlay.Available, Slots: 2, Memory: 1 << 32, Until: until}
	h.tell(Lent{State: state, Ends: ends})
}

// What runs leaves as long before a known end as it takes, within bounds, and not before.
func TestDeparts(t *testing.T) {
	const hours = "the hours to work in end"
	for name, c := range map[string]struct {
		guests int
		ends   string
		leave  time.Duration
		want   time.Duration // before the end; 0 for never
	}{
		"a small state":       {1, hours, time.Second, aheadLeast},
		"none to speak of":    {1, hours, 0, aheadLeast},
		"a large one":         {1, hours, time.Minute, time.Minute},
		"several":             {2, hours, time.Minute, time.Minute},
		"one too large":       {1, hours, time.Hour, aheadMost},
		"nothing runs":        {0, hours, time.Minute, 0},
		"the end is no end":   {1, "", time.Minute, 0},
		"an hour is at hand":  {1, hours, aheadMost, aheadMost},
		"as long as is least": {1, hours, aheadLeast, aheadLeast},
	} {
		h := hosting(t, c.guests)
		h.leaveTime = c.leave
		until := h.s.now.Add(time.Hour)
		h.lend(until, c.ends)
		due := until.Add(-c.want)
		h.s.now = due.Add(-time.Millisecond)
		h.tell(Wake{})
		if told := h.m.Told(); told.State != overlay.Available {
			t.Errorf("%s: it leaves too early: %+v", name, told)
		}
		at, _ := h.peer.NextWake(false)
		if c.want > 0 && at.After(due) {
			t.Errorf("%s: it wakes at %v, due is %v", name, at, due)
		}
		h.s.now = due
		h.tell(Wake{})
		told := h.m.Told()
		if leaves := told.State == overlay.Leaving; leaves != (c.want > 0) {
			t.Errorf("%s: %v before the end the worker heard %+v", name, c.want, told)
		}
		if c.want > 0 && (!strings.HasPrefix(told.Reason, hours+" at ") || !told.Until.Equal(until) || told.Slots != 0) {
			t.Errorf("%s: the worker heard %+v", name, told)
		}
	}
}

// Once it has begun to leave, only an owner who thinks otherwise stops it.
func TestDepartureIsTakenBack(t *testing.T) {
	const hours = "the hours to work in end"
	for name, c := range map[string]struct {
		again  Lent
		leaves bool
	}{
		"the same word":  {Lent{Ends: hours, State: message.OwnerState{State: overlay.Available, Slots: 2}}, true},
		"sooner still":   {Lent{Ends: hours, State: message.OwnerState{State: overlay.Available, Slots: 1}}, true},
		"later":          {Lent{Ends: hours, State: message.OwnerState{State: overlay.Available, Slots: 2}}, false},
		"no end at all":  {Lent{Ends: hours, State: message.OwnerState{State: overlay.Available, Slots: 2}}, false},
		"nothing ends":   {Lent{State: message.OwnerState{State: overlay.Available, Slots: 2}}, false},
		"the owner came": {Lent{Ends: hours, State: message.OwnerState{State: overlay.UserPresent}}, false},
	} {
		h := hosting(t, 1)
		until := h.s.now.Add(aheadLeast)
		h.lend(until, hours)
		if h.m.Told().State != overlay.Leaving {
			t.Fatalf("%s: it does not leave", name)
		}
		c.again.State.Until = map[string]time.Time{"sooner still": until.Add(-time.Second), "later": until.Add(time.Hour),
			"no end at all": {}}[name]
		if c.again.State.Until.IsZero() && name != "no end at all" {
			c.again.State.Until = until
		}
		h.tell(c.again)
		if got := h.m.Told().State == overlay.Leaving; got != c.leaves {
			t.Errorf("%s: it leaves: %v; the worker heard %+v", name, got, h.m.Told())
		}
	}
}

// What has to go for another reason says that reason, and a goodbye before both.
func TestReasonsToGo(t *testing.T) {
	h := hosting(t, 1)
	until := h.s.now.Add(aheadLeast)
	h.tell(Lent{Ends: "the hours end", Going: "the grace has passed", State: message.OwnerState{
		State: overlay.Available, Slots: 2, Until: until}})
	if told := h.m.Told(); told.State != overlay.Leaving || told.Reason != "the grace has passed" {
		t.Errorf("the worker heard %+v", told)
	}
	h.at(h.peer.Leave)
	h.at(h.m.Depart)
	if told := h.m.Told(); told.Reason != "the member is leaving" {
		t.Errorf("after a goodbye the worker heard %+v", told)
	}
}

// Whatever the owner says and whenever the peer wakes, its worker takes nothing within
// the least notice of an end that is known while something runs, and the peer never
// sleeps beyond that.
func TestDepartureProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := hosting(t, 1)
		h.leaveTime = time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "leaving takes"))
		var until time.Time
		ends := ""
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			h.s.now = h.s.now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Minute)).Draw(rt, "pause")))
			if rapid.Bool().Draw(rt, "the owner says something") {
				until, ends = h.s.now.Add(time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "until"))), ""
				if rapid.Bool().Draw(rt, "it ends") {
					ends = "the hours end"
				}
				h.lend(until, ends)
			} else {
				h.tell(Wake{})
			}
			told := h.m.Told()
			near := ends != "" && !h.s.now.Before(until.Add(-aheadLeast))
			far := ends == "" || h.s.now.Before(until.Add(-aheadMost))
			if near && told.State != overlay.Leaving {
				rt.Fatalf("%v before the end the worker heard %+v", until.Sub(h.s.now), told)
			}
			if ends == "" && told.State == overlay.Leaving {
				rt.Fatalf("nothing ends, and the worker heard %+v", told)
			}
			if at, ok := h.peer.NextWake(false); ends != "" && far && (!ok || at.After(until.Add(-aheadLeast))) {
				rt.Fatalf("it sleeps until %v, the end is at %v", at, until)
			}
		}
	})
}
