package node

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/owner"
)

// sample counts what runs where, so many times, a second apart, and fails when a
// node runs more than its slots.
func (s *swarm) sample(times int) map[overlay.ID]int {
	s.t.Helper()
	sum := map[overlay.ID]int{}
	for range times {
		time.Sleep(time.Second)
		for _, p := range s.peers {
			here := 0
			for id, n := range p.runningIn() {
				sum[id] += n
				here += n
			}
			if here > p.cfg.Cores {
				s.t.Errorf("%s runs %d tasks on %d cores", shortPeer(p.ID()), here, p.cfg.Cores)
			}
		}
	}
	return sum
}

// startPools runs n nodes of so many cores in the open pool and in "lab".
func startPools(t *testing.T, n, cores int) (*swarm, overlay.ID) {
	t.Helper()
	s := newSwarm(t, n)
	for i, p := range s.peers {
		p.cfg.Cores = cores
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		p.start()
	}
	s.gather(s.peers...)
	lab := s.peers[0].found(OverlayRules{Name: "lab"})
	for _, p := range s.peers[1:] {
		p.join(string(lab))
	}
	s.gatherIn(lab, s.peers...)
	return s, lab
}

// Two overlays with work share the machines as their owners say; one alone has
// them whole.
func TestTwoOverlaysShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := startPools(t, 3, 3)
		for _, p := range s.peers {
			p.onLoop(t, func() {
				p.reweigh([]owner.Share{{Overlay: DefaultOverlay, Weight: 2}, {Overlay: string(lab), Weight: 1}})
			})
		}
		if got := s.peers[2].in(lab).Share; got != 1 {
			t.Errorf("a share of %v, want 1", got)
		}
		p := s.peers[1]
		first, second := p.submitTo(lab, 60, 5*time.Second), p.submit(150, 5*time.Second)
		time.Sleep(20 * time.Second)
		sum := s.sample(40)
		if r := float64(sum[commons]) / float64(sum[lab]); r < 1.6 || r > 2.5 {
			t.Errorf("by shares of 2 to 1 ran %d and %d", sum[commons], sum[lab])
		}
		if used := sum[commons] + sum[lab]; used < 40*9*8/10 {
			t.Errorf("%d of %d seconds of cores are used", used, 40*9)
		}
		p.finish(first, 60)
		p.finish(second, 150)
		for _, id := range []overlay.ID{lab, commons} { // alone
			time.Sleep(member.DemandFor + member.AdvertGap)
			job := p.submitTo(id, 36, 10*time.Second)
			time.Sleep(8 * time.Second)
			if sum := s.sample(20); sum[id] < 20*9*9/10 {
				t.Errorf("of %d seconds of cores the only overlay with work has %d", 20*9, sum[id])
			}
			p.finish(job, 36)
		}
	})
}

// An overlay to which the owner gives nothing runs nothing here, and the others
// know why; the owner may think better of it.
func TestNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := startPools(t, 2, 2)
		mean := s.peers[1]
		mean.onLoop(t, func() { mean.reweigh([]owner.Share{{Overlay: "lab", Weight: 0}}) })
		if o := mean.in(lab); o.Share != 0 {
			t.Errorf("the share is %v", o.Share)
		}
		job := mean.submitTo(lab, 8, 5*time.Second)
		mean.finish(job, 8)
		if n := len(mean.runner.started()); n != 0 {
			t.Errorf("%d tasks ran where the owner gives nothing", n)
		}
		mean.onLoop(t, func() {
			if w := mean.members[lab].Told(); w.Slots != 0 || !strings.Contains(w.Reason, "no share") {
				t.Errorf("the worker is told %+v", w)
			}
			mean.reweigh(nil)
		})
		time.Sleep(2 * member.AdvertGap)
		job = mean.submitTo(lab, 8, 5*time.Second)
		mean.finish(job, 8)
		if n := len(mean.runner.started()); n == 0 {
			t.Error("no task ran where the owner gives a share again")
		}
	})
}

// With one core for two overlays each has it in turn, for times by their shares.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := startPools(t, 2, 1)
		p := s.peers[1]
		if _, err := s.peers[0].JoinOverlay(context.Background(), string(lab), 2); err != nil {
			t.Fatal(err)
		}
		p.join(string(lab))
		p.onLoop(t, func() { p.members[lab].share = 2 })
		first, second := p.submitTo(lab, 150, 4*time.Second), p.submit(80, 4*time.Second)
		time.Sleep(time.Minute)
		sum := s.sample(360)
		t.Logf("%d and %d seconds of %d", sum[lab], sum[commons], 2*360)
		if r := float64(sum[lab]) / float64(sum[commons]); r < 1.5 || r > 2.7 {
			t.Errorf("by shares of 2 to 1 ran %d and %d", sum[lab], sum[commons])
		}
		if used := sum[commons] + sum[lab]; used < 360*2*3/4 {
			t.Errorf("%d of %d seconds of cores are used", used, 360*2)
		}
		p.finish(first, 150)
		p.finish(second, 80)
	})
}
