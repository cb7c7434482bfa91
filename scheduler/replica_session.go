package scheduler

import (
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// sessionState is how far a replica is with its leader.
type sessionState uint8

const (
	apart     sessionState = iota // no leader, or it has forgotten its copy
	telling                       // it tells the leader what it knows
	following                     // it takes copies
)

// A session is a replica's dealings with one leader in one epoch. Another one
// begins with each leader and each life of the replica, so that nothing meant
// for one is taken in another.
type session struct {
	state sessionState
	id    uint64
	told  uint64         // Seq of the Known under way
	known *message.Known // that one
	again time.Time      // when it is repeated
	// untold are the jobs of which the leader has no digest yet, wanted the keys
	// that it asked for. Both in the order of telling.
	untold []task.JobID
	wanted []string
	taken  uint64 // Seq of the last Copy taken
	rows   message.RowReader
}

// begin starts a session with the leader, if there is one.
func (r *Replica) begin() {
	r.readAll() // the session begins with what is in the copy
	// Time makes the number: it is larger in each life, and in each session.
	id := max(r.session.id+1, uint64(max(r.now.UnixNano(), 1)))
	r.retired.asking = asking{session: r.retired.session}
	r.session = session{id: id, untold: slices.Sorted(maps.Keys(r.ledger.Jobs))}
	r.holds = nil
	clear(r.newer)
	if r.leader == "" {
		return
	}
	r.session.state = telling
	r.tell()
}

// tell sends the next of what the replica knows: what was asked for first.
func (r *Replica) tell() {
	s := &r.session
	s.told++
	k := &message.Known{Epoch: r.epoch, Session: s.id, Seq: s.told, Runs: true}
	if len(s.wanted) > 0 {
		k.Pairs, s.wanted = r.take(s.wanted)
	} else {
		n := min(len(s.untold), message.MaxKnown)
		for _, id := range s.untold[:n] {
			if j := r.ledger.Jobs[id]; j != nil {
				k.Jobs = append(k.Jobs, message.JobDigest{Job: id, Digest: message.ShortDigest(j)})
			}
		}
		s.untold = s.untold[n:]
		k.Last = n == 0
	}
	s.known = k
	r.sendKnown()
}

func (r *Replica) sendKnown() {
	r.session.again = r.now.Add(r.cfg.RetryMin)
	r.emit(message.Send{To: r.leader, Message: message.Message{Known: r.session.known}})
}

// repeat sends again what was not answered.
func (r *Replica) repeat() {
	if r.session.state == telling && !r.now.Before(r.session.again) {
		r.sendKnown()
	}
}

// take returns the pairs of the first keys, as many as a message should hold,
// and the keys left.
func (r *Replica) take(keys []string) ([]message.Pair, []string) {
	var pairs []message.Pair
	size := 0
	for n, key := range keys {
		value := r.value(key)
		if size += len(key) + len(value); len(pairs) > 0 && size > message.BatchBytes || len(pairs) == message.MaxPairs {
			return pairs, keys[n:]
		}
		if value != nil {
			pairs = append(pairs, message.Pair{Key: key, Value: value})
		}
	}
	return pairs, nil
}

// value returns what the copy has under a key of the ledger, nil for nothing.
func (r *Replica) value(key string) []byte {
	kind, rest, _ := strings.Cut(key, "/")
	id, _, isRow := strings.Cut(rest, "/")
	j := r.ledger.Jobs[task.JobID(id)]
	switch {
	case j == nil:
		return nil
	case isRow:
		name, err := ledger.ParseRowKey(key)
		if err != nil {
			return nil
		}
		r.read(name)
		row := j.Rows[name.Index]
		if row == nil {
			return nil
		}
		return encoded(row)
	case kind == "j":
		return j.Record.Whole()
	}
	return encoded(&j.Facts)
}

// encoded returns a part of the ledger as it is told; nil if it cannot be, as no part that
// came from elsewhere.
func encoded(v interface{ Encode() ([]byte, error) }) []byte {
	value, err := v.Encode()
	if err != nil {
		return nil
	}
	return value
}

// wanted goes on with a session as the leader says.
func (r *Replica) wanted(from task.PeerID, w *message.Wanted) {
	s := &r.session
	switch {
	case w.Epoch != r.epoch || from != r.leader: // whom to follow the driver says
		return
	case w.Session == 0:
		if s.state != telling || s.told > 1 {
			r.begin()
		}
		return
	case s.state != telling || w.Session != s.id || w.Seq != s.told:
		return
	}
	for _, id := range w.Jobs {
		if j := r.ledger.Jobs[id]; j != nil {
			s.wanted = append(s.wanted, keysOf(id, j)...)
		}
	}
	switch {
	case !w.Done:
		r.tell()
	case w.Follow:
		s.state, s.known = following, nil
		r.unretire()
	default:
		s.state, s.known = apart, nil
		r.retireAll()
	}
}

// forget drops one job.
func (r *Replica) forget(id task.JobID) {
	j := r.ledger.Jobs[id]
	if j == nil {
		return
	}
	all := r.unread.cut(id, func(uint64) bool { return true })
	for _, i := range append(slices.Sorted(maps.Keys(j.Rows)), all...) {
		r.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(task.TaskID{Job: id, Index: i})})
	}
	r.emit(message.Persist{Key: coordinatorPrefix + ledger.FactsKey(id)})
	r.emit(message.Persist{Key: coordinatorPrefix + ledger.JobKey(id)})
	delete(r.ledger.Jobs, id)
	r.wantedAgain(id)
	delete(r.retired.since, id)
	for t := range r.live {
		if t.Job == id {
			delete(r.live, t)
		}
	}
	r.holds = slices.DeleteFunc(r.holds, func(h message.Hold) bool { return h.Name.Task.Job == id })
	r.emit(message.Release{Job: id})
}
