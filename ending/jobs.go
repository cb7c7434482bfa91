package ending

import (
	"math"
)

// A job is one in a draw.
type job struct {
	*known
	number  int
	work    *workLaw
	save    float64 // seconds between two saved states; 0 never
	waiting uint64  // tasks that did not begin
	pieces  []piece // that began, in the order in which they go on
	running int     // runs
	total   float64 // tasks at the beginning
	staging
}

// A piece is a task that goes on.
type piece struct{ total, did float64 }

func (j *job) over() bool {
	return j.waiting == 0 && j.held == 0 && len(j.pieces) == 0 && j.running == 0
}

// waits says whether the job has a task to place.
func (j *job) waits() bool { return j.waiting > 0 || len(j.pieces) > 0 }

// left counts the tasks that are not over, each run as one.
func (j *job) left() float64 { return j.unplaced() + float64(j.running) }

// unplaced counts the tasks that no host has.
func (j *job) unplaced() float64 { return float64(j.waiting+j.held) + float64(len(j.pieces)) }

// saved is the work of which others have the state, of a task that ran at a speed.
func (j *job) saved(did, speed float64) float64 {
	if j.save <= 0 {
		return 0
	}
	each := j.save * speed
	return math.Floor(did/each) * each
}

// A run is tasks that a host runs one after the other.
type run struct {
	job   *job
	host  int
	tasks uint64
	total float64 // work of all of them, on the reference core
	did   float64 // of that, when it last began or stood still
	base  float64 // of that, when the run began: others have it
	from  float64 // when it last began
	still bool
	speed float64
	epoch int
}

// left is how much of its tasks is not done, in tasks.
func (r *run) left(now float64) float64 {
	did := r.did
	if !r.still {
		did = min(r.total, did+(now-r.from)*r.speed)
	}
	return float64(r.tasks) * (1 - did/r.total)
}

// settle brings the work that was done up to date and has the run stand still.
func (r *run) settle(now float64) {
	if !r.still {
		r.did = min(r.total, r.did+(now-r.from)*r.speed)
		r.still = true
	}
}
