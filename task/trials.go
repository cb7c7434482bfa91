package task

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Limits of the rule by which trials are added.
const (
	// MaxTrials is the most trials that a point gets by a rule.
	MaxTrials = 1_000_000_000
	// LeastTrials is the default number of trials with which a point begins, if it has a rule.
	LeastTrials = 10
	// ValueField is the name of the number that a task prints alone on its last line.
	ValueField = "value"
	// maxField bounds the name of a number in results, in bytes.
	maxField = 256
)

// Trials is a rule for the number of trials of each point of a sweep: trials are added until the 95 % confidence
// interval of a number's mean is narrow enough.
type Trials struct {
	Most uint64 `cbor:"1,keyasint"` // maximum number of trials of a point, at most MaxTrials
	Of   string `cbor:"2,keyasint"` // name of the number in the tasks' results
	// Within is the greatest half width of the interval that is narrow enough; finite and > 0.
	Within   float64 `cbor:"3,keyasint"`
	Relative bool    `cbor:"4,keyasint,omitempty"` // Within is a share of the mean's absolute value
}

// String returns the rule for people, such as "value within 2%".
func (t *Trials) String() string {
	if t.Relative {
		return fmt.Sprintf("%s within %s%%", t.Of, strconv.FormatFloat(100*t.Within, 'g', 6, 64))
	}
	return fmt.Sprintf("%s within %s", t.Of, strconv.FormatFloat(t.Within, 'g', 6, 64))
}

// clone returns a copy; nil of nil.
func (t *Trials) clone() *Trials {
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

// checkTrials checks the rule by which trials are added, and to which job tasks are added.
func (j *Job) checkTrials() *fault {
	if j.Adds != "" {
		if _, err := ParseJobID(string(j.Adds)); err != nil {
			return faultf("name", "", "the job that tasks are added to: %v", err)
		}
	}
	t := j.Trials
	switch {
	case t == nil:
		return nil
	case len(j.Stages) > 0 || j.Adds != "":
		return faultf("trials", "write trials: 100", "only a job without stages that adds to no other has trials until an "+
			"interval is narrow")
	case j.Sweep.Repeat < 2:
		return faultf("trials.least", "begin with at least 2 trials (default: 10)",
			"the variance of a single trial is unknown")
	case t.Most < j.Sweep.Repeat:
		return faultf("trials.most", "write a number that is not smaller than least",
			"at most %d trials of a point, and at least %d", t.Most, j.Sweep.Repeat)
	case t.Most > MaxTrials:
		return faultf("trials.most", "allow fewer trials", "%d trials of a point, the most is %d", t.Most, MaxTrials)
	case !(t.Within > 0) || math.IsInf(t.Within, 0):
		return faultf("trials.within", withinHint, "an interval within %v", t.Within)
	case t.Of == "":
		return faultf("trials.of", "name a field of result.json, or leave `of` out for a number that is printed",
			"the number has no name")
	}
	if f := checkText("trials.of", t.Of, maxField); f != nil {
		return f
	}
	if hi, most := bits.Mul64(j.Sweep.Count()/j.Sweep.Repeat, t.Most); hi != 0 || most > MaxTasks {
		return faultf("trials.most", "sweep fewer values, or allow fewer trials",
			"all points together may come to more than %d tasks", uint64(MaxTasks))
	}
	return nil
}

const withinHint = "write a share of the mean, such as 2%, or a number, such as 0.05: half of the interval's width"
