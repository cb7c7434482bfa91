package submitter

import (
	"crypto/ed25519"
	"time"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// New returns a submitter without jobs. timing and cfg must be valid; key
// is the node's own, and signs cancels and goodbyes.
func New(self task.PeerID, timing message.Timing, cfg Config, key ed25519.PrivateKey) *Submitter {
	s := &Submitter{
		self: self, timing: timing, cfg: cfg, key: key, jobs: map[task.JobID]*submitted{},
		fetches: map[string]*resultFetch{}, forgotten: map[task.JobID]*forgottenJob{},
		additions: map[task.JobID][]task.JobID{},
	}
	s.lender.s = s
	s.unaided = unaided{s: s, due: map[task.JobID]bool{}}
	s.audits = audits{s: s, at: map[task.TaskID]*auditing{}, reading: map[task.TaskID]bool{},
		reputations: reputations{s: s, credits: map[task.PeerID]*credibility.Credit{}, excuses: map[task.PeerID]excuse{}},
		abroad:      abroad{audits: &s.audits, lends: true},
		fresh:       newcomers{&s.audits, map[task.PeerID]uint64{}, map[task.PeerID]uint64{}},
		heard:       hearsay{a: &s.audits, tellers: map[task.PeerID]*teller{}}}
	return s
}

func (s *Submitter) add(id task.JobID, spec *task.Job, st submittedState) *submitted {
	j := &submitted{id: id, record: st.Record, spec: spec, total: spec.Tasks(), state: st, pause: s.timing.RetryMin,
		staged: newStaged(spec)}
	s.jobs[id] = j
	s.link(j)
	if spec.Verify != nil && len(s.key) > 0 {
		j.checks = &checks{by: map[task.PeerID]*accepted{}, signer: map[uint64]task.PeerID{}, back: map[uint64]int{},
			drawn: map[uint64]drawn{}, parts: map[uint64]message.Parts{},
			trailless: map[task.PeerID]bool{},
			compilers: compilers{divergent: map[string]bool{}, excused: map[task.PeerID]bool{},
				engines: map[task.PeerID]string{}},
			polling: polling{polls: map[uint64]*poll{}}, vouched: map[task.PeerID]*ledger.Set{},
			told: map[task.PeerID]*ledger.Set{}, legs: map[task.PeerID]*ledger.Set{},
			elected: map[uint64]*elected{}, sure: sure{at: map[uint64]*sureTask{}, probed: map[uint64]*probe{}}}
		s.audits.follow(j)
	}
	if !st.Final {
		s.arm(j, time.Time{})
	}
	return j
}
