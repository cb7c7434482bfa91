package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
)

// A Replica is the part of a coordinator that does not lead: it holds a copy of
// the ledger, as the leader sends it, and becomes a Coordinator when its turn
// comes. A node that is in no group may have one too: it tells the leader what
// it knows and then forgets it.
type Replica struct {
	self task.PeerID
	cfg  Config

	ledger *ledger.Ledger
	// live says who runs what, as far as the leader told. It is not durable.
	live map[task.TaskID][]message.LiveLease

	leader   task.PeerID // who is followed; empty for nobody
	epoch    uint64      // highest seen; nothing below it is obeyed
	session  session
	fetches  map[string]message.HoldName // Fetches not answered
	newer    map[string]message.Hold     // by keys of fetches: what their names stand for since
	holds    []message.Hold              // to be fetched when others are done
	retired  retirement
	unvetted unvetted
	unread   unread

	now     time.Time
	effects []message.Effect
	room    message.Room     // of effects
	before  []message.Effect // of its making, to be given out by the first Step
}

// NewReplica returns a replica with an empty ledger that follows nobody:
// LeaderChanged tells it whom to follow. cfg must be valid.
func NewReplica(self task.PeerID, cfg Config) *Replica {
	return &Replica{
		self: self, cfg: cfg, ledger: cfg.newLedger(),
		live: map[task.TaskID][]message.LiveLease{}, fetches: map[string]message.HoldName{}, newer: map[string]message.Hold{},
		retired:  retirement{jobs: map[task.JobID]retiree{}, since: map[task.JobID]int64{}},
		unvetted: unvetted{marked: map[task.TaskID]bool{}, restored: map[task.TaskID]bool{}},
		unread:   unread{rows: map[task.JobID]map[uint64][]byte{}},
	}
}

// Restore takes in what a Replica or a Coordinator of this node persisted,
// before the first Step. What cannot be read is left out and told in the error;
// the rest is good. It returns effects to be carried out before anything else.
func (r *Replica) Restore(pairs map[string][]byte) ([]message.Effect, error) {
	l, epoch, err := restore(pairs, r.cfg.Opened)
	r.ledger, r.epoch = l, max(r.epoch, epoch)
	dropUnvouched(&r.cfg, l)
	r.effects = nil
	for key, value := range pairs {
		if id, ok := strings.CutPrefix(key, retiredKey); ok {
			r.restoreRetired(task.JobID(id), value)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Jobs)) {
		r.compact(l.Jobs[id])
		for _, i := range slices.Sorted(maps.Keys(l.Jobs[id].Rows)) {
			t, row := task.TaskID{Job: id, Index: i}, l.Jobs[id].Rows[i]
			r.unvetted.mark(t, time.Time{}) // it may have stopped before it looked
			if row.Best != nil || len(row.Bad)+len(row.Lines) > 0 {
				r.unvetted.restored[t] = true
			}
		}
	}
	return r.effects, err
}

// dropUnvouched forgets checkpoints that nobody vouches for, as of versions that asked for
// none: their tasks begin anew.
func dropUnvouched(cfg *Config, l *ledger.Ledger) {
	if cfg.Key == nil {
		return
	}
	for _, j := range l.Jobs {
		for _, row := range j.Rows {
			if row.Best != nil && row.Best.Voucher == nil {
				row.Best = nil
			}
		}
	}
}

// restore reads the durable keys that Replica and Coordinator share.
func restore(pairs map[string][]byte, opened *task.Opened) (l *ledger.Ledger, epoch uint64, err error) {
	own := map[string][]byte{}
	for key, value := range pairs {
		if rest, ok := strings.CutPrefix(key, coordinatorPrefix); ok {
			own[rest] = value
		}
	}
	var errs []error
	if b, ok := own["epoch"]; ok {
		delete(own, "epoch")
		epoch, err = strconv.ParseUint(string(b), 10, 64)
		if err != nil || epoch == math.MaxUint64 {
			epoch, errs = 0, append(errs, fmt.Errorf("reading %s: %q is no epoch", epochKey, b))
		}
	}
	l, err = ledger.Load(own, opened)
	return l, epoch, errors.Join(append(errs, err)...)
}

// Epoch returns the highest epoch that the replica has seen.
func (r *Replica) Epoch() uint64 { return r.epoch }

// Synced reports whether the copy is as complete as the leader knew when the
// session began.
func (r *Replica) Synced() bool { return r.session.state == following }

// Digest stands for what the copy knows: see ledger.Ledger.Digest. Retired copies are left out.
func (r *Replica) Digest() [32]byte {
	r.allRead()
	return r.retired.without(r.ledger).Digest()
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (r *Replica) Step(now time.Time, ev message.Event) []message.Effect {
	r.now, r.effects = now, r.room.Begin()
	if len(r.before) > 0 {
		r.effects, r.before = append(r.effects, r.before...), nil
	}
	switch ev := ev.(type) {
	case message.LeaderChanged:
		r.follow(ev.Leader, ev.Epoch)
	case *message.Received:
		r.receive(ev.From, ev.Message)
	case message.Fetched:
		r.fetched(ev)
	case message.GroupIs:
		r.retired.group = slices.Clone(ev.Followers)
	}
	r.repeat()
	r.askIfDue()
	r.vetDue()
	r.effects = r.room.End(r.effects)
	return r.effects
}

func (r *Replica) receive(from task.PeerID, m *message.Message) {
	switch {
	case m.Wanted != nil:
		r.wanted(from, m.Wanted)
	case m.Copy != nil:
		r.copied(from, m.Copy)
	case m.Retired != nil:
		r.asked(from, m.Retired)
	case m.Kept != nil:
		r.kept(from, m.Kept)
	case m.Got != nil:
		r.bring(from, m.Got)
	}
}

func (r *Replica) emit(e message.Effect) { r.effects = append(r.effects, e) }

// follow obeys a leader of an epoch that is not below any seen, and begins a
// session with it.
func (r *Replica) follow(leader task.PeerID, epoch uint64) {
	if leader == r.leader && epoch == r.epoch || epoch < r.epoch || leader == r.self {
		return
	}
	r.vetAll()
	r.leader = leader
	r.see(epoch)
	r.begin()
}

// see keeps the highest epoch, durably: after a restart nothing below is obeyed.
func (r *Replica) see(epoch uint64) {
	if epoch > r.epoch {
		r.epoch = epoch
		r.emit(message.Persist{Key: epochKey, Value: strconv.AppendUint(nil, epoch, 10)})
	}
}

// NextWake says when time alone will make the replica do something.
func (r *Replica) NextWake() (time.Time, bool) {
	if len(r.before) > 0 {
		return r.now, true
	}
	ask := r.retired.asking.next
	at, any := timer.Earlier(r.session.again, r.session.state == telling, ask, !ask.IsZero())
	vet, some := r.unvetted.due()
	return timer.Earlier(at, any, vet, some)
}

// compact forgets the rows of tasks whose end the submitter holds.
func (r *Replica) compact(j *ledger.Job) {
	id := j.Record.ID()
	for _, i := range append(j.Compact(), r.unread.cut(id, j.Delivered)...) {
		r.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(task.TaskID{Job: id, Index: i})})
	}
}

// Roots returns what must be kept among this node's blocks: see rootsOf.
func (r *Replica) Roots() []task.CID { return rootsOf(r.allRead()) }

// Roots returns what must be kept among this node's blocks: see rootsOf. Those
// of jobs whose blocks are being fetched are among them, and states on which replicas agree.
func (c *Coordinator) Roots() []task.CID {
	roots := rootsOf(c.ledger)
	for _, id := range slices.Sorted(maps.Keys(c.table.jobs)) {
		if j := c.table.jobs[id]; j.state == jobFetching {
			roots = append(roots, durable.JobBlocks(id, j.spec)...)
		}
		for _, m := range c.table.jobs[id].meetings {
			if m.sure != nil {
				roots = append(roots, m.sure.CID)
			}
		}
	}
	return sortedSet(roots)
}

// rootsOf lists the blocks that a copy of the ledger stands on, sorted: of jobs
// that are not over the record, the module and the inputs, and of each task
// that is not delivered the outputs agreed on and the newest checkpoint.
func rootsOf(l *ledger.Ledger) []task.CID {
	var roots []task.CID
	for id, j := range l.Jobs {
		if !j.Over() {
			roots = append(roots, durable.JobBlocks(id, j.Spec)...)
		}
		for i, row := range j.Rows {
			if j.Delivered(i) {
				continue
			}
			if agreed := row.Agreed(); len(agreed) > 0 {
				roots = append(roots, message.RemoteOutputs(&agreed[0])...)
			}
			if s := row.State(); s != nil {
				roots = append(roots, s.CID)
			}
			for _, s := range row.LineStates() {
				roots = append(roots, s.CID)
			}
		}
	}
	return sortedSet(roots)
}

func sortedSet(cids []task.CID) []task.CID {
	slices.Sort(cids)
	return slices.Compact(cids)
}

// Key returns the key of a sealed job of which this is a copy; nil for none. It is read only.
func (r *Replica) Key(id task.JobID) []byte {
	if j := r.ledger.Jobs[id]; j != nil {
		return j.Record.Key
	}
	return nil
}
