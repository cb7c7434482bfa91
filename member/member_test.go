package member

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// One of them leads, all know it, and the group has copies.
func TestOneLeads(t *testing.T) {
	s := newSwarm(t, 5)
	s.start()
	if !s.pass(time.Minute, func() bool {
		l := s.leader()
		return l != nil && len(l.m.Group()) == overlay.GroupSize
	}) {
		t.Fatal("no leader with a group after a minute")
	}
	l := s.leader()
	for _, h := range s.hosts {
		if got := h.m.Leader().Leader; got != l.id {
			t.Errorf("host %d takes %s for the leader, it is host %d", h.n, got, l.n)
		}
		if n := len(h.m.View().Members()); n != 5 {
			t.Errorf("host %d knows %d members", h.n, n)
		}
		if (h.m.Coordinator() == nil) == (h.m.Replica() == nil) {
			t.Errorf("host %d has a coordinator or a replica, never both", h.n)
		}
	}
}

// A member that hears of nobody leads when it may, and not before.
func TestFoundsWhenAlone(t *testing.T) {
	s := newSwarm(t, 1)
	h := s.hosts[0]
	h.boot()
	h.at(func() { h.m.FoundAt(s.now.Add(time.Second)) })
	if s.pass(900*time.Millisecond, h.leads) {
		t.Error("it leads before its time")
	}
	if !s.pass(time.Second, h.leads) {
		t.Error("it does not lead though nobody else is there")
	}
	var said LeadershipChanged
	for _, e := range h.asked {
		if e, ok := e.(LeadershipChanged); ok {
			said = e
		}
	}
	if said.Epoch == 0 || !said.Takeover || said.Of != h.m {
		t.Errorf("the driver was told %+v", said)
	}
}

// A job is done whoever leads, though leaders end without a word, one after another.
func TestJobOutlivesLeaders(t *testing.T) {
	s := newSwarm(t, 5)
	s.start()
	if !s.pass(time.Minute, func() bool { return s.leader() != nil }) {
		t.Fatal("no leader")
	}
	owner := s.hosts[4]
	if owner == s.leader() {
		owner = s.hosts[3]
	}
	id := owner.submit(60)
	for kill := range 2 {
		if !s.pass(time.Minute, func() bool { return owner.held(id) > uint64(5+10*kill) }) {
			t.Fatalf("%d results after a minute", owner.held(id))
		}
		l := s.leader()
		if l == nil || l == owner {
			continue
		}
		l.crash()
		if !s.pass(time.Minute, func() bool { n := s.leader(); return n != nil && n != l }) {
			t.Fatalf("nobody took over from host %d: %v", l.n, s.story)
		}
	}
	if !s.pass(5*time.Minute, func() bool { return owner.held(id) == 60 }) {
		t.Errorf("%d of 60 results: %v", owner.held(id), s.story)
	}
	if n := owner.results(id); n != 60 {
		t.Errorf("%d of 60 results are durable", n)
	}
}

// Whoever says goodbye while it leads has handed over before it is gone.
func TestGoodbye(t *testing.T) {
	s := newSwarm(t, 4)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) > 1 }) {
		t.Fatal("no leader with a group")
	}
	l := s.leader()
	l.at(l.peer.Leave)
	l.at(l.m.Depart)
	if told := l.m.Told(); told.State != overlay.Leaving || told.Slots != 0 {
		t.Errorf("the worker heard %+v", told)
	}
	l.at(l.m.Goodbye)
	if s.settle(); l.leads() {
		t.Error("it leads on though another is there at once")
	}
	if !s.pass(GoodbyeTime, func() bool { return l.peer.HasLeft(s.now, false) && !l.leads() }) {
		t.Errorf("after %v it has left: %v, it leads: %v", GoodbyeTime, l.peer.HasLeft(s.now, false), l.leads())
	}
	l.at(l.m.SayGone)
	s.settle()
	if !l.m.IsOut() || l.m.Advertised().State != overlay.Unavailable {
		t.Error("it has not said that it is gone")
	}
	l.crash()
	if !s.pass(10*time.Second, func() bool { n := s.leader(); return n != nil && n != l }) {
		t.Error("nobody leads after it")
	}
	for _, h := range s.hosts {
		if _, there := h.m.View().Member(l.id); h.up && there {
			t.Errorf("host %d still has it among the members", h.n)
		}
	}
}

// A peer with guests on their way stays longer, but not for ever.
func TestGoodbyeWaits(t *testing.T) {
	s := newSwarm(t, 1)
	h := s.hosts[0]
	h.boot()
	h.at(h.peer.Leave)
	for _, c := range []struct {
		after  time.Duration
		leaves bool
		want   bool
	}{
		{0, false, false}, // its goodbye is still to be sent
		{goodbyeLinger, true, true},
		{GoodbyeTime - time.Millisecond, true, true},
		{GoodbyeTime, true, true},
		{GoodbyeMost, true, true},
	} {
		if got := h.peer.HasLeft(s.now.Add(c.after), c.leaves); got != c.want {
			t.Errorf("after %v, guests on their way: %v: it may go: %v", c.after, c.leaves, got)
		}
	}
	h.running[message.AttemptName{}] = s.now
	if at, ok := h.peer.NextWake(true); !ok || at.After(s.now.Add(GoodbyeMost)) {
		t.Errorf("it looks again at %v", at)
	}
}

// A restart leads in a later epoch than any before, with what was durable.
func TestRestart(t *testing.T) {
	s := newSwarm(t, 1)
	s.start()
	h := s.hosts[0]
	if !s.pass(time.Minute, h.leads) {
		t.Fatal("no leader")
	}
	id := h.submit(4)
	if !s.pass(time.Minute, func() bool { return h.held(id) == 4 }) {
		t.Fatal("the job is not done")
	}
	before := h.m.Leader().Epoch
	h.crash()
	h.boot()
	if h.held(id) != 4 {
		t.Errorf("%d of 4 results after a restart", h.held(id))
	}
	h.at(h.m.Found)
	if !s.pass(time.Minute, h.leads) || h.m.Leader().Epoch <= before {
		t.Errorf("it leads %v in epoch %d, before it was %d", h.leads(), h.m.Leader().Epoch, before)
	}
}

// What cannot be read is told, and the rest is good.
func TestRestoreDamaged(t *testing.T) {
	s := newSwarm(t, 1)
	h := s.hosts[0]
	for _, key := range []string{LeaseKey, "c/epoch", "w/e/x", "s/j/x"} {
		h.disk[key] = []byte("nonsense")
	}
	h.boot()
	var told []string
	for _, e := range h.pending {
		if e, ok := e.(Notice); ok && e.Level == Error {
			told = append(told, e.Text)
		}
	}
	for _, want := range []string{"last epoch", "submitted jobs", "finished results", "ledger"} {
		if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("nothing is told of the %s: %q", want, told)
		}
	}
	h.at(h.m.Found)
	if !s.pass(time.Minute, h.leads) {
		t.Error("it does not lead")
	}
}

// A leader whose disk is full leaves leading to another and takes nothing.
func TestDiskFull(t *testing.T) {
	s := newSwarm(t, 3)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) > 1 }) {
		t.Fatal("no leader with a group")
	}
	l := s.leader()
	l.at(func() { l.peer.DiskFull("the disk is full") })
	if told := l.m.Told(); told.Slots != 0 || told.Reason != "the disk is full" {
		t.Errorf("its worker heard %+v", told)
	}
	if !s.pass(10*time.Second, func() bool { n := s.leader(); return n != nil && n != l }) {
		t.Error("nobody else leads")
	}
	l.at(l.peer.RoomAgain)
	s.settle()
	if l.m.Told().Slots == 0 {
		t.Error("it takes nothing though there is room")
	}
}

// The owner's word reaches the worker and the members; a share of nothing is told so.
func TestLent(t *testing.T) {
	s := newSwarm(t, 2)
	s.start()
	h, o := s.hosts[0], s.hosts[1]
	s.pass(2*AdvertGap, func() bool { return false })
	h.tell(Lent{State: message.OwnerState{State: overlay.UserPresent, Reason: "the keyboard is in use"}})
	s.pass(2*AdvertGap, func() bool { return false })
	if a, _ := o.m.View().Member(h.id); a.State != overlay.UserPresent || a.Slots != 0 {
		t.Errorf("the other sees %v with %d slots", a.State, a.Slots)
	}
	if h.m.Told().Reason != "the keyboard is in use" {
		t.Errorf("the worker heard %+v", h.m.Told())
	}
	if h.peer.OthersWork() != true || o.peer.OthersWork() != false {
		t.Error("one of them has others that work, the other has not")
	}
	h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 2}, Going: "the machine sleeps soon"})
	if told := h.m.Told(); told.State != overlay.Leaving || told.Reason != "the machine sleeps soon" {
		t.Errorf("what has to go: the worker heard %+v", told)
	}
}

// Adverts are renewed long before they end, and changes follow each other in no less
// than the gap.
func TestAdvertsAreRenewed(t *testing.T) {
	s := newSwarm(t, 2)
	s.start()
	h := s.hosts[0]
	var issued []time.Time
	seen := uint64(0)
	s.pass(2*advertEvery, func() bool {
		if a := h.m.Advertised(); a.Seq != seen {
			seen, issued = a.Seq, append(issued, a.Issued)
		}
		h.withheld = int(s.now.Unix()/60) % 2 * 50 // changes that only the leader is told
		return false
	})
	if len(issued) < 2 || len(issued) > 6 {
		t.Errorf("%d adverts in %v", len(issued), 2*advertEvery)
	}
	for i := 1; i < len(issued); i++ {
		if d := issued[i].Sub(issued[i-1]); d > advertEvery {
			t.Errorf("an advert %v after the one before", d)
		}
	}
	if a, ok := s.hosts[1].m.View().Member(h.id); !ok || !a.Expires.After(s.now) {
		t.Error("the other has forgotten it")
	}
}

// A member that fell silent is probed, lost, and taken in again when it is there.
func TestLostAndFound(t *testing.T) {
	s := newSwarm(t, 3)
	s.start()
	a, b := s.hosts[0], s.hosts[2]
	s.pass(10*time.Second, func() bool { return false })
	b.crash()
	if !s.pass(time.Minute, func() bool { _, there := a.m.View().Member(b.id); return !there }) {
		t.Fatal("it is never lost")
	}
	if len(a.m.Away()) != 1 || !a.peer.Knows(b.id, nil) || a.peer.Knows("stranger", nil) {
		t.Errorf("away are %d; it is known: %v", len(a.m.Away()), a.peer.Knows(b.id, nil))
	}
	asks := 0
	for _, e := range a.asked {
		switch e.(type) {
		case Probe, ProbeVia, Cut:
			asks++
		}
	}
	if asks == 0 {
		t.Error("it was lost without being asked whether it is there")
	}
	b.up = true
	a.tell(Connected{Peer: b.id})
	if _, there := a.m.View().Member(b.id); !there {
		t.Error("it is not taken in again when it is there")
	}
}

// A newer version of the rules is asked for once at a time, and followed.
func TestFollowsRules(t *testing.T) {
	key, founder := schedtest.Identity(0)
	first := overlay.Manifest{Name: "lab", Founder: founder, Founded: schedtest.Start}
	if err := first.Sign(key); err != nil {
		t.Fatal(err)
	}
	s := newSwarm(t, 2)
	s.manifest = first
	s.start()
	h := s.hosts[1]
	next := first.Next()
	next.Coordinators = 1
	if err := next.Sign(key); err != nil {
		t.Fatal(err)
	}
	asks := func() (n int) {
		for _, e := range h.asked {
			if _, ok := e.(FetchRules); ok {
				n++
			}
		}
		return n
	}
	f := s.hosts[0]
	f.at(func() { f.m.Follow(next) })
	s.settle()
	f.at(f.m.Advertise)
	s.settle()
	if asks() != 1 {
		t.Errorf("it asked %d times for one version", asks())
	}
	h.at(h.m.Asked)
	h.at(func() { h.m.Follow(next) })
	if h.m.Manifest().Version != next.Version || h.m.View().Manifest().Version != next.Version {
		t.Errorf("it follows version %d", h.m.Manifest().Version)
	}
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == 1 }) {
		t.Error("the group is not as the rules want it")
	}
}

// Two overlays on one machine divide it by their weights while both have work, and
// one has all that the other does not use.
func TestTwoOverlays(t *testing.T) {
	s := newSwarm(t, 1)
	h := s.hosts[0]
	h.boot()
	manifest, err := overlay.Named("second")
	if err != nil {
		t.Fatal(err)
	}
	other := NewMember(h.peer, manifest, nil, scheduler.Default())
	h.at(func() {
		if _, err := other.Restore(func(string) (map[string][]byte, error) { return nil, nil },
			schedtest.ScanOf(nil)); err != nil {
			t.Fatal(err)
		}
		h.peer.Enter(other)
	})
	h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 6}})
	if a, b := h.m.Told().Slots, other.Told().Slots; a != 6 || b != 6 {
		t.Errorf("without work they are offered %d and %d of 6", a, b)
	}
	for _, m := range []*Member{h.m, other} {
		m.busy = s.now.Add(DemandFor)
	}
	h.at(func() {})
	h.pending = append(h.pending, h.peer.Settle(s.now)...)
	if a, b := h.m.Told().Slots, other.Told().Slots; a != 3 || b != 3 {
		t.Errorf("with work they have %d and %d of 6", a, b)
	}
	h.at(func() { h.peer.Exit(other) })
	h.pending = append(h.pending, h.peer.Settle(s.now)...)
	if h.m.Told().Slots != 6 || h.peer.Member(manifest.ID()) != nil {
		t.Errorf("alone again it has %d of 6", h.m.Told().Slots)
	}
}

// In a closed overlay strangers may not speak; in an open one anybody may.
func TestAdmits(t *testing.T) {
	_, founder := schedtest.Identity(0)
	_, stranger := schedtest.Identity(7)
	for _, c := range []struct {
		admission overlay.Admission
		want      bool
	}{{overlay.Open, true}, {overlay.Invited, false}, {overlay.Listed, false}} {
		p := New(Config{Self: founder, World: (*host)(nil), Pool: &predictor.Pool{}}, schedtest.Start)
		m := NewMember(p, overlay.Manifest{Name: "x", Founder: founder, Admission: c.admission}, nil, scheduler.Default())
		if got := m.Admits(stranger); got != c.want {
			t.Errorf("%v: a stranger may speak: %v", c.admission, got)
		}
	}
}

// An answer for a machine that has given its place to another is dropped.
func TestStaleAnswers(t *testing.T) {
	s := newSwarm(t, 1)
	s.start()
	h := s.hosts[0]
	replica := Machine(h.m.Replica())
	if h.m.Coordinator() != nil {
		replica = scheduler.NewReplica(h.id, scheduler.Default())
	}
	s.pass(time.Minute, h.leads)
	if h.m.Has(replica) {
		t.Fatal("a replica of before is still the member's")
	}
	h.pending = nil
	h.tell(Answered{Of: h.m, To: replica, Event: message.Fetched{Key: "c/x"}})
	if len(h.pending) != 0 {
		t.Errorf("the answer had %d effects", len(h.pending))
	}
}

// Looks that are left out change nothing: with and without them the same peers lead at
// the same times, and jobs end at the same time, whatever happens.
func TestLazyIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type mishap struct {
			after time.Duration
			host  int
			kind  string
		}
		hosts := rapid.IntRange(2, 6).Draw(rt, "hosts")
		mishaps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) mishap {
			return mishap{
				time.Duration(rapid.IntRange(1, 80).Draw(rt, "after")) * 100 * time.Millisecond,
				rapid.IntRange(0, hosts-1).Draw(rt, "host"),
				rapid.SampledFrom([]string{"crash", "boot", "owner", "back"}).Draw(rt, "kind"),
			}
		}), 0, 6).Draw(rt, "mishaps")
		run := func(lazy bool) string {
			s := newSwarm(t, hosts)
			s.lazy = lazy
			s.start()
			s.pass(5*time.Second, func() bool { return false })
			id := task.JobID("")
			if h := s.hosts[hosts-1]; h.up {
				id = h.submit(10)
			}
			for _, m := range mishaps {
				s.pass(m.after, func() bool { return false })
				h := s.hosts[m.host]
				switch {
				case m.kind == "crash" && h.up && m.host != hosts-1:
					h.crash()
				case m.kind == "boot" && !h.up:
					h.boot()
				case m.kind == "owner" && h.up:
					h.tell(Lent{State: message.OwnerState{State: overlay.UserPresent, Reason: "busy"}})
				case m.kind == "back" && h.up:
					h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 2}})
				}
			}
			s.pass(20*time.Second, func() bool { return false })
			return fmt.Sprint(s.story, " ", s.hosts[hosts-1].held(id))
		}
		if eager, lazy := run(false), run(true); eager != lazy {
			rt.Fatalf("looking at all times: %s\nlooking where it matters: %s", eager, lazy)
		}
	})
}
