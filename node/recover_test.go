package node

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A submitter whose store is lost takes its jobs back from the ledger, and has
// run again what only it had held.
func TestSubmitterLosesItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		s.until("there is a group", func() bool { return s.sameLedger(3) })
		submitter := s.others(s.leading(s.peers[0]))[0]
		id := submitter.submit(40, 2*time.Second)
		s.until("some results are held", func() bool {
			st, err := submitter.Job(t.Context(), id, 0, 0)
			return err == nil && st.Held > 4
		})
		submitter.crash()
		submitter.disk = newDisk()
		if err := os.WriteFile(submitter.cfg.recoverFile(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		submitter.cfg.Bootstrap = []string{s.others()[0].host.Addr}
		submitter.start()
		s.until("the job is known again", func() bool {
			_, err := submitter.Results(t.Context(), id, 0, 1)
			return err == nil
		})
		submitter.finish(id, 40)
		s.until("the mark is gone", func() bool {
			_, err := os.Stat(submitter.cfg.recoverFile())
			return os.IsNotExist(err)
		})
	})
}
