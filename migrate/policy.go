// Package migrate decides when running work should move. A policy is one file
// and its registration: it scans members and predicts which will stop running
// guests; whoever runs it moves their tasks with the placement policy, and
// leaves a task where it is when that finds no place. A Judge scores what was
// predicted.
package migrate

import (
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

// A Policy predicts exits. It may remember what it learnt: one is for one
// coordinator, and times never decrease.
type Policy interface {
	// Scan predicts for hosts, each available at now, and answers in their order;
	// it leaves out those that it does not look at. It keeps neither hosts nor
	// their tasks. rng is seeded from what is being decided. What it returns holds
	// until its next call: the policy keeps the memory for that.
	Scan(now time.Time, hosts []Host, f Forecast, rng *rand.Rand) []Prediction

	// Left tells that a member's availability ended. What is told of one instant
	// counts as after the scan of that instant.
	Left(peer task.PeerID, at time.Time)

	// Period is the time between scans. 0: scan when a member gives notice.
	Period() time.Duration
}

// A Foreteller is a Policy that was published with a predictor: it names it, as
// predictor.Parse reads it.
type Foreteller interface {
	Policy
	Predictor() string
}

// A Host is an available member. Its fields are a copy.
type Host struct {
	Peer    task.PeerID
	Tasks   []task.TaskID // that it runs; read only
	CPU     float64       // percent of its greatest speed that guests get now, 0 to 100 (Eq 4.10)
	Leaving bool          // it gave notice that it goes soon, or takes no guests any more
	// Paused says of one that is Leaving that only its owner is back, who may go
	// again: its tasks stand still there, until the owner's grace is over.
	Paused bool

	// What a Mover looks at besides; others need none of it.
	Runs  []Run   // of Tasks, in their order; nil where nothing is known of them. Read only
	Idle  int     // tasks that it would start at once
	Speed float64 // relative to the reference core; 0 unknown
}

// A Run is what is known of a task at a member.
type Run struct {
	// Left is the work left, on the reference core; 0 unknown. A coordinator has
	// the job's mean duration and the last reported progress to tell it from.
	Left time.Duration
	// Unsaved is the work that would be lost with the member: what was done since
	// the last checkpoint that is elsewhere.
	Unsaved time.Duration
	State   int64 // bytes of its state
	Movable bool  // it runs, is not on the move already, and can be frozen
	// Copied says that no copy of it is to be made: there is one, or it is on its way.
	Copied bool
	// Came tells tasks of one job apart that did not come together: those that did have the
	// same. Where all tasks of a job come with it, it is 0.
	Came int64
}

// A Heeder is a Policy that at times looks at nobody but members on notice: then whoever runs it need not tell it of
// the others, of whom there may be thousands, and nothing that it answers or remembers is another for that.
type Heeder interface {
	Policy
	// HeedsNotices reports whether that is so now; idle says that some member has a slot free.
	HeedsNotices(idle bool, s Situation) bool
}

// A Mover is a Policy that names tasks, not hosts, to move, and may say where to.
// Whoever runs it calls Moves at each scan in place of Scan, with all members
// that are there; it may remember what it moved when.
type Mover interface {
	Policy
	Moves(now time.Time, hosts []Host, f Forecast, s Situation) []Move
}

// A Situation is what a coordinator knows beside members and forecasts. The zero
// Situation is a world in which nothing takes time and nothing is saved.
type Situation struct {
	// Waiting is how many tasks wait, at least; Endless is a queue that refills
	// itself.
	Waiting int
	Endless bool
	Costs
	// Saves says that tasks make checkpoints which outlive their member, and that
	// one lost with its member goes on from there.
	Saves bool
}

// CPUPercent is Zhang's CPU Availability Percentage (Eq 4.10): what guests get
// of a machine's greatest speed. It is 0 where that is not positive.
func CPUPercent(current, greatest float64) float64 {
	if !(greatest > 0) {
		return 0
	}
	return min(100, max(0, current/greatest*100))
}

// A Forecast says how likely members are to stay. A place.Forecast is one.
type Forecast interface {
	// Stay returns the probability, 0 to 1, that a member, available at now,
	// stays available without a break for d. known is false when it rests on
	// nothing seen of that member.
	Stay(peer task.PeerID, now time.Time, d time.Duration) (p float64, known bool)
}

// A Prediction is what a policy holds of one host.
type Prediction struct {
	Peer   task.PeerID
	Exit   bool          // it stops running guests before For is over
	For    time.Duration // 0: no time is said, and it is not scored
	Reason string        // for people; of an exit only. Ask Why: it may be put into words only there
	Blind  bool          // nothing is known of the host, which then stays

	words func(*Prediction) string // nil: Reason
	x, y  float64                  // what words speaks of
	// gain is the part of For that a task has more at a destination than here; nil of a member that goes anyway.
	gain func(p *Prediction, there Destination) float64
}

// Why says, for people, why an exit is predicted. It is put into words only when
// somebody asks: of most predictions nobody does.
func (p *Prediction) Why() string {
	if p.words == nil {
		return p.Reason
	}
	return p.words(p)
}

// A Move is a task that should leave its host.
type Move struct {
	Task   task.TaskID
	From   task.PeerID
	To     task.PeerID // "": where the placement policy says
	Reason string      // for people: why. Ask Why: AppendMoves and Movers leave it to that

	of *Prediction

	words       func(*Move) string // nil: Reason, or what of says
	ends, stays [2]float64         // what words speaks of: there and here
}

// Why says, for people, why the task should leave. It may be asked as long as the
// predictions hold of which the move was made.
func (m *Move) Why() string {
	switch {
	case m.words != nil:
		return m.words(m)
	case m.of == nil:
		return m.Reason
	}
	return m.of.Why()
}

// Moves lists the tasks of those hosts whose exit is predicted, in the order of
// the predictions. Where they go is for the placement policy, which must not
// be shown From (Zhang section 4.3).
func Moves(hosts []Host, predictions []Prediction) []Move {
	moves := AppendMoves(nil, hosts, predictions)
	for i := range moves {
		moves[i].Reason = moves[i].Why()
	}
	return moves
}

// AppendMoves is Moves without words, in the memory of moves, to which it appends.
func AppendMoves(moves []Move, hosts []Host, predictions []Prediction) []Move {
	next := 0 // predictions are mostly in the order of hosts
	for k := range predictions {
		p := &predictions[k]
		if !p.Exit {
			continue
		}
		i := hostAt(hosts, next, p.Peer)
		if i < 0 {
			continue
		}
		next = i + 1
		for _, t := range hosts[i].Tasks {
			moves = append(moves, Move{Task: t, From: p.Peer, of: p})
		}
	}
	return moves
}

// hostAt is the place of a host, looked for from a place on and round, or -1.
func hostAt(hosts []Host, from int, peer task.PeerID) int {
	for k := range hosts {
		if i := (from + k) % len(hosts); hosts[i].Peer == peer {
			return i
		}
	}
	return -1
}

// Parse returns the policy of a specification: a name, and after a colon its
// parameters with commas between them, as in "pspp:n=6,p=10m".
func Parse(s string) (Policy, error) { return ParseWith("", s) }

// ParseWith is Parse for a policy that gets the forecasts of a predictor, as predictor.Parse reads it; "" is the one that
// the policy was published with. Defaults follow from what the predictor can answer. Parameters without effect are
// ignored.
func ParseWith(predictor, s string) (Policy, error) {
	p, _, err := kinds.ParseWith(predictor, s)
	return p, err
}

// Check returns what is wrong with the specification of a policy that gets the forecasts of a predictor. A parameter
// without effect is wrong, too.
func Check(predictor, s string) error {
	_, ps, err := kinds.ParseWith(predictor, s)
	if err == nil {
		err = ps.Void()
	}
	return err
}

// Faster returns the specification of the same policy for a world whose time runs
// so many times as fast: its lengths of time are so many times shorter, with those
// that have their defaults. The error names one that becomes too short.
func Faster(s string, by float64) (string, error) { return kinds.Faster(s, by) }

// Names returns the names of all policies, sorted.
func Names() []string { return kinds.Names() }

// Describe says what each policy does and which parameters it has, a line each.
func Describe() string { return kinds.Describe() }

// DescribeWith is Describe for policies that get the forecasts of a predictor: see ParseWith.
func DescribeWith(predictor string) string { return kinds.DescribeWith(predictor) }

// scope says which hosts a policy looks at: those that run tasks, or (as in
// Zhang's experiments, sections 7.5 and 7.6) all.
type scope struct{ idle bool }

func newScope(ps *spec.Params) scope {
	return scope{idle: ps.Choice("hosts", "busy", "available") == 1}
}

func (s scope) includes(h *Host) bool { return s.idle || len(h.Tasks) > 0 }
