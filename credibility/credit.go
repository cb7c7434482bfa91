package credibility

import (
	"math"
	"time"
)

const (
	// HalfLife is how long it takes until audited work counts half: a machine that was
	// right last year may have a fault by now (Nightingale et al. 2011: machines that fail
	// once fail again).
	HalfLife = 90 * 24 * time.Hour
	// MostRefusals is how often a worker may refuse to serve a state that it signed before
	// it begins at nothing, or say that it has lost some.
	MostRefusals = 3
	// Hearsay is how many tasks the praise of others counts at most, beyond doubling what
	// was seen.
	Hearsay = 10
)

// A Credit is what a submitter knows of one worker. The zero Credit is of one that it never
// met.
type Credit struct {
	Known    float64   // tasks audited and right, as of At
	Praised  float64   // tasks in which others came to the same, as of At: see Praise
	At       time.Time // zero while Known and Praised are 0
	Faults   int       // tasks of which an audit was wrong; one is enough
	Audits   int       // that were right, in part or whole, ever
	First    time.Time // when the first result of it was taken in; zero for never
	Refusals int       // states that it signed and did not serve, since it last began
	Losses   int       // times that it lost states: see Lose
	Lost     time.Time // when it last did; zero for never
	Outvoted time.Time // when others last came to something else, beyond doubt; zero for never
}

// Right is how many tasks count as audited and right: halved with each HalfLife. now is
// not before At.
func (c *Credit) Right(now time.Time) float64 { return c.faded(c.Known, now) }

// Believed is Right with what others' runs add to it: see With.
func (c *Credit) Believed(now time.Time) float64 {
	return With(c.Right(now), []Praise{{1, c.faded(c.Praised, now)}})
}

// BelievedWith is Believed with what other submitters tell, too: of that at most as much as was seen
// here, and bonus tasks. All praise together stays within the bound of With.
func (c *Credit) BelievedWith(told []Praise, bonus float64, now time.Time) float64 {
	own := c.Right(now)
	return With(own, []Praise{{1, c.faded(c.Praised, now)}, {1, min(own+bonus, sumOf(told))}})
}

func (c *Credit) faded(x float64, now time.Time) float64 {
	if x == 0 {
		return 0
	}
	return Faded(x, now.Sub(c.At))
}

// Faded is what so many tasks found right count after a time: halved with each HalfLife.
func Faded(tasks float64, after time.Duration) float64 {
	return tasks * math.Exp2(-float64(after)/float64(HalfLife))
}

// Praise adds a task in which another worker came to the same, as far as that one's word counts: 0
// to 1.
func (c *Credit) Praise(weight float64, now time.Time) {
	c.Known, c.Praised, c.At = c.Right(now), c.faded(c.Praised, now)+weight, now
}

// Says reports whether the worker has a say in what others came to: a fault takes it away for good,
// and a vote that it lost for a HalfLife, after which it begins at nothing.
func (c *Credit) Says(now time.Time) bool {
	return c.Faults == 0 && (c.Outvoted.IsZero() || now.Sub(c.Outvoted) >= HalfLife)
}

// Outvote takes the worker's say away, and has it begin at nothing.
func (c *Credit) Outvote(now time.Time) {
	c.Forget()
	c.Outvoted = now
}

// Forget has the worker begin at nothing.
func (c *Credit) Forget() { c.Known, c.Praised, c.At = 0, 0, time.Time{} }

// Confirm adds work that was audited and is right: m of n intervals of a task, n at least 1.
func (c *Credit) Confirm(m, n int, now time.Time) {
	if m <= 0 {
		return
	}
	c.Known, c.Praised = c.Right(now)+float64(min(m, n))/float64(n), c.faded(c.Praised, now)
	c.At = now
	c.Audits++
}

// Refuse notes that the worker did not serve a state that it had signed. It reports whether
// the worker begins at nothing again.
func (c *Credit) Refuse() bool {
	if c.Refusals++; c.Refusals < MostRefusals {
		return false
	}
	c.Forget()
	c.Refusals = 0
	return true
}

// Lose notes that a worker says that it has lost states of a run, which it signed at a time. A disk
// breaks with all that is on it: what was signed before the loss that counted last is lost with it.
// So a worker that always says so gains that its tasks run again as a whole, and after MostRefusals
// times begins at nothing, which is what Lose reports; one that serves states again has that taken
// back: see Serve.
func (c *Credit) Lose(signed, now time.Time) bool {
	if !signed.After(c.Lost) {
		return false
	}
	c.Lost = now
	if c.Losses++; c.Losses < MostRefusals {
		return false
	}
	c.Forget()
	c.Losses = 0
	return true
}

// Serve notes that a worker served a state, which takes one loss back. It reports whether there
// was one.
func (c *Credit) Serve() bool {
	if c.Losses == 0 {
		return false
	}
	c.Losses--
	return true
}

// Praise is what another submitter says that it found right, as far as its word counts.
type Praise struct {
	Weight float64 // 0 to 1: of its audits that were run again, those that were right
	Right  float64 // tasks
}

// With adds what others say to what one saw: at most as much again, and ten tasks.
func With(own float64, others []Praise) float64 { return own + min(own+Hearsay, sumOf(others)) }

func sumOf(others []Praise) (sum float64) {
	for _, p := range others {
		if w := p.Weight * p.Right; w > 0 {
			sum += w
		}
	}
	return sum
}
