package submitter

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// A poll is what others came to of a task whose result is to be run again. Each worker has one say,
// and none has one that went on from a state of another: see came.
type poll struct {
	held    stamp
	makers  []task.PeerID // who may not have the task any more: who ran it, or left a state of it
	with    []task.PeerID // those who came to what is held, its signer not among them
	against []ballot
	wall    time.Duration // that the first run took
	asked   time.Time     // when others were last asked; zero while they are not
	tries   int           // how often nobody answered
	// only are the members that may have the task next, of whom any may if there are none; drawn stands for
	// the last result. They, vain and sought are in memory alone.
	only  []task.PeerID
	drawn [sha256.Size]byte
	vain  int // answers that were none
	// sought is asked, if those drawn then were asked themselves.
	sought time.Time
}

// A ballot is what a worker came to that is not what is held.
type ballot struct {
	Worker task.PeerID `cbor:"1,keyasint"`
	Says   stamp       `cbor:"2,keyasint"`
}

// elected is what most came to of a task whose result was given back since it was something else:
// a result that says so needs no other run. It is in memory alone.
type elected struct {
	says stamp
	by   []task.PeerID
}

// with returns who came to the same as a result; nil for nobody. e may be nil.
func (e *elected) with(r *task.Result) (out []task.PeerID) {
	if e == nil || !e.says.agrees(stampOf(r)) {
		return nil
	}
	for _, w := range e.by {
		if w != r.Worker {
			out = append(out, w)
		}
	}
	return out
}

// A polling is what others run again of a job.
type polling struct {
	// polls are what others came to of results that are due. Of these away are those that others run
	// again now, and stays those that this node alone may run.
	polls       map[uint64]*poll
	away, stays ledger.Set
	unpolled    ledger.Set    // of those that are due, whose result cannot be read; in memory alone
	askAt       time.Time     // when others may be asked about more
	takes       time.Duration // about what a task takes, 0 for not known
}

// A stamp stands for what a result says: two that agree have no Difference.
type stamp struct {
	Digest [sha256.Size]byte `cbor:"1,keyasint"`
	Pass   uint32            `cbor:"2,keyasint,omitempty"` // of the trail; 0 for none
	Trail  [sha256.Size]byte `cbor:"3,keyasint"`
}

// pollState is the durable form of a poll.
type pollState struct {
	Held    stamp         `cbor:"1,keyasint"`
	Makers  []task.PeerID `cbor:"2,keyasint,omitempty"`
	With    []task.PeerID `cbor:"3,keyasint,omitempty"`
	Against []ballot      `cbor:"4,keyasint,omitempty"`
	Wall    time.Duration `cbor:"5,keyasint,omitempty"`
	Asked   int64         `cbor:"6,keyasint,omitempty"` // Unix seconds
	Tries   int           `cbor:"7,keyasint,omitempty"`
	Engine  string        `cbor:"8,keyasint,omitempty"` // of the signer
	Stays   bool          `cbor:"9,keyasint,omitempty"` // others are not asked any more
}

const (
	// mostAgreeing is how many others run a task at most of which all come to the same: with its
	// signer four, which is enough for strangers in an open pool at a target of 1e-3. mostOpposed is
	// the same where they do not. Then the task is this node's to run.
	mostAgreeing = 3
	mostOpposed  = 10
	// mostTries is how often nobody may answer before that.
	mostTries = 3
	// mostVain is how many answers that are none count as if nobody had answered.
	mostVain = 3
)

func stampOf(r *task.Result) stamp {
	s := stamp{Digest: r.Digest()}
	if t := r.Trail; t != nil {
		b, err := task.Encode(struct {
			_    struct{} `cbor:",toarray"`
			Fuel uint64
			Last []byte
		}{Fuel: t.Fuel, Last: t.Last})
		if err != nil {
			panic("submitter: encoding a number and a hash: " + err.Error())
		}
		s.Pass, s.Trail = t.Pass, sha256.Sum256(b)
	}
	return s
}

// agrees reports whether two results say the same. Of trails of two passes nothing is known.
func (s stamp) agrees(o stamp) bool {
	return s.Digest == o.Digest && (s.Pass != o.Pass || s.Trail == o.Trail)
}

// makersOf lists who answers for a result: its worker, and who left a state that it went on from.
func makersOf(r *task.Result) []task.PeerID {
	out := []task.PeerID{r.Worker}
	if r.Trail != nil {
		for i := range r.Trail.Began {
			out = append(out, r.Trail.Began[i].Voucher.Worker)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func newPoll(r *task.Result) *poll {
	return &poll{held: stampOf(r), makers: makersOf(r), wall: r.Wall}
}

func (p *poll) kept(engine string, stays bool) *pollState {
	s := &pollState{Held: p.held, Makers: p.makers, With: p.with, Against: p.against, Wall: p.wall, Tries: p.tries,
		Engine: engine, Stays: stays}
	if !p.asked.IsZero() {
		s.Asked = p.asked.Unix()
	}
	return s
}

func (s *pollState) restored() *poll {
	p := &poll{held: s.Held, makers: s.Makers, with: s.With, against: s.Against, wall: s.Wall, tries: s.Tries}
	if s.Asked > 0 {
		p.asked = time.Unix(s.Asked, 0)
	}
	return p
}

// ran is how many others have run the task.
func (p *poll) ran() int { return len(p.with) + len(p.against) }

// had reports whether a result is not another run: one of its makers has had a say.
func (p *poll) had(r *task.Result) bool {
	return slices.ContainsFunc(makersOf(r), func(w task.PeerID) bool { return slices.Contains(p.makers, w) })
}

// add takes in a result of another worker, and reports whether it agrees with what is held.
func (p *poll) add(r *task.Result) bool {
	p.makers = slices.Concat(p.makers, makersOf(r))
	p.drawn = sha256.Sum256(r.Mark())
	says := stampOf(r)
	if says.agrees(p.held) {
		p.with = append(slices.Clip(p.with), r.Worker)
		return true
	}
	p.against = append(slices.Clip(p.against), ballot{r.Worker, says})
	return false
}

// otherKey is where the n-th result of others of a task is kept.
func otherKey(id task.TaskID, n int) string {
	return durable.TaskKey(submitterOthers, id) + "/" + strconv.Itoa(n)
}

// OtherKeys lists the durable keys of the results of others of a task that is run again: those
// there are, from the first on. Each is decoded by DecodeOther.
func OtherKeys(id task.TaskID) []string {
	keys := make([]string, mostOpposed)
	for n := range keys {
		keys[n] = otherKey(id, n)
	}
	return keys
}

// DecodeOther reads what is kept under one of OtherKeys. Its signature was checked when it came.
func DecodeOther(value []byte) (task.Result, error) {
	var r task.Result
	err := task.Decode(value, &r)
	return r, err
}
