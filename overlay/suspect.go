package overlay

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"godwit/task"
)

// The times and counts of suspicion. They are those of SWIM with Lifeguard
// (Das, Gupta and Motivala 2002; Dadgar, Phillips and Currey 2017), with longer
// probes than theirs: a probe here dials, and the peers' machines are lent,
// with all of their processor taken by tasks.
const (
	// ProbeWait is how long a suspected member has to answer on a new connection:
	// a dial and a question are four to six round trips, a second and a half
	// around the world.
	ProbeWait = 2 * time.Second
	// MaxProbeWait bounds what strain makes of ProbeWait: beyond it the leases of
	// the member's tasks run out anyway.
	MaxProbeWait = 6 * time.Second
	// IndirectWait is how long other members have to reach it: they are connected
	// to it as a rule, and need no dial.
	IndirectWait = time.Second
	// maxVia is how many others are asked. Lifeguard's memberlist asks three; two
	// suffice where a false loss costs a task's repetition, not a membership.
	maxVia = 2
	// askAgain is when a member that others reach, and this one does not, is probed
	// again.
	askAgain = 5 * time.Second
	// maxTold is how often in a row the word of others stands against this node's
	// own probes. One that cannot be reached from here is of no use here, and
	// those others may lie.
	maxTold = 3
	// maxDelays is how often a probe is repeated because its end came late: then
	// this process stood still, and the silence may be its own.
	maxDelays = 2
	// lateness is what tells a process that stood still from one that is busy.
	lateness = time.Second
	// driverGrace is how long after its wait a probe's end may be reported; one
	// that was not has failed.
	driverGrace = time.Second
	// calmAfter is how long without lateness takes one from the strain.
	calmAfter = 4 * time.Second

	// MaxBeliefs bounds the members remembered: twice those that gossip keeps. Of
	// more, the lost ones are forgotten first.
	MaxBeliefs = 8192
	// lostMemory is how long a lost member is shown: as long as an advert lives.
	lostMemory = MaxAdvertLife
)

// A Suspicion is one node's judgement of which members are still there. A broken
// connection, or requests that fail, only raise it: a probe on a new connection
// settles it, and where others are connected, they are asked too, since a slow
// answer may be this node's own fault. It is for one goroutine at a time; the
// driver carries out what its methods return, in order, and calls Tick when Next
// says.
type Suspicion struct {
	self    task.PeerID
	members map[task.PeerID]*watch
	helpers []task.PeerID // sorted
	next    time.Time     // what Next says, if not moved
	moved   bool          // a phase has changed since Next was asked

	strain  int       // own, from lateness; 0 to maxStrain
	calm    time.Time // strain falls by one each calmAfter from here
	outside int       // strain that the driver knows of
	lag     lag       // as the driver knows it

	asks    [maxAsks]time.Time // when lost members were last asked because somebody told of them
	nextAsk int                // the oldest of these
}

// A watch is what is believed of one member, and how far its probing is.
type watch struct {
	state BeliefState
	since time.Time
	by    string

	why    string // what raised the suspicion
	phase  phase
	until  time.Time     // of the phase
	wait   time.Duration // of the last probe
	probed time.Time     // when it began
	asked  []task.PeerID // while asking: who has not answered
	told   int           // rounds in a row that ended by the word of others; at most maxTold
	delays int           // phases of this suspicion whose end was late; at most maxDelays
	round  int           // of probing, so that others are asked in turn
	looks  int           // for it since it was lost
	retold time.Time     // when it was last asked, since it was lost, because somebody told of it
}

// A phase is how far the probing of a member is.
type phase uint8

const (
	quiet   phase = iota // nothing is under way
	probing              // a Probe, to the end of its wait
	asking               // an AskVia, to the end of its wait
	waiting              // others reach it: until it is probed again
	resting              // it is lost: until it is looked for again
	looking              // a Probe of one that is lost, to the end of its wait
)

// NewSuspicion returns the judgement of a node that knows of nobody.
func NewSuspicion(self task.PeerID) *Suspicion {
	return &Suspicion{self: self, members: map[task.PeerID]*watch{}}
}

// Advertised takes in that an advert of a member was heard that is news to the
// View. It makes a member known, and one that was lost there again; it settles no suspicion, since an
// advert may have been long on its way.
func (s *Suspicion) Advertised(peer task.PeerID, now time.Time) []SuspicionEffect {
	w := s.of(peer, now)
	switch {
	case w == nil || w.state == Suspected:
	case w.state == Lost:
		return s.settle(w, peer, ByAdvert, now)
	case w.by == "":
		w.by = ByAdvert
	}
	return nil
}

// Connected takes in that there is a connection to a member again, or for the
// first time. It is a new one: one that was there when a probe failed is no sign
// of life, though the network takes it for open still.
func (s *Suspicion) Connected(peer task.PeerID, now time.Time) []SuspicionEffect {
	w := s.of(peer, now)
	if w == nil {
		return nil
	}
	return s.settle(w, peer, ByConnection, now)
}

// Broke takes in that the last connection to a member broke, or that requests to
// it fail; why says which, such as "its connection broke".
func (s *Suspicion) Broke(peer task.PeerID, why string, now time.Time) []SuspicionEffect {
	w := s.of(peer, now)
	if w == nil || w.state == Lost || w.phase == probing || w.phase == asking {
		return nil
	}
	w.state, w.since, w.by, w.why = Suspected, now, ByBreak, why
	return s.probe(peer, w, now)
}

// Answered takes in a sign of life that came on a connection: the answer to a
// probe, or anything else that a member sent just now.
func (s *Suspicion) Answered(peer task.PeerID, now time.Time) []SuspicionEffect {
	w := s.members[peer]
	if w == nil || w.phase == quiet && w.by == ByConnection {
		return nil
	}
	return s.settle(w, peer, ByProbe, now)
}

// Failed takes in that a Probe ended without an answer. With refused, the dial
// was turned down at once: the machine is there and the node is not, and nobody
// else needs to be asked.
func (s *Suspicion) Failed(peer task.PeerID, refused bool, now time.Time) []SuspicionEffect {
	w := s.members[peer]
	if w != nil && w.phase == looking {
		s.lookLater(peer, w, now)
		return nil
	}
	if w == nil || w.phase != probing {
		return nil
	}
	if refused {
		return s.lose(peer, w, w.why+", and dialling it anew was refused", now)
	}
	if s.late(w, now) {
		return s.probe(peer, w, now)
	}
	return s.ask(peer, w, now)
}

// Relayed takes in what a member that was asked found out: that another is
// there, or that it is not for it either.
func (s *Suspicion) Relayed(peer, via task.PeerID, there bool, now time.Time) []SuspicionEffect {
	w := s.members[peer]
	if w == nil || w.phase != asking || !slices.Contains(w.asked, via) {
		return nil
	}
	if there {
		return s.vouched(peer, via, w, now)
	}
	w.asked = without(w.asked, via)
	if len(w.asked) > 0 {
		return nil
	}
	return s.lose(peer, w, w.silence()+", and others do not reach it either", now)
}

// Helpers says which members are connected and may be asked. The slice is not
// kept.
func (s *Suspicion) Helpers(peers []task.PeerID) {
	s.helpers = slices.Clone(peers[:min(len(peers), MaxBeliefs)])
	slices.Sort(s.helpers)
}

// Strained takes in how starved of processor this process is by another measure,
// such as Lease.Strain: it stands as long as it is not said otherwise.
func (s *Suspicion) Strained(strain int) { s.outside = min(max(strain, 0), maxStrain) }

// Lagged takes in by how much this process comes late to what is due, such as Lease.Lag: whoever is
// asked gets as much longer. It stands as long as it is not said otherwise.
func (s *Suspicion) Lagged(by time.Duration) { s.lag = lag(min(max(by, 0), RenewEvery)) }

// waits is how long an answer may take: as long as it does where nobody starves, and what this
// process's own lag adds.
func (s *Suspicion) waits(usual time.Duration) time.Duration {
	return min(usual+s.lag.allowance(), MaxProbeWait)
}

// Forget removes a member that left, or whose adverts expired, from the table. A
// suspicion of it is dropped with it.
func (s *Suspicion) Forget(peer task.PeerID) {
	delete(s.members, peer)
	s.moved = true
}

// Beliefs returns what is believed of every member, sorted by peer ID. The slice
// is the caller's.
func (s *Suspicion) Beliefs() []Belief {
	out := make([]Belief, 0, len(s.members))
	for peer, w := range s.members {
		out = append(out, Belief{Peer: peer, State: w.state, Since: w.since, By: w.by})
	}
	slices.SortFunc(out, func(a, b Belief) int { return cmp.Compare(a.Peer, b.Peer) })
	return out
}

// probe begins a round.
func (s *Suspicion) probe(peer task.PeerID, w *watch, now time.Time) []SuspicionEffect {
	s.relax(now)
	wait := s.waits(ProbeWait * time.Duration(1+max(s.strain, s.outside)))
	w.phase, w.until, w.wait, w.probed, w.asked = probing, now.Add(wait), wait, now, nil
	s.moved = true
	w.round++
	return []SuspicionEffect{Probe{Peer: peer, Wait: wait}}
}

// ask has others try, or ends the suspicion where there are none.
func (s *Suspicion) ask(peer task.PeerID, w *watch, now time.Time) []SuspicionEffect {
	via := s.choose(peer, w.round)
	if len(via) == 0 {
		return s.lose(peer, w, w.silence()+", and nobody else is there to ask", now)
	}
	if w.told == maxTold {
		return s.lose(peer, w, w.silence()+", though others said they reach it", now)
	}
	wait := s.waits(IndirectWait)
	w.phase, w.until, w.asked, s.moved = asking, now.Add(wait), via, true
	return []SuspicionEffect{AskVia{Peer: peer, Via: slices.Clone(via), Wait: wait}}
}

// vouched takes another's word that a member is there, for now. That a probe of
// this node failed all the same speaks against this node: Lifeguard's rule.
func (s *Suspicion) vouched(peer, via task.PeerID, w *watch, now time.Time) []SuspicionEffect {
	s.strained(now)
	told, delays := w.told, w.delays
	effects := s.settle(w, peer, "told by "+string(via), now)
	w.phase, w.until, w.told, w.delays, s.moved = waiting, now.Add(askAgain), told+1, delays, true
	return effects
}

// choose picks helpers for a round, others each round and for each member, by
// hashes of their names.
func (s *Suspicion) choose(peer task.PeerID, round int) []task.PeerID {
	type drawn struct {
		peer task.PeerID
		at   [sha256.Size]byte
	}
	out := make([]drawn, 0, len(s.helpers))
	name := fmt.Appendf(nil, "%s %s %d ", s.self, peer, round)
	n := len(name)
	for _, h := range s.helpers {
		if w := s.members[h]; h == s.self || h == peer || w != nil && w.state != There {
			continue
		}
		name = append(name[:n], h...)
		out = append(out, drawn{h, sha256.Sum256(name)})
	}
	slices.SortFunc(out, func(a, b drawn) int { return slices.Compare(a.at[:], b.at[:]) })
	via := make([]task.PeerID, 0, maxVia)
	for _, d := range out[:min(len(out), maxVia)] {
		via = append(via, d.peer)
	}
	return via
}

// settle ends a suspicion, or a loss: the member is there.
func (s *Suspicion) settle(w *watch, peer task.PeerID, by string, now time.Time) []SuspicionEffect {
	was := w.state
	s.moved = s.moved || w.phase != quiet
	if was != There {
		w.since = now
	}
	w.state, w.by, w.phase, w.asked, w.told, w.delays = There, by, quiet, nil, 0, 0
	if was == There {
		return nil
	}
	return []SuspicionEffect{Alive{Peer: peer, By: by}}
}

// silence is what its probe has shown.
func (w *watch) silence() string {
	return fmt.Sprintf("%s, it did not answer within %v", w.why, w.wait)
}

// lose ends a suspicion: the member is lost, until it is looked for again.
func (s *Suspicion) lose(peer task.PeerID, w *watch, reason string, now time.Time) []SuspicionEffect {
	w.state, w.since, w.by, w.asked, w.told, w.delays, w.looks = Lost, now, ByProbe, nil, 0, 0, 0
	w.retold = time.Time{}
	s.lookLater(peer, w, now)
	return []SuspicionEffect{DeclareLost{Peer: peer, Reason: reason, Probed: w.probed}}
}
