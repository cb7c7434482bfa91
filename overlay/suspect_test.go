package overlay

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"godwit/task"
)

// TestSuspicionScript runs testdata/suspect.txt: what the judgement of member
// "me" asks for and believes. Each command prints the effects, with the time in
// seconds.
//
//	connected P | advert P | broke P | answered P | refused P | silent P
//	there P VIA | away P VIA | helpers P... | forget P | strained N | beliefs
//	run SECONDS (ticks as Next says) | stand SECONDS (time passes, nothing runs)
func TestSuspicionScript(t *testing.T) {
	s, now := NewSuspicion("me"), epoch
	datadriven.RunTest(t, "testdata/suspect.txt", func(t *testing.T, d *datadriven.TestData) string {
		arg := func(i int) task.PeerID { return task.PeerID(d.CmdArgs[i].Key) }
		seconds := func() time.Duration {
			v, err := time.ParseDuration(string(arg(0)) + "s")
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return v
		}
		var out strings.Builder
		write := func(effects []SuspicionEffect) {
			for _, e := range effects {
				fmt.Fprintf(&out, "%7.3f %s\n", now.Sub(epoch).Seconds(), tell(e))
			}
		}
		switch d.Cmd {
		case "connected":
			write(s.Connected(arg(0), now))
		case "advert":
			write(s.Advertised(arg(0), now))
		case "broke":
			write(s.Broke(arg(0), "its connection broke", now))
		case "answered":
			write(s.Answered(arg(0), now))
		case "refused", "silent":
			write(s.Failed(arg(0), d.Cmd == "refused", now))
		case "there", "away":
			write(s.Relayed(arg(0), arg(1), d.Cmd == "there", now))
		case "helpers":
			var peers []task.PeerID
			for i := range d.CmdArgs {
				peers = append(peers, arg(i))
			}
			s.Helpers(peers)
		case "forget":
			s.Forget(arg(0))
		case "strained":
			var n int
			fmt.Sscan(string(arg(0)), &n)
			s.Strained(n)
		case "stand":
			now = now.Add(seconds())
		case "run":
			end := now.Add(seconds())
			for next, ok := s.Next(); ok && next.Before(end); next, ok = s.Next() {
				if next.After(now) {
					now = next
				}
				write(s.Tick(now))
			}
			now = end
		case "beliefs":
			for _, b := range s.Beliefs() {
				fmt.Fprintf(&out, "%s %v since %v (%s)\n", b.Peer, b.State, b.Since.Sub(epoch), b.By)
			}
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		return out.String()
	})
}

func tell(e SuspicionEffect) string {
	switch e := e.(type) {
	case Probe:
		return fmt.Sprintf("probe %s for %v", e.Peer, e.Wait)
	case AskVia:
		return fmt.Sprintf("ask %v for %s within %v", e.Via, e.Peer, e.Wait)
	case Alive:
		return fmt.Sprintf("%s is there: %s", e.Peer, e.By)
	case DeclareLost:
		return fmt.Sprintf("%s is lost: %s", e.Peer, e.Reason)
	}
	return "?"
}

// A suspectSim is a network around one judge: members that answer or do not, a
// driver that probes them, and a judge whose process stands still at times.
type suspectSim struct {
	now    time.Time
	s      *Suspicion
	queue  []simEvent
	asleep time.Time // the judge's process stands still until
	answer map[task.PeerID]bool
	vouch  map[task.PeerID]string // what a helper says: "true", "lie", "nothing"
	delay  time.Duration
	lost   []task.PeerID
	log    strings.Builder
	broken []string
	open   map[task.PeerID]bool // probes under way
	probed map[task.PeerID]time.Time
}

func (m *suspectSim) after(d time.Duration, do func()) {
	e := simEvent{m.now.Add(d), do}
	i := len(m.queue)
	for i > 0 && m.queue[i-1].at.After(e.at) {
		i--
	}
	m.queue = slices.Insert(m.queue, i, e)
}

// run lets d pass. While the judge stands still, what happens to it waits; what
// its driver's timers say comes before what the network brought.
func (m *suspectSim) run(d time.Duration) {
	end := m.now.Add(d)
	for {
		at, tick := end, false
		if next, ok := m.s.Next(); ok && next.Before(at) {
			at, tick = next, true
		}
		if len(m.queue) > 0 && !m.queue[0].at.After(at) {
			at, tick = m.queue[0].at, false
		}
		if at.Before(m.asleep) {
			at = m.asleep
		}
		if !at.Before(end) {
			m.now = end
			return
		}
		if at.After(m.now) {
			m.now = at
		}
		if tick {
			m.carry(m.s.Tick(m.now))
			continue
		}
		e := m.queue[0]
		m.queue = m.queue[1:]
		e.do()
	}
}

// carry is the driver.
func (m *suspectSim) carry(effects []SuspicionEffect) {
	for _, e := range effects {
		fmt.Fprintf(&m.log, "%7.3f %s\n", m.now.Sub(epoch).Seconds(), tell(e))
		switch e := e.(type) {
		case Probe:
			m.probe(e)
		case AskVia:
			m.ask(e)
		case DeclareLost:
			m.lost = append(m.lost, e.Peer)
			if !e.Probed.Equal(m.probed[e.Peer]) {
				m.broken = append(m.broken, fmt.Sprintf("%s, last probed at %v, is lost by a probe at %v", e.Peer,
					m.probed[e.Peer], e.Probed))
			}
		}
	}
}

func (m *suspectSim) probe(e Probe) {
	if e.Wait < ProbeWait || e.Wait > MaxProbeWait {
		m.broken = append(m.broken, fmt.Sprintf("a probe of %v", e.Wait))
	}
	if m.open[e.Peer] {
		m.broken = append(m.broken, "two probes of "+string(e.Peer))
	}
	m.open[e.Peer], m.probed[e.Peer] = true, m.now
	done := false
	end := func(report func() []SuspicionEffect) func() {
		return func() {
			if !done {
				done = true
				m.open[e.Peer] = false
				m.carry(report())
			}
		}
	}
	m.after(e.Wait, end(func() []SuspicionEffect { return m.s.Failed(e.Peer, false, m.now) }))
	if m.answer[e.Peer] {
		m.after(min(m.delay, e.Wait-1), end(func() []SuspicionEffect { return m.s.Answered(e.Peer, m.now) }))
	}
}

func (m *suspectSim) ask(e AskVia) {
	if len(e.Via) == 0 || len(e.Via) > maxVia || slices.Contains(e.Via, e.Peer) || slices.Contains(e.Via, "me") {
		m.broken = append(m.broken, fmt.Sprintf("asks %v about %s", e.Via, e.Peer))
	}
	for _, via := range e.Via {
		there := m.answer[e.Peer]
		switch m.vouch[via] {
		case "nothing":
			continue
		case "lie":
			there = !there
		}
		m.after(min(m.delay, IndirectWait/2), func() { m.carry(m.s.Relayed(e.Peer, via, there, m.now)) })
	}
}

var judged = []task.PeerID{"a", "b", "c", "d"}

func drawSuspectSim(t *rapid.T, kinds ...string) *suspectSim {
	m := &suspectSim{
		now: epoch, s: NewSuspicion("me"), answer: map[task.PeerID]bool{}, vouch: map[task.PeerID]string{},
		open: map[task.PeerID]bool{}, probed: map[task.PeerID]time.Time{},
		delay: time.Duration(rapid.IntRange(0, 1500).Draw(t, "delay")) * time.Millisecond,
	}
	for _, p := range judged {
		m.vouch[p] = rapid.SampledFrom(kinds).Draw(t, "helper "+string(p))
		m.carry(m.s.Connected(p, m.now))
	}
	m.s.Helpers(rapid.SampledFrom([][]task.PeerID{nil, {"a"}, judged,
		append([]task.PeerID{"me", "x"}, judged...)}).Draw(t, "helpers"))
	return m
}

// TestNeverLostWhileItAnswers: whatever connections break, whoever lies, and
// though the judge's own process stands still at times, a member that answers a
// probe in time is not lost.
func TestNeverLostWhileItAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawSuspectSim(t, "true", "lie", "nothing")
		for _, p := range judged {
			m.answer[p] = true
		}
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			p := rapid.SampledFrom(judged).Draw(t, "who")
			m.carry(m.s.Broke(p, "its connection broke", m.now))
			m.s.Strained(rapid.IntRange(-1, 9).Draw(t, "strain"))
			m.s.Lagged(time.Duration(rapid.IntRange(-1, 2000).Draw(t, "lag")) * time.Millisecond)
			for range rapid.IntRange(0, maxDelays).Draw(t, "pauses") {
				m.run(time.Duration(rapid.IntRange(0, 2000).Draw(t, "before")) * time.Millisecond)
				m.asleep = m.now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "pause")) * time.Millisecond)
				m.run(m.asleep.Sub(m.now) + time.Millisecond)
			}
			m.run(time.Duration(rapid.IntRange(0, 30_000).Draw(t, "rest")) * time.Millisecond)
			if len(m.lost) > 0 || len(m.broken) > 0 {
				t.Fatalf("lost %v; %v\n%s", m.lost, m.broken, &m.log)
			}
			m.run(time.Minute) // and the next suspicion is another
		}
		if next, ok := m.s.Next(); ok {
			t.Fatalf("something is under way until %v\n%s", next, &m.log)
		}
	})
}

// TestSilentIsLost: a member that does not answer is lost within a bound even if
// all others lie; and in three seconds, when they do not and this process runs.
func TestSilentIsLost(t *testing.T) {
	const most = (maxTold+1)*(MaxProbeWait+driverGrace) + maxTold*(IndirectWait+askAgain) + IndirectWait
	rapid.Check(t, func(t *rapid.T) {
		m := drawSuspectSim(t, "true", "lie", "nothing")
		p := rapid.SampledFrom(judged).Draw(t, "who")
		m.carry(m.s.Broke(p, "its connection broke", m.now))
		usual := !slices.ContainsFunc(judged, func(q task.PeerID) bool { return m.vouch[q] == "lie" })
		if usual {
			m.run(ProbeWait + IndirectWait + time.Millisecond)
		} else {
			m.run(most)
		}
		if !slices.Equal(m.lost, []task.PeerID{p}) || len(m.broken) > 0 {
			t.Fatalf("lost %v, want %s; %v\n%s", m.lost, p, m.broken, &m.log)
		}
		if w := m.s.members[p]; w.phase != resting && w.phase != looking && w.phase != quiet {
			t.Fatal("something is under way still")
		}
		for _, b := range m.s.Beliefs() {
			if (b.State == Lost) != (b.Peer == p) {
				t.Fatalf("believes %+v", b)
			}
		}
	})
}

// TestSuspicionIsBounded: however many members come and are lost, a bounded
// number is remembered, the ones that are there before those that are lost.
func TestSuspicionIsBounded(t *testing.T) {
	s := NewSuspicion("me")
	name := func(i int) task.PeerID { return task.PeerID(fmt.Sprintf("peer %6d", i)) }
	const there = 10
	for i := range there {
		s.Connected(name(i), epoch)
	}
	for i := there; i < 2*MaxBeliefs; i++ {
		s.Broke(name(i), "its connection broke", epoch)
		s.Failed(name(i), true, epoch.Add(time.Duration(i)))
	}
	beliefs := s.Beliefs()
	if len(beliefs) > MaxBeliefs || len(beliefs) < MaxBeliefs*3/4 {
		t.Errorf("%d members are remembered, want almost %d", len(beliefs), MaxBeliefs)
	}
	if last := beliefs[len(beliefs)-1]; last.Peer != name(2*MaxBeliefs-1) || last.State != Lost {
		t.Errorf("the last one remembered is %+v", last)
	}
	if !slices.IsSortedFunc(beliefs, func(a, b Belief) int { return strings.Compare(string(a.Peer), string(b.Peer)) }) {
		t.Error("beliefs are not sorted")
	}
	for i := range there {
		if beliefs[i].Peer != name(i) || beliefs[i].State != There {
			t.Errorf("%+v, want one that is there", beliefs[i])
		}
	}
	s.Connected("me", epoch)
	s.Broke("me", "its connection broke", epoch)
	if got := len(s.Beliefs()); got != len(beliefs) {
		t.Errorf("this node believes in itself: %d", got)
	}
	// A table full of members that are there takes no more.
	s = NewSuspicion("me")
	for i := range MaxBeliefs {
		s.Connected(name(i), epoch)
	}
	if e := s.Broke("late", "its connection broke", epoch); len(e) > 0 || len(s.Beliefs()) != MaxBeliefs {
		t.Errorf("took in one more: %v", e)
	}
}

// TestSuspicionRepeats: the same events have the same effects in the same order.
func TestSuspicionRepeats(t *testing.T) {
	run := func() []SuspicionEffect {
		s := NewSuspicion("me")
		s.Helpers([]task.PeerID{"x", "y", "z", "v", "w"})
		var out []SuspicionEffect
		for i := range 40 {
			s.Connected(task.PeerID(fmt.Sprint(i)), epoch)
			out = append(out, s.Broke(task.PeerID(fmt.Sprint(i)), "its connection broke", epoch)...)
		}
		for now := epoch; now.Before(epoch.Add(time.Minute)); now = now.Add(time.Second) {
			out = append(out, s.Tick(now)...)
		}
		return out
	}
	if one, two := run(), run(); !reflect.DeepEqual(one, two) || len(one) != 4*40 { // the last looks for it again
		t.Errorf("%d and %d effects, want 160 each and the same", len(one), len(two))
	}
}
