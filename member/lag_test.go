package member

import (
	"testing"
	"time"

	"godwit/overlay"
)

// A member whose process comes late each time gives others longer before it takes them for lost, and
// its leader's renewals, too, have longer.
func TestLaggardAsksForLonger(t *testing.T) {
	s, h := slept(t, false)
	leader := s.leader()
	for range 5 {
		for _, o := range []*host{h, leader} {
			o.at(func() { o.m.obey(o.m.lease.Tick(s.now)) })
		}
		s.now = s.now.Add(overlay.RenewEvery + 500*time.Millisecond)
	}
	h.asked = nil
	h.tell(Disconnected{Peer: s.hosts[0].id})
	if h == s.hosts[0] {
		h.tell(Disconnected{Peer: s.hosts[1].id})
	}
	var waits []time.Duration
	for _, e := range append(h.asked, h.pending...) {
		if p, ok := e.(Probe); ok {
			waits = append(waits, p.Wait)
		}
	}
	if len(waits) != 1 || waits[0] <= overlay.ProbeWait || waits[0] > overlay.MaxProbeWait {
		t.Errorf("probes have %v, want one of more than %v and at most %v", waits, overlay.ProbeWait, overlay.MaxProbeWait)
	}
	leader.pending = nil
	leader.at(func() { sayLease(leader.m, Lease{Kind: Renewal}, h.id) })
	if e := leader.pending[0].(SayLease); e.Wait <= overlay.RenewEvery || e.Wait >= overlay.LeaseTime {
		t.Errorf("a renewal may take %v", e.Wait)
	}
}
