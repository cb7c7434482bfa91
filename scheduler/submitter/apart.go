package submitter

import (
	"slices"
	"strings"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Who runs a task again had better be of another network than who ran it: keys of one person are often of
// one. So for a while the leader hears which networks are not to have it, as this node sees its members.
// Then anybody may: a pool in one house, or at one university, checks itself as well.

// apartFor is how long a member of another network is waited for.
const apartFor = 2 * time.Minute

// askedNow notes that others are asked for a task from now on, first of all those of other networks.
func (a *abroad) askedNow(j *submitted, p *poll) {
	p.asked = a.s.now
	p.apart = a.networksApart(j, p)
	if len(p.apart) > 0 {
		a.s.timers.Set(a.s.now.Add(apartFor), auditTimer)
	}
}

// networksApart are the networks of those who ran a task, where others are known to be elsewhere. Whom the
// job's owner names may be anywhere.
func (a *abroad) networksApart(j *submitted, p *poll) (out []string) {
	if len(j.spec.Verify.Auditors) > 0 || a.s.cfg.Where == nil {
		return nil
	}
	for _, w := range p.makers {
		if n := a.networkOf(w); n != "" && len(out) < message.MaxBarred {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 || !a.isElsewhere(out) {
		return nil
	}
	return out
}

// isElsewhere reports whether another member is in none of some networks. A Step asks but once of each.
func (a *abroad) isElsewhere(networks []string) bool {
	if a.elsewhere == nil || !a.elsewhereAt.Equal(a.s.now) {
		a.elsewhere, a.elsewhereAt = map[string]bool{}, a.s.now
	}
	key := strings.Join(networks, " ")
	is, known := a.elsewhere[key]
	if !known {
		is = a.s.cfg.Where.Elsewhere(networks, a.s.self)
		a.elsewhere[key] = is
	}
	return is
}

// near reports whether a worker is of a network that is not to have a task.
func (a *abroad) near(p *poll, worker task.PeerID) bool {
	return len(p.apart) > 0 && slices.Contains(p.apart, a.networkOf(worker))
}

// endApart lets anybody have the tasks for which others were waited long enough.
func (a *abroad) endApart(j *submitted) {
	ended := false
	for _, r := range j.checks.away {
		for i := r.From; i < r.To; i++ {
			if p := j.checks.polls[i]; len(p.apart) > 0 && !a.s.now.Before(p.asked.Add(apartFor)) {
				p.apart, ended = nil, true
			}
		}
	}
	if ended {
		j.againTold = false
		a.s.got(j)
	}
}
