package migrate

import (
	"math"
	"time"
)

// Costs are what it takes to save a task and to move it, as given or measured.
type Costs struct {
	// Pause is how long a task stands still for a checkpoint, for each 64 MiB of
	// its state (in proportion, at least for 1 MiB).
	Pause time.Duration
	// Rate is the bytes a second at which states travel; 0 is no bound.
	Rate float64
	// Delay is the time that a message takes one way, Detect how long a member
	// that vanished is believed to be there.
	Delay, Detect time.Duration
}

// bytesPerPause is the state that Costs.Pause is for; the least is a 64th.
const bytesPerPause = 64 << 20

// PauseFor is how long a task of so many bytes stands still for a checkpoint.
func (c *Costs) PauseFor(state int64) time.Duration {
	return time.Duration(float64(c.Pause) * float64(max(state, bytesPerPause/64)) / bytesPerPause)
}

// Transfer is how long so many bytes take from one member to another.
func (c *Costs) Transfer(bytes int64) time.Duration {
	if c.Rate <= 0 {
		return c.Delay
	}
	return c.Delay + time.Duration(min(float64(math.MaxInt64/4), float64(bytes)/c.Rate*float64(time.Second)))
}

// Interval is after how much running time each a task should make a checkpoint
// that takes pause, in which it stands still, and is safe transfer later: the
// time that is least in expectation, of pauses and of work lost. 0 is never,
// because none pays. left is the running time to the task's end; stay is the
// probability that its host, there now, stays so for a time.
//
// It is Young's interval, sqrt(2 pause M) (Young 1974, "A first order
// approximation to the optimum checkpoint interval", CACM 17), less the pause, as
// Daly has it in first order (Daly 2006, "A higher order estimate of the optimum
// checkpoint interval for restart dumps", FGCS 22). M is not the mean life of
// hosts but the mean time to failure of this one, which survived up to now: the
// time that it is expected to be there within the run over the probability that it
// leaves in it, as one estimates the rate of an exponential law from lives that
// are cut off. So a host that proved itself is asked for fewer.
//
// The run is cut into equal parts. Of the numbers of cuts next to Young's, one cut,
// and none, the one with the least expected loss along stay is taken. In first order,
// for a host that leaves at an even rate r, k cuts of a run R lose k pause + r R R/(2(k+1)),
// least where a part is Young's interval; and none is best where even the first cut, in
// the middle, costs more than it saves: pause > r (R/2 - transfer)^2, for a short
// transfer where R is below sqrt(2) times Young's interval. The second transfer is that of
// the checkpoint to where the task goes on, which a task that begins anew does not wait for.
// What a departure costs besides, until it is known, is the same for all k. A transfer
// is not begun before the last is over: no interval is shorter than transfer.
func Interval(left, pause, transfer time.Duration, stay func(d time.Duration) float64) time.Duration {
	return interval(left, pause, transfer, 0, stay)
}

// interval is Interval where each checkpoint costs price besides its pause.
func interval(left, pause, transfer, price time.Duration, stay func(d time.Duration) float64) time.Duration {
	if left <= 0 || transfer >= left {
		return 0
	}
	l := newLife(left, stay)
	q := 1 - l.at[len(l.at)-1]
	if q <= 0 {
		return 0
	}
	t, c, away := float64(left), float64(pause), float64(transfer)
	all := c + float64(price)
	young := max(math.Sqrt(2*all*l.time()/q)-c, away, float64(leastInterval))
	near := math.Round(t/young) - 1
	if near > mostCuts {
		return time.Duration(young)
	}
	best, least := 0.0, l.loss(t, 0, 0, 0, 0)
	for _, cuts := range [...]float64{1, near - 1, near, near + 1} {
		if cuts < 1 || t/(cuts+1) < away {
			continue
		}
		if loss := l.loss(t, cuts, c, all, away); loss < least {
			best, least = t/(cuts+1), loss
		}
	}
	return time.Duration(math.Ceil(best))
}

const (
	// mostCuts bounds what one decision costs: a run of more parts is not cut into
	// equal ones, which makes no difference then.
	mostCuts = 1024
	// leastInterval is where checkpoints cost nothing.
	leastInterval = time.Second
)

// marks are how many times a life is asked about: 0, and powers of two down from
// the run's end. Hazards of hosts fall like a power of age (docs/spec/predictors.md section 2.5),
// so that the early part needs the finer marks.
const marks = 7

// A life is the survival of a host through a run, at 0 and at left/2^5 to left;
// straight between.
type life struct {
	left float64
	at   [marks]float64
}

func newLife(left time.Duration, stay func(time.Duration) float64) (l life) {
	l.left, l.at[0] = float64(left), 1
	for k := 1; k < marks; k++ {
		l.at[k] = min(l.at[k-1], max(0, stay(left>>(marks-1-k))))
	}
	return l
}

// mark is the time of mark k.
func (l *life) mark(k int) float64 {
	if k == 0 {
		return 0
	}
	return math.Ldexp(l.left, k-(marks-1))
}

// survival is the probability to be there after t, to the end of the run.
func (l *life) survival(t float64) float64 {
	if t >= l.left {
		return l.at[marks-1]
	}
	_, k := math.Frexp(t / l.left) // t is in [2^(k-1), 2^k) of left
	k = max(0, k+marks-2)
	from, to := l.mark(k), l.mark(k+1)
	return l.at[k] + (l.at[k+1]-l.at[k])*(t-from)/(to-from)
}

// time is how long the host is there within the run, in expectation.
func (l *life) time() (sum float64) {
	for k := 1; k < marks; k++ {
		sum += (l.at[k-1] + l.at[k]) / 2 * (l.mark(k) - l.mark(k-1))
	}
	return sum
}

// loss is the running time that comes to nothing, in expectation, when a run of t
// is cut so often: when the host leaves, all that has passed less what safe
// checkpoints hold and with the time that the last of these travels to where the task
// goes on; else the pauses. That the pauses put off the end is left out: they are short
// beside the run.
func (l *life) loss(t, cuts, pause, all, away float64) float64 {
	end := l.at[marks-1]
	sum := l.time() - t*end + cuts*all*end
	part := t / (cuts + 1)
	for k := 1.0; k <= cuts; k++ {
		gain := part
		if k == 1 {
			gain -= away
		}
		if safe := k*(part+pause) + away; safe < t {
			sum -= gain * (l.survival(safe) - end)
		}
	}
	return sum
}
