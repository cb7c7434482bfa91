package overlay

import (
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// The lease's times (docs/spec/predictors.md section 5.2). A crash heals within LeaseTime
// and the delay of a message, for the first who stands by.
const (
	RenewEvery = time.Second
	// LeaseTime lets two renewals be lost, and the third be late by a quarter of a
	// second more than the first. Half of all crashes heal within LeaseTime less
	// half of RenewEvery.
	LeaseTime = 3*RenewEvery + RenewEvery/4
	// Evident is how late a renewal may be, and how long a leader has at least,
	// once its connection broke and it did not answer on a new one. A leader that
	// is there after all renews within RenewEvery and the delay of a message.
	Evident = 500 * time.Millisecond
	// Stagger is how much later each further member that stands by takes over,
	// so that the one before it is heard first.
	Stagger = time.Second
	// HandOverWait is how long an offer of leadership is left open before the
	// next member gets one: two round trips across the world, and short enough
	// that a goodbye survives one member that does not answer.
	HandOverWait = 400 * time.Millisecond
	// Settle is how long a leader leads before it hands over only because its view
	// of the group says so: two members whose views differ for as long as gossip
	// takes do not send the leadership to and fro meanwhile.
	Settle = 30 * time.Second
	// yieldWait is how much later one takes over that would rather not: the next,
	// if it would, comes before it. More waiting would only leave the overlay
	// without a leader: who leads and would rather not hands over in a round trip.
	yieldWait = Stagger + Stagger/2
	// gossipTime is how long those outside a group whose leader is lost wait to
	// hear who took over: a lease, the turns of two, and an advert's way, which is
	// relayed at once. With it a new group is there within 15 s if all of the old
	// crash, and the loss is noticed within 4 s.
	gossipTime = LeaseTime + 5*time.Second
	// suspectAfter is when a leader's silence is spoken of: two renewals missed.
	suspectAfter = 2*RenewEvery + RenewEvery/2
	// maxStrain bounds how far a starved member's patience grows, in RenewEverys.
	maxStrain = 4
)

// A Lease is one member's part in who leads a group of coordinators. It is for
// one goroutine at a time; the driver carries out what its methods return, and
// calls Tick when Next says.
//
// There is no vote. A leader leads until it goes, hands over or hears of a
// higher epoch, however many it reaches: a network that splits has a leader on
// each side, each in epochs of its own, and when they hear of one another again
// the lower steps down. Epochs fence what it still sends; ledgers merge.
type Lease struct {
	self  task.PeerID
	epoch uint64      // highest known
	chief task.PeerID // who leads in it; empty: not known
	group []task.PeerID
	view  []task.PeerID // the group by this member's own view, for when nobody leads

	expires time.Time // the chief's lease, or the time to wait for a first one
	renewed time.Time // when the chief was last heard
	ticked  time.Time
	health

	led    time.Time // since when this member leads
	renew  time.Time // when this leader renews next
	heard  map[task.PeerID]time.Time
	silent map[task.PeerID]bool // Suspect was said
	// dropped are members that this leader took out of its group: they would take
	// over if a renewal did not say so. For a while they get all, lest one is lost.
	dropped []drop
	offer   offer
	yields  bool // would rather not lead
	gone    bool // said goodbye

	roll      Roll
	settled   bool                      // has known of a leader
	last      task.PeerID               // who led when it was lost; empty for nobody
	noted     map[task.PeerID]uint64    // claims not obeyed, at most maxNoted
	contested map[task.PeerID]time.Time // who made this leader take a later term, within contestEvery
	contests  time.Time                 // when somebody last did
	leaders   []task.PeerID             // leaders and their groups, the newest last, at most maxLed
	followed  []uint64                  // epochs that this member led or followed in, the newest last, at most maxLed
	unseen    []span                    // terms that this member cannot have seen, the newest last, at most maxUnseen
}

// A health is how starved of processor this member has been.
type health struct {
	strain int       // to maxStrain
	calm   time.Time // strain falls by one a LeaseTime later
	lag    lag       // by how much it is late each time
}

// A drop is a member to be told that it is out, until some time.
type drop struct {
	peer  task.PeerID
	until time.Time
}

// An offer of the leadership that is open.
type offer struct {
	open  bool
	to    task.PeerID
	epoch uint64
	until time.Time // and, without one open, when to try again
	tried []task.PeerID
}

// NewLease returns the lease of a member that starts at now and has seen epochs
// up to epoch, in its store or in its ledger. It waits for LeaseTime to hear of
// a leader; see Found.
func NewLease(self task.PeerID, epoch uint64, now time.Time) *Lease {
	return &Lease{
		self: self, epoch: epoch, expires: now.Add(LeaseTime), ticked: now, health: health{calm: now},
		heard: map[task.PeerID]time.Time{}, silent: map[task.PeerID]bool{},
		roll: everybody{}, noted: map[task.PeerID]uint64{}, contested: map[task.PeerID]time.Time{},
	}
}

// Leader returns who is known to lead and the highest epoch known. The leader is
// empty when none is.
func (l *Lease) Leader() (task.PeerID, uint64) { return l.chief, l.epoch }

// Leads says whether this member leads.
func (l *Lease) Leads() bool { return l.chief == l.self }

// Group returns the group as its leader last said, the leader first. The slice
// is not to be changed.
func (l *Lease) Group() []task.PeerID { return l.group }

// Found has this member lead without waiting: it founded the overlay.
func (l *Lease) Found(now time.Time) []LeaseEffect {
	if l.Leads() || l.gone {
		return nil
	}
	return l.lead(NextEpoch(l.epoch, l.self), now)
}

// Heard takes in a renewal that from sent, which the driver has authenticated.
func (l *Lease) Heard(from task.PeerID, r Renewal, now time.Time) []LeaseEffect {
	if from == l.self || len(r.Group) == 0 || len(r.Group) > MaxGroup || r.Group[0] != from ||
		!possible(r.Epoch, from, now) {
		return nil
	}
	if from == l.chief && r.Epoch == l.epoch {
		if !slices.Equal(l.group, r.Group) {
			l.group = r.Group
			l.Remember(r.Group...)
		}
		l.renewed, l.expires = now, now.Add(LeaseTime)
		delete(l.silent, from)
		return nil
	}
	if !l.below(r.Epoch, from) {
		return l.refuse(from)
	}
	return l.claim(from, from, r, now)
}

// Claimed takes in that an advert of a member says it leads, and with whom. It is how
// leaders whose groups have nobody in common hear of one another, how one hears of a
// higher epoch in which nobody leads any more, and how those outside the group learn
// who would take over.
func (l *Lease) Claimed(leader task.PeerID, r Renewal, now time.Time) []LeaseEffect {
	if leader == l.self || len(r.Group) > MaxGroup || !possible(r.Epoch, leader, now) {
		return nil
	}
	if leader == l.chief && r.Epoch == l.epoch {
		if len(r.Group) > 0 && !slices.Contains(l.group, l.self) { // to those in it, renewals say it sooner
			l.group = r.Group
			l.Remember(r.Group...)
			l.renewed, l.expires = now, now.Add(LeaseTime) // it may be of the group from now on
		}
		return nil
	}
	if r.Epoch < l.epoch {
		return l.refuse(leader) // nobody may be left who leads in the higher one
	}
	if !l.below(r.Epoch, leader) {
		return nil
	}
	return l.claim(leader, leader, r, now)
}

// Lost takes in that a member is no longer in the view: its connection broke and
// it does not answer, or its adverts expired. For those outside the group, to
// whom the leader renews nothing, this is what ends its lease. For those in it,
// it is evidence that shortens the leader's lease: to Evident from now, and not
// before its next renewal is overdue by as much. A renewal that comes all the same
// restores it, so that a false alarm does no harm.
func (l *Lease) Lost(peer task.PeerID, now time.Time) {
	delete(l.noted, peer)
	if peer != l.chief || l.Leads() {
		return
	}
	if !slices.Contains(l.group, l.self) {
		l.group, l.chief, l.last, l.expires = without(l.group, peer), "", peer, now.Add(gossipTime)
		return
	}
	l.silent[peer] = true // nobody needs to ask after it
	soon := later(now, l.renewed.Add(RenewEvery)).Add(Evident)
	l.expires = earlier(soon, l.expires)
}

// Strain returns how starved of processor this member's process has been of
// late: 0 for not at all, at most 4. It is for Suspicion.Strained.
func (l *Lease) Strain() int { return l.strain }

// Lag returns by how much this member's process comes late to what is due, of late: less than
// RenewEvery, and 0 where it hardly does. It is for Suspicion.Lagged.
func (l *Lease) Lag() time.Duration { return time.Duration(l.lag) }

// RenewWait is how long a member has to take a renewal: RenewEvery, and longer, but less than
// LeaseTime, where this member's process is late each time: then the answer is, too.
func (l *Lease) RenewWait() time.Duration {
	return min(RenewEvery+l.lag.allowance(), LeaseTime-RenewEvery/4)
}

// Refused takes in that from knows of a higher epoch, in which leader leads; nobody, if
// that is empty. A leader that would not have it so takes one above.
func (l *Lease) Refused(from, leader task.PeerID, epoch uint64, now time.Time) []LeaseEffect {
	switch {
	case from == l.self || epoch < l.epoch || !l.roll.MayLead(from) && !slices.Contains(l.group, from):
		return nil
	case leader == "" || leader == l.self:
		if epoch == l.epoch || !inTime(epoch, now) {
			return nil
		}
		return l.contest(from, epoch, now)
	case !possible(epoch, leader, now) || !l.below(epoch, leader):
		return nil
	}
	return l.claim(leader, from, Renewal{Epoch: epoch}, now)
}

// Handed takes in that a leader offers its leadership. A member that is going lets the
// offer pass, and so does one that would rather not lead, unless the leader goes: then it
// leads until another takes it over, for all that are asked may be of its mind.
func (l *Lease) Handed(from task.PeerID, r Renewal, now time.Time) []LeaseEffect {
	goes := !slices.Contains(r.Group, from)
	if from == l.self || !possible(r.Epoch, l.self, now) || r.Epoch <= l.epoch || len(r.Group) > MaxGroup || l.gone ||
		l.yields && !goes || from != l.chief && !l.rightful(from, now) {
		return nil
	}
	l.group = r.Group
	effects := l.lead(r.Epoch, now)
	if goes { // it waits to hear that it may
		effects = append(effects, SendRenewal{To: []task.PeerID{from}, Renewal: l.renewal()})
	}
	return effects
}

// Acked takes in that a member answered a renewal.
func (l *Lease) Acked(from task.PeerID, now time.Time) {
	if l.Leads() && slices.Contains(l.group, from) {
		l.heard[from] = now
		delete(l.silent, from)
	}
}

// GroupChanged takes in the group by this member's own view. To a leader it says
// what the group is, by Regroup from Group; when that has another first, because
// this member is going or no longer good enough, it hands over, if it has led for
// Settle. To others the view matters when nobody leads.
func (l *Lease) GroupChanged(group []task.PeerID, now time.Time) []LeaseEffect {
	l.view = slices.Clone(group[:min(len(group), MaxGroup)])
	if !l.Leads() || len(group) == 0 {
		return nil
	}
	l.regroup(l.view, MaxGroup, now)
	if l.offer.open || now.Before(l.offer.until) || !l.unwanted(now) {
		return nil
	}
	return l.offerTo("", now)
}

// HandOver offers the leadership to a member; to the next in the group if it is
// empty. Until it is taken, this member leads.
func (l *Lease) HandOver(to task.PeerID, now time.Time) []LeaseEffect {
	if !l.Leads() {
		return nil
	}
	l.offer = offer{}
	return l.offerTo(to, now)
}

// Yield says that this member would rather not lead: its owner is back, or its
// forecast is bad. It hands over, and takes over only when nobody else does.
func (l *Lease) Yield(now time.Time) []LeaseEffect {
	if l.yields {
		return nil
	}
	l.yields = true
	return l.HandOver("", now)
}

// Stand takes a Yield back. Nobody hands over for that.
func (l *Lease) Stand() { l.yields = false }

// Goodbye says that this member goes. A leader hands over and may go once it was
// told to StepDown, which takes a round trip; it never leads again.
func (l *Lease) Goodbye(now time.Time) []LeaseEffect {
	l.yields, l.gone = true, true
	return l.HandOver("", now)
}

// below says whether what this member knows is below an epoch of a leader. Two
// leaders in one epoch are what tags all but rule out; the smaller ID has it.
func (l *Lease) below(epoch uint64, leader task.PeerID) bool {
	return epoch > l.epoch || epoch == l.epoch && (l.chief == "" || leader < l.chief)
}

// refuse answers one that does not know what this member knows.
func (l *Lease) refuse(to task.PeerID) []LeaseEffect {
	if l.Leads() {
		return []LeaseEffect{SendRenewal{To: []task.PeerID{to}, Renewal: l.renewal()}}
	}
	return []LeaseEffect{Refuse{To: to, Leader: l.chief, Epoch: l.epoch}}
}

// follow takes a leader in an epoch that is above what was known.
func (l *Lease) follow(leader task.PeerID, epoch uint64, now time.Time) []LeaseEffect {
	effects := []LeaseEffect{Follow{Leader: leader, Epoch: epoch}}
	if l.Leads() {
		reason := Outranked
		if l.offer.open && slices.Contains(l.offer.tried, leader) {
			reason = HandedOver
		}
		effects = []LeaseEffect{StepDown{To: leader, Epoch: epoch, Reason: reason}}
	}
	l.offer, l.settled = offer{}, true
	maps.DeleteFunc(l.noted, func(_ task.PeerID, e uint64) bool { return e <= epoch })
	l.skip(epoch)
	l.Follows(epoch)
	l.epoch, l.chief, l.renewed, l.expires = epoch, leader, now, now.Add(LeaseTime)
	l.Remember(append([]task.PeerID{leader}, l.group...)...)
	clear(l.heard)
	clear(l.silent)
	return effects
}

// lead takes the leadership in an epoch.
func (l *Lease) lead(epoch uint64, now time.Time) []LeaseEffect {
	l.epoch, l.chief, l.offer, l.led, l.settled = epoch, l.self, offer{}, now, true
	l.Follows(epoch)
	clear(l.heard)
	clear(l.silent)
	l.dropped = nil
	group := append(slices.Clone(l.group), l.view...)
	l.regroup(group, max(len(l.group), len(l.view)), now)
	l.view = l.group // until the next: the last was of another leader
	l.Remember(l.group...)
	return append([]LeaseEffect{BecomeLeader{l.renewal()}}, l.send(now)...)
}

// regroup sets the group of this leader, which is its first: of those in group,
// as many as are wanted. Who was in it and is not now gets renewals for a while
// longer.
func (l *Lease) regroup(group []task.PeerID, want int, now time.Time) {
	old := l.group
	l.group = []task.PeerID{l.self}
	for _, p := range group {
		if slices.Contains(l.group, p) || len(l.group) >= min(want, MaxGroup) {
			continue
		}
		l.group = append(l.group, p)
		if _, ok := l.heard[p]; !ok {
			l.heard[p] = now
		}
	}
	l.dropped = slices.DeleteFunc(l.dropped, func(d drop) bool { return slices.Contains(l.group, d.peer) })
	for _, p := range old {
		if !slices.Contains(l.group, p) {
			delete(l.heard, p)
			delete(l.silent, p)
			l.dropped = append(l.dropped, drop{p, now.Add(2 * LeaseTime)})
		}
	}
}

func (l *Lease) renewal() Renewal { return Renewal{Epoch: l.epoch, Group: l.group} }

// send renews the lease with all others.
func (l *Lease) send(now time.Time) []LeaseEffect {
	l.renew = now.Add(RenewEvery)
	l.dropped = slices.DeleteFunc(l.dropped, func(d drop) bool { return !d.until.After(now) })
	to := slices.Clone(l.group[1:])
	for _, d := range l.dropped {
		to = append(to, d.peer)
	}
	if len(to) == 0 {
		return nil
	}
	return []LeaseEffect{SendRenewal{To: to, Renewal: l.renewal()}}
}
