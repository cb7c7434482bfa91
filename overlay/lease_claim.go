package overlay

import (
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// Anybody can say that he leads. A claim is obeyed for what this member knows itself:
// that the claimant is a member, that the epoch bears its tag and is one that time allows,
// and that whoever leads had named it as a successor, or this member's own draw does.

const (
	// termEvery bounds terms by the clock: there is no term later than one for each
	// termEvery since 1970. The bound moves on, so nobody can use the last term up.
	// Honest leaders take a term an hour, not one in eight seconds.
	termEvery = 8 * time.Second
	// termSlack is by how many terms the bound of a member with a slow clock lags behind
	// that of one with a fast clock, and what both are off.
	termSlack = uint64(2 * MaxSkew / termEvery)
	// maxTerm is the last term of all, of the year 2106: epochs stay within 53 bits.
	maxTerm = 1<<29 - 2
	// contestEvery is how often a leader takes a later term because of what one peer says,
	// and contestGap how often because of all: claims alone must not keep it from its work.
	contestEvery = Settle
	contestGap   = LeaseTime
	// maxNoted bounds the claims that are remembered and not obeyed.
	maxNoted = 16
	// maxLed bounds the peers that are remembered to have led or stood by. Whoever led
	// before sixty others has no lease left that matters.
	maxLed = 64
)

// A Roll is what a member knows of others that a claim to lead rests on.
type Roll interface {
	// MayLead reports whether a peer is a member now, and one that may coordinate.
	MayLead(peer task.PeerID) bool
	// Settled reports whether this member has known a peer for long enough to heed what it
	// says of others.
	Settled(peer task.PeerID) bool
	// Before reports whether this member would have a lead rather than b.
	Before(a, b task.PeerID) bool
}

// everybody is the roll of who knows nothing of others: all may lead, by their names.
type everybody struct{}

func (everybody) MayLead(task.PeerID) bool     { return true }
func (everybody) Settled(task.PeerID) bool     { return true }
func (everybody) Before(a, b task.PeerID) bool { return a < b }

// Trust has claims judged by a roll. Without it everybody may lead.
func (l *Lease) Trust(r Roll) { l.roll = r }

// possible reports whether a member can lead in an epoch at now: the epoch bears its tag,
// and its term is not beyond what time allows.
func possible(epoch uint64, leader task.PeerID, now time.Time) bool {
	return Tagged(epoch, leader) && inTime(epoch, now)
}

// inTime reports whether time allows an epoch's term.
func inTime(epoch uint64, now time.Time) bool {
	bound := uint64(max(0, now.Unix()))/uint64(termEvery/time.Second) + termSlack
	return Term(epoch) <= min(bound, maxTerm)
}

// rightful reports whether a member may take the lead from whoever has it, as far as this
// one knows: it is the leader, in a later term, or was when it was lost, the leader named
// it, this member's own draw names it, or has it before the leader. Who knows of no leader
// yet believes the first; who lost one waits for those that were named, and then believes
// anybody.
func (l *Lease) rightful(p task.PeerID, now time.Time) bool {
	switch {
	case !l.roll.MayLead(p):
		return false
	case p == l.chief, p == l.last, slices.Contains(l.group, p), slices.Contains(l.view, p):
		return true
	case l.chief == "":
		return !l.settled || !now.Before(l.forsaken())
	}
	return l.roll.Before(p, l.chief)
}

// forsaken is when all that were named have had their turns.
func (l *Lease) forsaken() time.Time {
	return l.expires.Add(time.Duration(len(l.group)+len(l.view)+1) * Stagger)
}

// claim takes in that a member leads in a higher epoch than is known: by its own word, or
// by another's who tells of it. It is followed or contested.
func (l *Lease) claim(leader, teller task.PeerID, r Renewal, now time.Time) []LeaseEffect {
	if !l.rightful(leader, now) {
		l.note(leader, r.Epoch)
		return l.contest(teller, r.Epoch, now)
	}
	l.group = r.Group // nil until it is heard of
	return l.follow(leader, r.Epoch, now)
}

// note remembers a claim that is not obeyed: it may be all there is when the leader is lost.
func (l *Lease) note(p task.PeerID, epoch uint64) {
	if !l.roll.MayLead(p) {
		return
	}
	if _, known := l.noted[p]; !known && len(l.noted) >= maxNoted {
		worst := slices.MaxFunc(slices.Sorted(maps.Keys(l.noted)), l.compare)
		if !l.roll.Before(p, worst) {
			return
		}
		delete(l.noted, worst)
	}
	l.noted[p] = max(epoch, l.noted[p])
}

func (l *Lease) compare(a, b task.PeerID) int {
	switch {
	case l.roll.Before(a, b):
		return -1
	case l.roll.Before(b, a):
		return 1
	}
	return 0
}

// Led reports whether a peer may have led in an epoch, as far as this member saw: it led, or
// stood by. That it says so is not enough, however long it has been known: a claim that is
// noted gives no leases.
func (l *Lease) Led(p task.PeerID, epoch uint64) bool {
	return Tagged(epoch, p) && (p == l.self || slices.Contains(l.leaders, p))
}

// A span is the terms between two in which a member followed a leader: it cannot have seen who led in them.
type span struct{ after, before uint64 }

// maxUnseen bounds the spans that are remembered, the latest.
const maxUnseen = 16

// skip notes the terms between that of the highest epoch that this member knew and that of the epoch that it now follows a
// leader in.
func (l *Lease) skip(to uint64) {
	if Term(to) <= Term(l.epoch)+1 {
		return
	}
	l.unseen = append(l.unseen, span{Term(l.epoch), Term(to)})
	l.unseen = l.unseen[max(0, len(l.unseen)-maxUnseen):]
}

// Follows notes epochs that this member led or followed in, before Restart too.
func (l *Lease) Follows(epochs ...uint64) {
	l.followed = append(l.followed, epochs...)
	l.followed = l.followed[max(0, len(l.followed)-maxLed):]
}

// FollowedEpochs lists what Follows was given, the newest last. The slice is not to be changed.
func (l *Lease) FollowedEpochs() []uint64 { return l.followed }

// Followed reports whether this member led, or followed a peer, in an epoch.
func (l *Lease) Followed(p task.PeerID, epoch uint64) bool {
	return Tagged(epoch, p) && slices.Contains(l.followed, epoch)
}

// MayHaveLed reports whether a peer can have led in an epoch of a term that this member did not see, because it was away:
// it followed a leader in an earlier and one in a later term, and nobody in between. That is not enough to believe the peer.
func (l *Lease) MayHaveLed(p task.PeerID, epoch uint64) bool {
	term := Term(epoch)
	return Tagged(epoch, p) &&
		slices.ContainsFunc(l.unseen, func(s span) bool { return s.after < term && term < s.before })
}

// Remember takes in peers that led or stood by, before Restart too.
func (l *Lease) Remember(peers ...task.PeerID) {
	for _, p := range peers {
		l.leaders = append(without(l.leaders, p), p)
	}
	l.leaders = l.leaders[max(0, len(l.leaders)-maxLed):]
}

// Remembered lists whom Remember took in, the newest last. The slice is not to be changed.
func (l *Lease) Remembered() []task.PeerID { return l.leaders }

// Settled reports whether this member has ever known of a leader.
func (l *Lease) Settled() bool { return l.settled }

// Noted reports whether a claim of a member is remembered that is not obeyed.
func (l *Lease) Noted(p task.PeerID) bool { return l.noted[p] > 0 }

// StoodDown takes in that a member says it leads no longer.
func (l *Lease) StoodDown(p task.PeerID, now time.Time) {
	delete(l.noted, p)
	if p == l.chief && !l.Leads() && !slices.Contains(l.group, l.self) {
		l.group, l.chief, l.expires = without(l.group, p), "", now.Add(gossipTime)
	}
}

// reconsider follows the best of the claims that were noted, if one is rightful by now.
func (l *Lease) reconsider(now time.Time) []LeaseEffect {
	if l.chief != "" || len(l.noted) == 0 {
		return nil
	}
	var best task.PeerID
	for _, p := range slices.Sorted(maps.Keys(l.noted)) {
		if l.rightful(p, now) && l.below(l.noted[p], p) && (best == "" || l.roll.Before(p, best)) {
			best = p
		}
	}
	if best == "" {
		return nil
	}
	return l.claim(best, best, Renewal{Epoch: l.noted[best]}, now)
}

// contest has a leader take a term above a claim that it does not obey, so that who did
// obey the claim comes back: if the one who tells of it has been known for a while, or
// is of the group, and did not do the same a moment ago.
func (l *Lease) contest(teller task.PeerID, epoch uint64, now time.Time) []LeaseEffect {
	if !l.Leads() || now.Before(l.contests.Add(contestGap)) || now.Before(l.contested[teller].Add(contestEvery)) ||
		!slices.Contains(l.group, teller) && !l.roll.Settled(teller) {
		return nil
	}
	maps.DeleteFunc(l.contested, func(_ task.PeerID, at time.Time) bool { return !now.Before(at.Add(contestEvery)) })
	l.contests, l.contested[teller] = now, now
	return l.lead(NextEpoch(epoch, l.self), now)
}
