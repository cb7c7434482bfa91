package node

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/p2p"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// Results are read back page by page from the disk, after a restart too.
func TestResultsInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		p := s.peers[1]
		id := p.submit(20, time.Second)
		all := p.finish(id, 20)
		p.crash()
		p.start()
		for _, page := range []struct {
			from  uint64
			limit int
			want  int
		}{{0, 7, 7}, {7, 7, 7}, {14, 7, 6}, {20, 7, 0}, {3, 0, 0}} {
			got, err := p.Results(t.Context(), id, page.from, page.limit)
			if err != nil || len(got) != page.want {
				t.Fatalf("from %d: %d results, %v; want %d", page.from, len(got), err, page.want)
			}
			for i := range got {
				if want := all[page.from+uint64(i)]; got[i].Index != want.Index ||
					!bytes.Equal(got[i].Results[0].Signature, want.Results[0].Signature) {
					t.Errorf("result %d is %+v, want %+v", want.Index, got[i], want)
				}
			}
		}
		st, err := p.Job(t.Context(), id, 18, 10)
		if err != nil || !st.Final || len(st.TasksList) != 2 || st.TasksList[1].Index != 19 || st.TasksList[1].Result == nil {
			t.Errorf("the job with its last tasks is %+v, %v", st, err)
		}
		if _, err := p.Results(t.Context(), "unknown", 0, 1); !errors.Is(err, ErrUnknownJob) {
			t.Errorf("results of an unknown job: %v", err)
		}
	})
}

// What the loop has still to write is read from there.
func TestResultsNotYetWritten(t *testing.T) {
	n := &overlays{driver: &driver{}}
	m, other := &membership{all: n}, &membership{all: n}
	persist := func(m *membership, job task.JobID, i uint64) pending {
		return pending{of: m, machine: message.Persist{Key: submitter.ResultKey(job, i), Value: []byte{byte(i)}}}
	}
	n.pending = []pending{persist(m, "a", 1), {machine: message.JobChanged{}}, persist(m, "ab", 2),
		persist(other, "a", 7), persist(m, "a", 300)}
	got := m.unwritten(submitter.ResultKey("a", 0))
	if len(got) != 2 || got[submitter.ResultKey("a", 1)] == nil || got[submitter.ResultKey("a", 300)] == nil {
		t.Errorf("got %v", got)
	}
}

func TestFirstOf(t *testing.T) {
	set := []message.Range{{From: 2, To: 5}, {From: 9, To: 11}}
	for _, tt := range []struct {
		from  uint64
		limit int
		want  []uint64
	}{{0, 9, []uint64{2, 3, 4, 9, 10}}, {3, 3, []uint64{3, 4, 9}}, {5, 1, []uint64{9}}, {11, 5, nil}, {0, 0, nil}} {
		if got := firstOf(set, tt.from, tt.limit); !slices.Equal(got, tt.want) {
			t.Errorf("from %d, %d: got %v, want %v", tt.from, tt.limit, got, tt.want)
		}
	}
}

// A worker that is cut off keeps its results over a restart of its own, and no
// task is run again when it is back before its leases have ended.
func TestWorkerRestartsWithResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 6)
		s.until("there is a group", func() bool { return s.sameLedger(3) })
		i := slices.IndexFunc(s.peers, func(p *peer) bool { return p.status().Overlays[0].Role == RoleMember })
		worker := s.peers[i]
		submitter := s.leading(worker)
		id := submitter.submit(12, 10*time.Second)
		s.until("all cores are busy", func() bool { return submitter.running(id) == 12 && worker.status().Tasks == 2 })
		time.Sleep(9 * time.Second)
		worker.host.Stop()
		time.Sleep(4 * time.Second) // long enough to be done, and for results to be kept
		ran := worker.runner.started()
		if st := worker.status(); st.Tasks != 0 || len(ran) != 2 {
			t.Fatalf("the worker runs %d tasks and ran %d, want 0 and 2", st.Tasks, len(ran))
		}
		worker.crash()
		worker.start()
		for _, r := range submitter.finish(id, 12) {
			if n := starts(s.peers...)[r.Results[0].Task]; ran[r.Results[0].Task] == 1 && r.Results[0].Worker != worker.ID() {
				t.Errorf("%v was run %d times", r.Results[0].Task, n)
			}
		}
	})
}

// The largest frame fits the network with its overlay before it.
func TestLargestFrameFits(t *testing.T) {
	if n := len(address(commons, make([]byte, message.MaxFrame))); n > p2p.MaxFrame {
		t.Errorf("%d bytes, at most %d", n, p2p.MaxFrame)
	}
}
