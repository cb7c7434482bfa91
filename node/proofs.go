package node

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/node/informant"
	"godwit/overlay"
	"godwit/scheduler/submitter"
	"godwit/task"
	"godwit/task/referee"
)

// methodProofs asks a member what it has seen to be wrong: a proofsQuery, answered with a proofsAnswer.
const methodProofs = "proofs"

type proofsQuery struct {
	Overlay overlay.ID `json:"overlay"`
	// Parts says that the asker reads proofs of parts, too: nodes of before do not.
	Parts bool `json:"parts,omitempty"`
	// States says that it reads proofs of states of runs that have no result, too.
	States bool `json:"states,omitempty"`
}

// A proofsAnswer has statements, encoded: what the member's own submitter found, and what it was shown
// and saw itself.
type proofsAnswer struct {
	Statements [][]byte `json:"statements"` // at most maxProofs, each of at most referee.MaxStatement bytes
}

const (
	// maxProofs bounds the statements of one answer, and those of others that are kept.
	maxProofs = 16
	// askProofsEvery is how often one member, drawn anew each time, is asked; a tenth more or less.
	// What one knows, a thousand know after about ten times this.
	askProofsEvery = 10 * time.Minute
	// proofShare is how many times longer than a statement took to check none is looked at after it:
	// so no flood of them takes more than a twentieth of a core.
	proofShare = 19
	// maxTried bounds the statements that are remembered. Beyond that all are forgotten, and a statement that was checked
	// is checked again, within its share.
	maxTried = 1024
)

// proofs are what other members show of workers that were wrong. All of it is soft: after a restart it
// is asked for again. The loop owns it.
type proofs struct {
	*driver
	overlays *overlays
	askAt    time.Time // when the next member is asked
	checking bool
	seen     []shown                    // what was found right here, the newest last; at most maxProofs
	tried    map[[sha256.Size]byte]bool // statements that were looked at
	checked  map[referee.Verdict]int    // how many statements came to what
	choice   informant.Choice           // of the member that is queried next
}

// A shown is a statement in an overlay that this node has seen to be right.
type shown struct {
	in        overlay.ID
	statement []byte
	part      bool // it is of a part alone
	state     bool // it is of a state of a run that has no result
	sealed    bool // its job is
}

func newProofs(d *driver, o *overlays) *proofs {
	return &proofs{driver: d, overlays: o, tried: map[[sha256.Size]byte]bool{},
		checked: map[referee.Verdict]int{}}
}

// askIfDue asks one member of one overlay.
func (p *proofs) askIfDue(now time.Time) {
	if p.checking {
		return
	}
	p.accuseNext()
	if p.checking || p.askAt.After(now) {
		return
	}
	first := p.askAt.IsZero()
	p.askAt = now.Add(askProofsEvery - askProofsEvery/10 + rand.N(askProofsEvery/5))
	if first {
		return // nobody is known yet
	}
	m, peer := p.choose(now)
	if m == nil {
		return
	}
	body, err := json.Marshal(proofsQuery{m.id, true, true})
	if err != nil {
		return
	}
	p.spawn(func() {
		ctx, cancel := context.WithTimeout(p.tasks, queryTimeout)
		defer cancel()
		var a proofsAnswer
		b, err := p.net.Request(ctx, peer, methodProofs, body)
		if err == nil {
			a, err = readProofs(b)
		}
		if err != nil {
			p.log.Debug("a member shows no proofs", "peer", peer, "err", err)
			p.post(post{call: func() { p.choice.Useless(peer, p.now()) }})
			return
		}
		p.post(post{call: func() { p.consider(m, peer, a.Statements) }})
	})
}

// readProofs reads an answer of a peer.
func readProofs(b []byte) (proofsAnswer, error) {
	var a proofsAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("reading proofs: %w", err)
	}
	if len(a.Statements) > maxProofs {
		return a, fmt.Errorf("reading proofs: %d statements, the most is %d", len(a.Statements), maxProofs)
	}
	for _, s := range a.Statements {
		if len(s) > referee.MaxStatement {
			return a, fmt.Errorf("reading proofs: a statement of %d bytes", len(s))
		}
	}
	return a, nil
}

// hint notes the author of a trust report that refuses a worker which is not refused here: it may have a proof.
func (p *proofs) hint(m *membership, tally *task.Tally) {
	if slices.ContainsFunc(tally.Rows, func(r task.TallyRow) bool {
		return r.Refused && r.Worker != p.self && !m.Submitter().Refuses(r.Worker)
	}) {
		p.choice.Hint(informant.Member{Overlay: m.id, Peer: tally.Teller}, p.now())
	}
}

// choose returns the member that is queried next for proofs, and its overlay; nil if nobody can be queried.
func (p *proofs) choose(now time.Time) (*membership, task.PeerID) {
	next, hinted := p.choice.Hinted(now, func(i informant.Member) bool {
		m := p.overlays.members[i.Overlay]
		return m != nil && !m.IsOut() && p.member(m, i.Peer)
	})
	if !hinted {
		return p.random(now)
	}
	return p.overlays.members[next.Overlay], next.Peer
}

// random returns a random member that can be queried, and its overlay; nil if nobody can be queried.
func (p *proofs) random(now time.Time) (*membership, task.PeerID) {
	next, any := p.choice.Random(p.queryable(), now)
	if !any {
		return nil, ""
	}
	return p.overlays.members[next.Overlay], next.Peer
}

// queryable returns the members of all overlays, without this node and those that it refuses.
func (p *proofs) queryable() (all []informant.Member) {
	for _, m := range p.ordered() {
		if m.IsOut() {
			continue
		}
		for _, a := range m.View().Members() {
			if a.Peer != p.self && !m.Submitter().Refuses(a.Peer) {
				all = append(all, informant.Member{Overlay: m.id, Peer: a.Peer})
			}
		}
	}
	return all
}

// answerProofs tells a member what this node has seen to be wrong.
func (p *proofs) answerProofs(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q proofsQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	var a proofsAnswer
	var own []task.TaskID
	var in *membership
	records := map[task.JobID]task.Record{}
	known := false
	if err := p.doOf(ctx, from, func() {
		m := p.overlays.members[q.Overlay]
		if known = m != nil && p.member(m, from); !known {
			return
		}
		coordinates := m.coordinates(from)
		in, own = m, m.Submitter().FoundWrong(maxProofs, coordinates)
		for _, id := range own {
			records[id.Job], _ = m.Submitter().Record(id.Job)
		}
		for _, s := range p.seen {
			if s.in == q.Overlay && (q.Parts || !s.part) && (q.States || !s.state) && (coordinates || !s.sealed) {
				a.Statements = append(a.Statements, s.statement)
			}
		}
	}); err != nil {
		return nil, err
	}
	if !known {
		return nil, errNoMember
	}
	for _, id := range own {
		if b := p.statement(ctx, in, id, records[id.Job], q.Parts); b != nil {
			a.Statements = append(a.Statements, b)
		}
	}
	a.Statements = a.Statements[:min(len(a.Statements), maxProofs)]
	return json.Marshal(a)
}

// statement is what this node shows of a result that it found wrong; nil where it has nothing to show. Of a
// part that is wrong the state before it may be fetched from then on.
func (p *proofs) statement(ctx context.Context, m *membership, id task.TaskID, rec task.Record,
	parts bool) []byte {
	held, err := p.store.heldResult(ctx, m.prefix, submitter.ResultKey(id.Job, id.Index), nil)
	if err != nil || held.Refuted == nil {
		return nil
	}
	rec.Key = nil // who may be told has it
	s := referee.Statement{Record: rec, Result: held.Refuted.Result}
	if of := s.Result.Task.Job; of != id.Job { // it was taken from another job
		known := false
		if err := p.do(ctx, func() { s.Record, known = m.Submitter().Record(of) }); err != nil || !known {
			return nil
		}
		s.Record.Key = nil
	}
	if parts {
		s.Part = held.Refuted.Proof
	}
	if held.Refuted.By == "" || s.Part == nil && held.Refuted.By != s.Result.Worker {
		return nil
	}
	b, err := s.Encode()
	if err != nil {
		return nil
	}
	if c := s.Result.StateOf(s.Part); c != "" {
		m.holds(c)
	}
	return b
}

// coordinates reports whether a peer is one of the overlay's coordinators, as far as is known here: those have the
// keys of sealed jobs, and nobody else is told of what is wrong with these.
func (m *membership) coordinates(peer task.PeerID) bool { return slices.Contains(m.Group(), peer) }

// sealed reports whether the job of a statement that was checked is.
func sealed(s *referee.Statement) bool {
	spec, err := s.Record.Open()
	return err != nil || len(spec.Sealed) > 0
}

// member reports whether a peer is a member of an overlay, by its advert.
func (p *proofs) member(m *membership, peer task.PeerID) bool {
	_, is := m.View().Member(peer)
	return is && m.Admits(peer)
}

// consider looks at one statement of a member's that is news.
func (p *proofs) consider(m *membership, teller task.PeerID, statements [][]byte) {
	if p.checking || m.IsOut() {
		return
	}
	for _, i := range rand.Perm(len(statements)) {
		b := statements[i]
		sum := sha256.Sum256(b)
		if p.tried[sum] {
			continue
		}
		if len(p.tried) >= maxTried {
			clear(p.tried)
		}
		p.tried[sum] = true
		s, err := referee.Decode(b)
		if err == nil && p.known(m, &s) {
			continue
		}
		p.checking = true
		p.check(m, teller, b, &s, err)
		return
	}
	p.choice.Useless(teller, p.now())
}

// known reports whether a statement, of which nothing is verified, is of a worker that is refused here in any
// case, or of this node's own.
func (p *proofs) known(m *membership, s *referee.Statement) bool {
	by := s.Result.Worker
	if spec, err := s.Record.Open(); err == nil {
		by = s.By(spec.Spacing())
	}
	return m.Submitter().Refuses(by) || by == p.self
}

// came takes in what a statement came to.
func (p *proofs) came(m *membership, teller task.PeerID, b []byte, s *referee.Statement, f referee.Finding,
	took time.Duration) {
	now := p.now()
	p.checking = false
	p.checked[f.Verdict]++
	if at := now.Add(proofShare * took); at.After(p.askAt) {
		p.askAt = at
	}
	signed, _ := s.Claim()
	log := p.log.With("teller", teller, "worker", signed.Worker, "by", f.By, "task", s.Result.Task.String(),
		"why", f.Why)
	switch {
	case f.Verdict == referee.Proven && teller == p.self:
		log.Info("a replica was wrong on the way: its worker is shown to others")
		p.saw(m, b, s, &f)
	case teller == p.self:
		log.Debug("that a replica was wrong on the way cannot be shown to others")
	case f.Verdict == referee.Nothing:
		p.choice.Silence(teller, now)
		log.Warn("a member showed what proves nothing: it is not asked for a week")
	case f.Verdict == referee.Proven:
		log.Info("a member showed that a worker was wrong, and it is: its results are not taken any more")
		p.choice.Proven(teller)
		p.saw(m, b, s, &f)
	default:
		log.Debug("what a member showed cannot be told here")
		if p.choice.Open(teller, now) {
			log.Warn("checks of a member's proofs reached no verdict: ignoring the member for a week")
		}
	}
}

// saw notes that a worker was wrong, by a statement that this node has looked at.
func (p *proofs) saw(m *membership, b []byte, s *referee.Statement, f *referee.Finding) {
	p.seen = append(p.seen, shown{m.id, slices.Clone(b), s.Part != nil, len(s.Chain) > 0, sealed(s)})
	p.seen = p.seen[max(0, len(p.seen)-maxProofs):]
	if !m.IsOut() {
		m.proven(s.Result.Task, f.By, f.Why)
	}
}
