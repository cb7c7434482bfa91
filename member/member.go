package member

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
	"godwit/task"
)

// A Machine is one of the scheduler's.
type Machine interface {
	Step(now time.Time, ev message.Event) []message.Effect
	NextWake() (time.Time, bool)
}

// A Member is a peer's part in one overlay. Make it with NewMember; the Peer that it
// belongs to gives it what happens.
type Member struct {
	p        *Peer
	id       overlay.ID
	manifest overlay.Manifest // the version followed
	pass     []byte           // what admits this peer; nil where none is needed

	roster
	election
	adverts
	slots
	cells

	worker    *worker.Worker
	submitter *submitter.Submitter

	// Driver is whatever the driver keeps of the member; the member does not look at it.
	Driver any

	heard   message.Received // what its machines are told now
	opened  *task.Opened     // its machines'
	leaving bool             // said goodbye
	out     bool             // is no member any more
	asking  bool             // for newer rules
}

// NewMember returns a part in an overlay for a peer, with machines that know nothing
// yet: Restore gives them what was durable. The peer has it take part once Enter is
// called. pass is what admits the peer; nil where none is needed.
func NewMember(p *Peer, manifest overlay.Manifest, pass []byte, cfg scheduler.Config) *Member {
	id, self := manifest.ID(), p.cfg.Self
	cfg.Submitter.Receipts, cfg.Submitter.Signs, cfg.Signed = !p.cfg.Unsigned, !p.cfg.Unsigned, !p.cfg.Unsigned
	if !p.cfg.Unsigned {
		cfg.Overlay = string(id)
	}
	cfg.Submitter.Pool, cfg.Submitter.Strangers = Assumed(manifest.Admission)
	m := &Member{
		p: p, id: id, manifest: manifest, pass: pass,
		roster: newRoster(id),
		worker: worker.New(self, cfg.Timing, cfg.Worker),
	}
	if cfg.Opened == nil {
		cfg.Opened = &task.Opened{}
	}
	m.opened, cfg.Submitter.Opened = cfg.Opened, cfg.Opened
	cfg.Submitter.Where, cfg.Submitter.Coordinators = &m.roster, m
	cfg.Submitter.Evidence = evidence{m}
	m.submitter = submitter.New(self, cfg.Timing, cfg.Submitter, p.cfg.Key)
	if !p.cfg.Unsigned {
		cfg.Key = p.cfg.Key
	}
	m.replica = scheduler.NewReplica(self, cfg)
	m.worker.SignWith(worker.Signing{Sign: p.cfg.SignResult, Together: m.readTogether})
	m.view.SetManifest(manifest)
	m.cells = cells{m: m, number: overlay.CellNumber(id, self), descent: descent{entered: p.now}}
	return m
}

// ID returns the overlay's ID.
func (m *Member) ID() overlay.ID { return m.id }

// Manifest returns the rules of the overlay that are followed. It is read only.
func (m *Member) Manifest() *overlay.Manifest { return &m.manifest }

// Pass returns what admits this peer; nil where none is needed. It is read only.
func (m *Member) Pass() []byte { return m.pass }

// Worker returns the machine that runs tasks.
func (m *Member) Worker() *worker.Worker { return m.worker }

// Submitter returns the machine that keeps the jobs of the peer's owner.
func (m *Member) Submitter() *submitter.Submitter { return m.submitter }

// Has reports whether a machine is still one of the member's: an answer may come for
// one that has given its place to another.
func (m *Member) Has(to Machine) bool {
	switch to := to.(type) {
	case *scheduler.Coordinator:
		return to == m.coordinator
	case *scheduler.Replica:
		return to == m.replica
	}
	return true
}

func (m *Member) step(to Machine, ev message.Event) {
	if m.Has(to) {
		m.do(to, to.Step(m.p.now, ev))
	}
	if to == Machine(m.submitter) {
		m.refuse(submitter.Proven(m.submitter, true))
	}
}

// refuse has workers get no lease from here that were proven wrong to this node: what its own submitter saw
// alone counts.
func (m *Member) refuse(workers []message.Proven) {
	if m.coordinator == nil {
		return
	}
	for i := range workers {
		m.step(m.coordinator, workers[i])
	}
}

func (m *Member) do(from Machine, effects []message.Effect) {
	if len(effects) > 0 {
		m.greet(effects)
		m.p.emit(m.p.do(Do{Of: m, From: from, Effects: effects}))
	}
}

// tell gives an event to every machine; each takes what is its business.
func (m *Member) tell(ev message.Event) {
	m.step(m.Role(), ev)
	m.step(m.worker, ev)
	m.step(m.submitter, ev)
}
