package node

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/p2p/cost"
)

// Somebody looks at a job of this node fifty times a second, for long: the leader goes on hearing this node, and
// the job comes to its end.
func TestLookingAtAJobDoesNotHoldItUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		time.Sleep(time.Minute)
		k := slices.IndexFunc(s.peers, func(p *peer) bool { return s.peers[0].net.Class(p.ID()) == cost.Member })
		if k <= 0 {
			t.Fatal("the leader works with everybody")
		}
		p := s.peers[k]
		if err := p.Pause(t.Context(), 0); err != nil { // who lends nothing may cost least
			t.Fatal(err)
		}
		id := p.submitVerified(2, 40*time.Second, "off")
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if _, err := p.Job(t.Context(), id, 0, 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(30 * time.Second)
		if st, err := p.Job(t.Context(), id, 0, 1); err != nil || !st.Final {
			t.Errorf("the job is not over: %v, %+v", err, st.Checks)
		}
	})
}

// Of questions that come at once some go, those that can wait have their turns, and those that cannot are told.
func TestAskPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a askPaces
		begun := time.Now()
		wait := func(d time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			return a.wait(ctx, "leader")
		}
		for range leaderAsksAtOnce + leaderAsks {
			if err := wait(time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun).Round(time.Millisecond); took != time.Second {
			t.Errorf("so many more than at once took %v", took)
		}
		if err := wait(time.Second / leaderAsks / 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that cannot wait: %v", err)
		}
		if took := time.Since(begun).Round(time.Millisecond); took != time.Second {
			t.Errorf("it waited all the same, until %v", took)
		}
		for range mostAskPaces + 1 {
			if err := a.wait(t.Context(), "another"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
