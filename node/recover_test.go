package node

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"
)

// A submitter whose store is lost takes its jobs back from the ledger, and has
// run again what only it had held.
func TestSubmitterLosesItsStore(t *testing.T) {
	for name, key := range map[string][]byte{"open": nil, "sealed": newKey()} {
		t.Run(name, func(t *testing.T) { submitterLosesItsStore(t, key) })
	}
}

func submitterLosesItsStore(t *testing.T, key []byte) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		s.until("there is a group", func() bool { return s.sameLedger(3) })
		submitter := s.others(s.leading(s.peers[0]))[0]
		sub := sleepJob(t, submitter.Node, 40, 2*time.Second)
		sub.Key = key
		id, err := submitter.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		s.until("some results are held", func() bool {
			st, err := submitter.Job(t.Context(), id, 0, 0)
			return err == nil && st.Held > 4
		})
		if key != nil {
			s.keepsKeys(t, submitter, id, key)
		}
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
		if rec, _, err := submitter.Submitted(t.Context(), id); err != nil || !bytes.Equal(rec.Key, key) {
			t.Errorf("it is known with another key: %v", err)
		}
		submitter.finish(id, 40)
		s.until("the mark is gone", func() bool {
			_, err := os.Stat(submitter.cfg.recoverFile())
			return os.IsNotExist(err)
		})
	})
}

// keepsKeys checks that the leader tells the key of a job to its submitter alone.
func (s *swarm) keepsKeys(t *testing.T, submitter *peer, id task.JobID, key []byte) {
	t.Helper()
	for _, p := range s.others(s.leading(s.peers[0])) {
		leaders, err := p.leaders(t.Context())
		if err != nil || len(leaders) != 1 {
			t.Fatalf("%v, %v", leaders, err)
		}
		var told []byte
		err = p.queries.ask(t.Context(), leaders[0], methodKey, keyQuery{leaders[0].overlay, id}, &told)
		if own := p == submitter; own != (err == nil) || own != bytes.Equal(told, key) || !own && len(told) > 0 {
			t.Errorf("its submitter: %v; told %x, %v", own, told, err)
		}
	}
}
