package scheduler

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/place"
	"godwit/task"
)

// Durable keys of the Coordinator: its epoch, and the ledger's pairs.
const (
	coordinatorPrefix = "c/"
	epochKey          = coordinatorPrefix + "epoch"
)

// maxEpochJump bounds how far a stranger's report can push the epoch, so that
// it never runs out: it takes 2^32 such reports.
const maxEpochJump = 1 << 32

// A Coordinator leads an overlay: it keeps the ledger, gives out leases and
// takes in results.
type Coordinator struct {
	self     task.PeerID
	cfg      Config
	epoch    uint64 // this term; larger than that of any lease given before it
	seq      uint64 // attempts numbered in this term
	policy   place.Policy
	forecast place.Forecast

	ledger  *ledger.Ledger
	jobs    map[task.JobID]*job
	queue   []*job // open jobs with waiting tasks, in the order of comesBefore
	arrived uint64 // jobs ever taken in
	hosts   map[task.PeerID]*host
	idle    map[task.PeerID]*host // eligible, and with a slot free
	backlog map[task.PeerID]*host // with more leases than slots
	fetches map[string]*fetching
	kept    []task.TaskID // delivered tasks whose rows are still here, oldest first
	timers  timers[reminder]

	// RecoverGrace runs from the first Step after a Restore that found open jobs.
	recovering bool
	placeFrom  time.Time

	// What one Step gathers.
	now     time.Time
	effects []Effect
	touched []*host // whose capacity may have grown
	widened bool    // the queue has something that idle hosts have not been asked for
	mail    map[task.PeerID]*mail
	mailTo  []task.PeerID // keys of mail, in the order first written to
	changed []*job        // to be told about
}

// mail is what one Step has to say to one worker.
type mail struct {
	place   *Place
	ack     *Ack
	holders map[task.JobID]bool
}

// reminder is what a timer is for. One field is set; none means placing may
// begin.
type reminder struct {
	host task.PeerID // look at its leases, its grace and its pauses
	job  task.JobID  // look at its deadline
}

// NewCoordinator returns a coordinator of the given term with an empty ledger.
// cfg must be valid. A node that led before calls Restore, which begins a
// later term than any persisted.
func NewCoordinator(self task.PeerID, cfg Config, epoch uint64) *Coordinator {
	policy, err := place.New(cfg.Placement, cfg.PlacementParams)
	if err != nil {
		panic("scheduler: the configuration was not validated: " + err.Error())
	}
	return &Coordinator{
		self: self, cfg: cfg, epoch: max(epoch, 1), policy: policy, forecast: place.Unknown{},
		ledger: ledger.New(), jobs: map[task.JobID]*job{},
		hosts: map[task.PeerID]*host{}, idle: map[task.PeerID]*host{}, backlog: map[task.PeerID]*host{},
		fetches: map[string]*fetching{}, mail: map[task.PeerID]*mail{},
	}
}

// Restore takes in what was persisted, before the first Step, and begins a new
// term. It returns effects that the driver must carry out before anything
// else; call it on a first start too, with no pairs. What cannot be read is
// left out and told in the error; the rest is good.
func (c *Coordinator) Restore(pairs map[string][]byte) ([]Effect, error) {
	var errs []error
	own := map[string][]byte{}
	for key, value := range pairs {
		if rest, ok := strings.CutPrefix(key, coordinatorPrefix); ok {
			own[rest] = value
		}
	}
	if b, ok := own["epoch"]; ok {
		delete(own, "epoch")
		last, err := strconv.ParseUint(string(b), 10, 64)
		if err != nil || last == math.MaxUint64 {
			errs = append(errs, fmt.Errorf("reading %s: %q is no epoch", epochKey, b))
		} else {
			c.epoch = max(c.epoch, last+1)
		}
	}
	l, err := ledger.Load(own)
	c.ledger = l
	for _, id := range sortedKeys(l.Jobs) {
		c.reopen(id, l.Jobs[id])
	}
	c.effects = nil
	c.persistEpoch()
	return c.effects, errors.Join(append(errs, err)...)
}

// Epoch returns the coordinator's term.
func (c *Coordinator) Epoch() uint64 { return c.epoch }

func (c *Coordinator) persistEpoch() {
	c.emit(Persist{Key: epochKey, Value: strconv.AppendUint(nil, c.epoch, 10)})
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice. Its cost follows from what changes, not from how much waits
// or how many members there are.
func (c *Coordinator) Step(now time.Time, ev Event) []Effect {
	c.now, c.effects, c.touched, c.widened = now, nil, c.touched[:0], false
	if c.recovering && c.placeFrom.IsZero() {
		c.placeFrom = now.Add(c.cfg.RecoverGrace)
		c.timers.set(c.placeFrom, reminder{})
	}
	switch ev := ev.(type) {
	case Received:
		c.receive(ev.From, &ev.Message)
	case MemberSeen:
		c.memberSeen(&ev.Advert)
	case MemberLost:
		c.memberLost(ev.Peer, ev.Reason)
	case Fetched:
		c.fetched(ev)
	}
	for {
		r, ok := c.timers.due(now)
		if !ok {
			break
		}
		c.remind(r)
	}
	c.placeWaiting()
	c.recall()
	c.flush()
	return c.effects
}

// NextWake says when time alone will make the coordinator do something.
func (c *Coordinator) NextWake() (time.Time, bool) { return c.timers.next() }

func (c *Coordinator) remind(r reminder) {
	switch {
	case r.host != "":
		if h := c.hosts[r.host]; h != nil {
			c.lookAt(h)
		}
	case r.job != "":
		if j := c.jobs[r.job]; j != nil && j.state == jobOpen {
			c.checkDeadline(j)
		}
	case c.recovering && !c.now.Before(c.placeFrom):
		c.recovering, c.widened = false, true
	}
}

func (c *Coordinator) receive(from task.PeerID, m *Message) {
	switch {
	case m.Submit != nil:
		c.submit(from, m.Submit)
	case m.Got != nil:
		c.got(from, m.Got)
	case m.Cancel != nil:
		c.cancel(m.Cancel)
	case m.Report != nil:
		c.report(from, m.Report)
	}
}

func (c *Coordinator) emit(e Effect) { c.effects = append(c.effects, e) }

func (c *Coordinator) decided(id task.TaskID, action string, peer task.PeerID, reason string) {
	c.emit(Decided{Task: id, Action: action, Peer: peer, Reason: reason})
}

// letter returns what this Step has to say to a worker so far.
func (c *Coordinator) letter(to task.PeerID) *mail {
	m := c.mail[to]
	if m == nil {
		m = new(mail)
		c.mail[to] = m
		c.mailTo = append(c.mailTo, to)
	}
	return m
}

func (c *Coordinator) ack(to task.PeerID) *Ack {
	m := c.letter(to)
	if m.ack == nil {
		m.ack = &Ack{Epoch: c.epoch}
	}
	return m.ack
}

func (c *Coordinator) drop(to task.PeerID, id task.TaskID, a Attempt, reason string) {
	ack := c.ack(to)
	ack.Drop = append(ack.Drop, AttemptName{Task: id, Attempt: a, Reason: reason})
}

// flush sends what the Step has gathered. Acknowledgements come after every
// Persist, since those were emitted where the facts changed, and before new
// leases, so that what is dropped makes room first.
func (c *Coordinator) flush() {
	for _, to := range c.mailTo {
		if m := c.mail[to]; m.ack != nil {
			c.emit(Send{To: to, Message: Message{Ack: m.ack}})
		}
	}
	for _, to := range c.mailTo {
		if m := c.mail[to]; m.place != nil {
			c.emit(Send{To: to, Message: Message{Place: m.place}})
		}
	}
	clear(c.mail)
	c.mailTo = c.mailTo[:0]
	for _, j := range c.changed {
		j.changed = false
		c.sendProgress(j)
		c.emit(JobChanged{Job: j.id})
	}
	c.changed = c.changed[:0]
}

// touch marks a job to be told about at the end of the Step.
func (c *Coordinator) touch(j *job) {
	if !j.changed {
		j.changed = true
		c.changed = append(c.changed, j)
	}
}
