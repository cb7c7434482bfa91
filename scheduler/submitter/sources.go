package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A key costs nothing, so a wrong result says more about its source than about its worker: about the member that
// delivered it, and the leader that signed the receipt of its lease. The submitter checks the first results of each
// source. After one wrong result it returns every unchecked result of the source, ends the source's delegation and
// refuses the source for the job. The home, which are the leaders that this node itself followed, cannot be refused:
// the job's own errors count instead, see doubtStrangers.

// Sources are where the results of a job come from. The zero value has none.
type sources struct {
	home uint64 // results from the home
	of   map[task.PeerID]*source
}

// A source is a member other than the home that results came from.
type source struct {
	tasks   ledger.Set // held results that it delivered, or whose receipts it signed
	refused bool
}

// from lists the sources of a task's result; nil for the home.
func (s *sources) from(i uint64) (out []task.PeerID) {
	for _, peer := range slices.Sorted(maps.Keys(s.of)) {
		if s.of[peer].tasks.Contains(i) {
			out = append(out, peer)
		}
	}
	return out
}

func (s *sources) add(peers []task.PeerID, i uint64) {
	for _, peer := range peers {
		s.at(peer).tasks.Add(i)
	}
}

// at returns a source, made if there is none.
func (s *sources) at(peer task.PeerID) *source {
	if s.of == nil {
		s.of = map[task.PeerID]*source{}
	}
	if s.of[peer] == nil {
		s.of[peer] = &source{}
	}
	return s.of[peer]
}

func (s *sources) drop(i uint64) {
	for _, of := range s.of {
		if of.tasks.Contains(i) {
			of.tasks = of.tasks.Minus(only(i))
		}
	}
}

// refuses reports whether a peer is a refused source.
func (s *sources) refuses(peer task.PeerID) bool { return s.of[peer] != nil && s.of[peer].refused }

// took notes where a result came from. from is the member that delivered it.
func (a *audits) took(from task.PeerID, j *submitted, t *message.TaskSummary) {
	if j.checks == nil || len(t.Results) == 0 || from == "" {
		return
	}
	r := &t.Results[0]
	var peers []task.PeerID
	if from != a.s.leader && from != a.s.self && from != r.Worker { // a worker answers for its own results anyway
		peers = append(peers, from)
	}
	if by := r.Receipt; by != nil && by.Leader != "" && by.Leader != a.s.leader && by.Leader != a.s.self &&
		!slices.Contains(peers, by.Leader) && a.s.cfg.Receipts && !a.s.evidence().Followed(by.Leader, by.Epoch) {
		peers = append(peers, by.Leader)
	}
	if len(peers) == 0 {
		j.checks.sources.home++
	}
	j.checks.sources.add(peers, t.Index)
}

// tookOf is took for a result that was taken from another job: its sources are those in that job.
func (a *audits) tookOf(of *submitted, i uint64, j *submitted, t *message.TaskSummary) {
	if j.checks == nil || of.checks == nil {
		a.took(a.s.self, j, t)
		return
	}
	peers := of.checks.sources.from(i)
	if len(peers) == 0 {
		j.checks.sources.home++
	}
	j.checks.sources.add(peers, t.Index)
}

// early reports whether a result is among the first of a source, which are always checked.
func (a *audits) early(j *submitted, i uint64) bool {
	s, first := &j.checks.sources, uint64(a.s.cfg.FirstOfSource)
	from := s.from(i)
	return len(from) == 0 && s.home <= first ||
		slices.ContainsFunc(from, func(peer task.PeerID) bool { return s.of[peer].tasks.Count() <= first })
}

// doubtSources refuses the sources of a wrong result, and returns what else came from them.
func (a doubting) doubtSources(j *submitted, i uint64) {
	s := &j.checks.sources
	for _, peer := range s.from(i) {
		of := s.of[peer]
		if of.refused {
			continue
		}
		of.refused = true
		unchecked := j.checks.unchecked(of.tasks)
		a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "source refused", Peer: peer,
			Reason: fmt.Sprintf("a result that it delivered or gave the lease for is wrong: %d others are not checked",
				unchecked.Count())})
		a.returnAll(j, unchecked, peer, "their source delivered a wrong result: others run these tasks again")
		if j.lending != nil && j.lending.loans[peer] != nil {
			a.s.takeBack(j, peer, "it delivered a wrong result")
		}
	}
}

// unchecked are those of some results that nobody has checked.
func (c *checks) unchecked(of ledger.Set) ledger.Set {
	return of.Minus(c.right).Minus(c.wrong).Minus(c.open).Minus(c.byVote)
}

// returnAll has others run tasks again, except those that failed, run here now or were returned too often: these are
// run here.
func (a doubting) returnAll(j *submitted, of ledger.Set, peer task.PeerID, why string) {
	var back, here ledger.Set
	may := j.mayGiveBack(a.s.now)
	for _, r := range of {
		for i := r.From; i < r.To; i++ {
			switch {
			case !j.have.Contains(i), a.at[task.TaskID{Job: j.id, Index: i}] != nil:
			case may && j.checks.back[i] < maxGivenBack && !j.checks.failed.Contains(i):
				back.Add(i)
			case !j.checks.due.Contains(i):
				here.Add(i)
			}
		}
	}
	for _, w := range slices.Sorted(maps.Keys(j.checks.by)) {
		its := j.checks.by[w]
		mine := its.tasks.Minus(its.tasks.Minus(here))
		its.tasks = its.tasks.Minus(here).Minus(back)
		a.doubtAll(j, w, mine)
	}
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			j.checks.forgetWith(i)
		}
	}
	if len(back) > 0 {
		a.reopen(j, back, peer, fmt.Sprintf("%d results: %s", back.Count(), why))
	}
	a.s.emit(message.JobChanged{Job: j.id})
}

const (
	// wrongChecks and wrongShare are how many checks of a job, and which part of them, have to be wrong until its
	// strangers' results are returned.
	wrongChecks = 2
	wrongShare  = .1
)

// doubtStrangers returns all unchecked results of strangers if too many checks of the job were wrong. The home may be
// hostile, and give the tasks to as many keys as it likes.
func (a doubting) doubtStrangers(j *submitted) {
	c := j.checks
	wrong := c.wrong.Count()
	checked := float64(c.right.Count() + wrong + c.open.Count() + uint64(len(c.parts)))
	if a.s.cfg.Strangers == (credibility.Strangers{}) || wrong < wrongChecks || float64(wrong) < wrongShare*checked {
		return
	}
	var of ledger.Set
	for w, its := range c.by {
		if !a.abroad.isKnown(w) {
			of.Union(its.tasks)
		}
	}
	if of = c.unchecked(of); len(of) == 0 {
		return
	}
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "strangers doubted",
		Reason: fmt.Sprintf("%d of %.0f checks were wrong: %d results of strangers are not checked", wrong, checked,
			of.Count())})
	a.returnAll(j, of, "", "too many checks of the job were wrong: others run the strangers' tasks again")
}

// topUp has results checked until the least sample is, of a job whose results are all here. It reports whether there
// are any.
func (a *audits) topUp(j *submitted) bool {
	c := j.checks
	if a.s.cfg.FirstOfSource == 0 || c.topped {
		return false
	}
	c.topped = true
	var rest ledger.Set
	for _, its := range c.by {
		rest.Union(its.tasks)
	}
	rest = c.unchecked(rest)
	done := c.right.Count() + c.wrong.Count() + c.open.Count() + c.due.Count() + uint64(len(c.parts))
	want := credibility.Sample(rest.Count() + done)
	if want <= done {
		return false
	}
	key := task.DrawKey(a.s.key, j.spec.Nonce)
	for _, k := range credibility.Pick(key, j.total, [32]byte{}, int(j.total), int(want-done), func(k int) bool {
		return rest.Contains(uint64(k)) && c.parts[uint64(k)].Checked == 0
	}) {
		i := uint64(k)
		for w, its := range c.by {
			if its.tasks.Contains(i) {
				its.tasks = its.tasks.Minus(only(i))
				failed := c.failed.Contains(i)
				c.forgetWith(i)
				a.note(j, checked{Index: i, State: verdictDue, Worker: w, Failed: failed})
				break
			}
		}
	}
	return c.left() > 0
}
