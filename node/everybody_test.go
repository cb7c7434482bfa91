package node

import (
	"testing"
	"testing/synctest"
	"time"
)

// Every machine of an overlay loses its power at once, the submitter, the group and all
// workers, and comes back: the job goes on, and no task whose result was held is done
// again. The ledger is the job's dump of states, and starting again needs no more.
func TestEverybodyRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		s.until("there is a group", func() bool { return s.sameLedger(3) })
		submitter := s.others(s.leading(s.peers[0]))[0]
		const tasks = 60
		id := submitter.submit(tasks, 2*time.Second)
		held := func() map[uint64]bool {
			out := map[uint64]bool{}
			list, err := submitter.Results(t.Context(), id, 0, tasks)
			if err != nil {
				return out
			}
			for _, r := range list {
				out[r.Index] = true
			}
			return out
		}
		s.until("a third of the results are held", func() bool { return len(held()) > tasks/3 })
		for _, p := range s.peers {
			p.halt()
		}
		for _, p := range s.peers {
			p.crash()
		}
		before := starts(s.peers...)
		time.Sleep(time.Minute)
		for _, p := range s.peers {
			p.start()
		}
		kept := held()
		if len(kept) <= tasks/3 || len(kept) == tasks {
			t.Errorf("%d of %d results are held after the crash", len(kept), tasks)
		}
		submitter.finish(id, tasks)
		again := 0
		for name, n := range starts(s.peers...) {
			switch {
			case kept[name.Index] && n > before[name]:
				t.Errorf("task %d was held, and has been started %d times more", name.Index, n-before[name])
			case n > 1:
				again++
			}
		}
		// What ran is lost, and what had just ended and nobody had put on a disk.
		if slots := 2 * len(s.peers); again > 2*slots {
			t.Errorf("%d tasks began a second time, with %d slots", again, slots)
		}
		t.Logf("%d of %d held when all went; %d others began a second time", len(kept), tasks, again)
	})
}
