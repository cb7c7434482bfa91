package node

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/informant"
)

// A lying member sends statements that cannot be decided. After the third check it is not queried for a week, hinted
// or at random, so that it cannot keep others from being checked.
func TestOpenChecksSilenceALiar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		s.gather(s.peers...)
		p, liar := s.peers[0], s.peers[1]
		for n := range informant.MostUseless {
			if p.look().unheard {
				t.Fatalf("not queried after %d checks", n)
			}
			p.show(liar, binary.BigEndian.AppendUint64([]byte{0xff}, uint64(n)))
			s.until("it is checked", func() bool { return !p.look().checking })
		}
		p.onLoop(t, func() {
			if _, peer := p.proofs.random(p.now()); peer != "" {
				t.Errorf("%q is queried after %d checks without a verdict", peer, informant.MostUseless)
			}
			if _, peer := p.proofs.random(p.now().Add(informant.IgnoredFor + time.Minute)); peer != liar.ID() {
				t.Errorf("%q is queried after a week", peer)
			}
		})
	})
}
