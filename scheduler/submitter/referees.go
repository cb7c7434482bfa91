package submitter

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// The members that run a task once more are drawn here, from this node's own view: a leader that has
// friends among them cannot have these look at each other's work. They are drawn when the result is
// signed, with a key that nobody else has, and the leader hears of a few at a time. Those in the network of
// one who ran the task are left out while there are others, and so are coordinators: see seers.

// referees is how many members are named at a time of whom any may have the task next. One alone could
// keep it waiting; of many the leader could choose.
const referees = 3

// mostReferees is referees, of a job whose leader needs several that agree before it brings a result.
func (j *submitted) mostReferees() int {
	return min(referees+max(1, j.spec.Replicas)-1, message.MaxBarred)
}

// choose names who may run a task once more, and reports whether anybody is left: those whom the job
// names, else who is drawn of all members that lend slots, where these are known. Who was drawn before
// and did not answer yet stays.
func (a *abroad) choose(j *submitted, i uint64, all []task.PeerID) bool {
	p := j.checks.polls[i]
	if named := j.spec.Verify.Auditors; len(named) > 0 {
		p.only = named
		return slices.ContainsFunc(named, func(w task.PeerID) bool {
			return a.known(w).Faults == 0 && !slices.Contains(p.makers, w)
		})
	}
	if all == nil {
		p.only = nil
		return true
	}
	may := func(w task.PeerID) bool {
		return w != a.s.self && a.says(w) && !j.checks.excused[w] && !slices.Contains(p.makers, w)
	}
	near := map[string]bool{} // networks of who ran it
	for _, w := range p.makers {
		near[a.networkOf(w)] = true
	}
	p.only = slices.DeleteFunc(slices.Clone(p.only), func(w task.PeerID) bool { return !may(w) })
	key := task.DrawKey(a.s.key, j.spec.Nonce)
	blind := all
	if p.tries == 0 {
		blind = a.seers.blind(j, all)
	}
	for _, of := range []struct {
		far   bool
		among []task.PeerID
	}{{true, blind}, {false, blind}, {false, all}} {
		if len(p.only) > 0 && !of.far { // one of another network, that does not see, is enough
			break
		}
		for _, k := range credibility.Pick(key, i, p.refereeRoot(), len(of.among), j.mostReferees()-len(p.only), func(k int) bool {
			w := of.among[k]
			if !may(w) || slices.Contains(p.only, w) {
				return false
			}
			at := a.networkOf(w)
			return !of.far || at == "" || !near[at]
		}) {
			p.only = append(p.only, of.among[k])
		}
	}
	return len(p.only) > 0
}

// refereeRoot is what the draw of a poll's referees follows from, another each time that nobody answered.
func (p *poll) refereeRoot() [sha256.Size]byte {
	b := append([]byte("referees\x00"), p.held.Digest[:]...)
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(p.tries)))
}

// workers are the members that lend slots; nil where that is not known.
func (a *abroad) workers() []task.PeerID {
	if a.s.cfg.Where == nil {
		return nil
	}
	return a.s.cfg.Where.Workers()
}

// nameAll names who may run the tasks of a job once more of which that is not known, as after a restart.
func (a *abroad) nameAll(j *submitted) {
	var all []task.PeerID
	asked := false
	for _, r := range j.checks.away {
		for i := r.From; i < r.To; i++ {
			if len(j.checks.polls[i].only) > 0 {
				continue
			}
			if !asked {
				all, asked = a.workers(), true
			}
			if a.choose(j, i, all); len(j.checks.polls[i].only) > 0 {
				j.againTold = false
			}
		}
	}
}

// mayAnswer reports whether a worker's run of a task counts that others are to run once more.
func (a *abroad) mayAnswer(j *submitted, p *poll, w task.PeerID) bool {
	if named := j.spec.Verify.Auditors; len(named) > 0 {
		return a.known(w).Faults == 0 && slices.Contains(named, w)
	}
	return a.says(w) && (len(p.only) == 0 || slices.Contains(p.only, w))
}
