package overlay

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// follower is a member that stands by a leader that has just renewed.
func follower() (l *Lease, lead Renewal) {
	l = NewLease("b", 0, epoch)
	lead = Renewal{NextEpoch(0, "a"), []task.PeerID{"a", "b"}}
	l.Heard("a", lead, epoch)
	return l, lead
}

// TestSilenceOfALaggard: however late a member's process is each time, it takes over only after as
// long a silence as a lease, and the time in which it did not run itself is none of it. And it does
// take over: within what its patience may come to.
func TestSilenceOfALaggard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, lead := follower()
		now, heard, out := epoch, epoch, time.Duration(0)
		lateness := rapid.IntRange(0, 990)
		for range rapid.IntRange(0, 20).Draw(t, "renewals") {
			late := time.Duration(lateness.Draw(t, "late")) * time.Millisecond
			now = now.Add(RenewEvery + late)
			l.Tick(now)
			if l.Leads() {
				t.Fatalf("took over from a leader that was heard %v ago", now.Sub(heard))
			}
			l.Heard("a", lead, now)
			heard = now
		}
		for !l.Leads() {
			at := l.Next()
			late := time.Duration(lateness.Draw(t, "late in silence")) * time.Millisecond
			if by := at.Add(late).Sub(now.Add(RenewEvery)); by > lagSlack {
				out += by
			}
			now = at.Add(late)
			l.Tick(now)
			if silence := now.Sub(heard); silence > LeaseTime+maxStrain*RenewEvery+out+3*RenewEvery {
				t.Fatalf("after %v, of which it was out for %v, it waits still", silence, out)
			}
		}
		if silence := now.Sub(heard) - out; silence < LeaseTime {
			t.Errorf("took over after a silence of %v", silence)
		}
	})
}

// TestLag: the lag is that of a process that is late each time, not of one that stood still once; it
// fades; and renewals get longer while it lasts, but less than a lease.
func TestLag(t *testing.T) {
	l, _ := follower()
	now := epoch
	tick := func(late time.Duration) { now = now.Add(RenewEvery + late); l.Tick(now) }
	for _, c := range []struct{ late, lag, wait time.Duration }{
		{lagSlack, 0, RenewEvery},
		{time.Hour, 0, RenewEvery},
		{300 * time.Millisecond, 300 * time.Millisecond, 2800 * time.Millisecond},
		{900 * time.Millisecond, 900 * time.Millisecond, LeaseTime - RenewEvery/4},
	} {
		if tick(c.late); l.Lag() != c.lag || l.RenewWait() != c.wait {
			t.Errorf("late by %v: a lag of %v and %v for a renewal, want %v and %v", c.late, l.Lag(), l.RenewWait(), c.lag,
				c.wait)
		}
	}
	if l.RenewWait() >= LeaseTime {
		t.Errorf("a renewal may take %v, as long as a lease", l.RenewWait())
	}
	for range 8 * lagFades {
		tick(0)
	}
	if l.Lag() != 0 {
		t.Errorf("a lag of %v after a calm", l.Lag())
	}
}

// TestLagIsNoExcuse: a member that was lost for good is, whatever the lag of who judges: its probe has
// no more than MaxProbeWait.
func TestLagIsNoExcuse(t *testing.T) {
	for _, c := range []struct{ lag, probe, ask time.Duration }{
		{0, ProbeWait, IndirectWait},
		{300 * time.Millisecond, 3800 * time.Millisecond, 2800 * time.Millisecond},
		{time.Hour, MaxProbeWait, MaxProbeWait},
		{-time.Hour, ProbeWait, IndirectWait},
	} {
		s := NewSuspicion("me")
		s.Connected("p", epoch)
		s.Connected("h", epoch)
		s.Helpers([]task.PeerID{"h"})
		s.Lagged(c.lag)
		probe, ok := s.Broke("p", "its connection broke", epoch)[0].(Probe)
		if !ok || probe.Wait != c.probe {
			t.Errorf("lag %v: a probe has %v, want %v", c.lag, probe.Wait, c.probe)
		}
		now := epoch.Add(c.probe)
		ask, ok := s.Failed("p", false, now)[0].(AskVia)
		if !ok || ask.Wait != c.ask {
			t.Errorf("lag %v: others have %v, want %v", c.lag, ask.Wait, c.ask)
		}
		if _, lost := s.Tick(now.Add(c.ask))[0].(DeclareLost); !lost {
			t.Errorf("lag %v: it is not lost after %v", c.lag, c.probe+c.ask)
		}
	}
}
