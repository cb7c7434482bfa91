package overlay

import (
	"slices"
	"time"

	"godwit/task"
)

// Tick says that it is now. It is called when Next says, and may be at any time.
func (l *Lease) Tick(now time.Time) []LeaseEffect {
	l.notice(now)
	if l.Leads() {
		return l.tickLeading(now)
	}
	if effects := l.reconsider(now); len(effects) > 0 {
		return effects
	}
	if turn, ok := l.turn(); ok && !now.Before(turn) {
		return l.lead(NextEpoch(l.epoch, l.self), now)
	}
	if l.doubts() && !now.Before(l.doubt()) {
		l.silent[l.chief] = true
		return []LeaseEffect{Suspect{l.chief}}
	}
	return nil
}

// Next returns when Tick is to be called at the latest: within RenewEvery of the
// last time, since that it comes late is how a member knows that it starves.
func (l *Lease) Next() time.Time {
	next := l.ticked.Add(RenewEvery)
	sooner := func(at time.Time) {
		if at.Before(next) {
			next = at
		}
	}
	if l.Leads() {
		sooner(l.renew)
		if l.offer.open {
			sooner(l.offer.until)
		}
		return next
	}
	if turn, ok := l.turn(); ok {
		sooner(turn)
	}
	if l.doubts() {
		sooner(l.doubt())
	}
	return next
}

// notice finds out from a late tick that this member's process did not run. What
// it did not hear meanwhile says nothing of the others, so that time does not
// count against the leader; and one that starves again and again grows slower to
// take over (Dadgar, Phillips and Currey, "Lifeguard: local health awareness for
// more accurate failure detection", 2017: the local health multiplier).
func (l *Lease) notice(now time.Time) {
	late := now.Sub(l.ticked.Add(RenewEvery))
	l.ticked = now
	if l.lag.note(late); late < RenewEvery {
		if late > lagSlack { // it did not listen meanwhile
			l.forgive(late, now)
		}
		if now.Sub(l.calm) >= LeaseTime {
			l.calm, l.strain = now, max(0, l.strain-1)
		}
		return
	}
	l.calm, l.strain = now, min(l.strain+1, maxStrain)
	l.forgive(late+RenewEvery, now)
}

// forgive leaves a time in which this member's process did not run out of what others have to
// be heard in.
func (l *Lease) forgive(out time.Duration, now time.Time) {
	l.expires = earlier(l.expires.Add(out), later(l.expires, now.Add(LeaseTime)))
	for p, at := range l.heard {
		l.heard[p] = earlier(at.Add(out), later(at, now))
	}
}

// patience is what a starved member adds to its waiting.
func (l *Lease) patience() time.Duration {
	return min(time.Duration(l.strain)*RenewEvery+l.lag.allowance(), maxStrain*RenewEvery)
}

// turn is when this member takes over if it hears nothing: those that the leader
// named first, each in its turn, then those of this member's own view, once the
// leader is lost from that, then one that would rather not. ok is false for one
// that does not take over as things are.
func (l *Lease) turn() (at time.Time, ok bool) {
	rank, left := among(l.group, l.chief, l.self)
	others, outside := 0, rank < 0
	if outside {
		others = left
		rank, _ = among(l.view, l.chief, l.self)
	}
	if l.gone || rank < 0 || outside && l.chief != "" {
		return time.Time{}, false
	}
	at = l.expires.Add(time.Duration(rank+others)*Stagger + l.patience())
	if l.yields {
		at = at.Add(yieldWait)
	}
	return at, true
}

// doubts says whether this member would speak of the leader's silence.
func (l *Lease) doubts() bool {
	return l.chief != "" && !l.silent[l.chief] && slices.Contains(l.group, l.self)
}

// doubt is when the leader has been silent for too long to say nothing.
func (l *Lease) doubt() time.Time {
	return l.expires.Add(suspectAfter - LeaseTime + l.patience())
}

// among returns the place of a member among a group without one peer, less than 0 if it has none,
// and how many that leaves. It is asked after all that happens: no copy is made.
func among(group []task.PeerID, peer, member task.PeerID) (rank, left int) {
	rank = -1
	for _, p := range group {
		switch {
		case p == peer:
			continue
		case p == member && rank < 0:
			rank = left
		}
		left++
	}
	return rank, left
}

func without(group []task.PeerID, peer task.PeerID) []task.PeerID {
	return slices.DeleteFunc(slices.Clone(group), func(p task.PeerID) bool { return p == peer })
}

func (l *Lease) tickLeading(now time.Time) []LeaseEffect {
	var effects []LeaseEffect
	if !now.Before(l.renew) {
		effects = l.send(now)
	}
	for _, p := range l.group[1:] {
		if !l.silent[p] && now.Sub(l.heard[p]) > LeaseTime+l.patience() {
			l.silent[p] = true
			effects = append(effects, Suspect{p})
		}
	}
	if now.Before(l.offer.until) || !l.offer.open && !l.unwanted(now) {
		return effects
	}
	return append(effects, l.offerTo("", now)...)
}

// unwanted says whether this leader is to find another.
func (l *Lease) unwanted(now time.Time) bool {
	return l.yields || len(l.view) > 0 && l.view[0] != l.self && now.Sub(l.led) >= Settle
}

// offerTo opens an offer to a member, or to the best not yet asked: those that
// were heard of before those that were not, by rank. With nobody left to ask, a
// leader that is going stops, and any other leads on and asks again later.
func (l *Lease) offerTo(to task.PeerID, now time.Time) []LeaseEffect {
	if to == "" || to == l.self {
		to = l.heir()
	}
	if to == "" {
		l.offer = offer{until: now.Add(LeaseTime)}
		if !l.gone {
			return nil
		}
		l.chief, l.offer = "", offer{}
		return []LeaseEffect{StepDown{Epoch: l.epoch, Reason: Alone}}
	}
	l.offer.open, l.offer.to, l.offer.until = true, to, now.Add(HandOverWait)
	l.offer.tried = append(l.offer.tried, to)
	l.offer.epoch = NextEpoch(l.epoch, to)
	group := append([]task.PeerID{to}, without(without(l.group, to), l.self)...)
	if !l.gone {
		group = append(group, l.self)
	}
	return []LeaseEffect{SendHandOver{To: to,
		Renewal: Renewal{Epoch: l.offer.epoch, Group: group[:min(len(group), MaxGroup)]}}}
}

func (l *Lease) heir() task.PeerID {
	var last task.PeerID
	for _, p := range l.group[1:] {
		switch {
		case slices.Contains(l.offer.tried, p):
		case !l.silent[p]:
			return p
		case last == "":
			last = p
		}
	}
	return last
}
