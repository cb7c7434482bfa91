package predictor

import (
	"math"
	"time"
)

// The experts of the default predictor. Each is a survival curve of its own.
const (
	expertLife   = iota // how long this host's sessions last, given the age of this one
	expertHour          // how often it leaves at these hours of the day
	expertDays          // on how many of the last seven days it stayed through this window
	expertFast          // how often it left in its last hours
	expertSlow          // how often it left in its last days
	expertPooled        // how long anybody's sessions last, given the age
	experts
	weights = experts + 1 // and the bias
)

// firstTrust is how far each expert is trusted before anything is learnt.
var firstTrust = [weights]float64{.7, .1, .25, .05, .05, .15, .25}

// memory is the time that each recent memory spans, in hours there.
var memory = [recents]float64{4, 24}

// A Reader answers from a record and a pool: what a peer does with gossip. It
// takes about a kilobyte. The pool must not change while readers use it.
type Reader struct {
	pool   *Pool
	up     bool
	since  int64 // ms
	leave  int64 // ms, 0: none
	known  int64 // ms before since
	life   curve
	course dayCourse
	cliff  dayCourse
	runs   [wholeHours]uint8 // from this hour of the week, whole hours in a row, at most 25
	exits  [recents]float64  // at since
	there  [recents]float64  // at since, hours
	rate   float64           // the host's exits an hour, over all its past
	trust  [weights]float64
}

// Weights of the priors, per host: sessions entering an octave, hours there.
const (
	ownLives  = 8.0
	ownHours  = 4.0 // of the pool's rate of leaving in the host's
	hourHours = 2.0 // of the host's rate in an hour's
	daysDays  = 1.0 // of the pool's survival in the days' fraction
)

// NewReader reads a record. It does not keep r.
func NewReader(r *Record, pool *Pool) Reader {
	pool.settle()
	n := Reader{pool: pool, up: r.Up, since: int64(r.Since) * 1000, leave: int64(r.Leave) * 1000, known: int64(r.Known) * msPerHour}
	var lives Lives
	for k := range octaves {
		lives.Ends[k], lives.Lost[k] = float64(r.Ends[k]), float64(r.Lost[k])
	}
	ends := lives.hazards(&pool.ends, ownLives)
	n.life = newCurve(&ends)
	n.readCourse(r)
	n.readRuns(r)
	for i := range recents {
		n.exits[i] = fineValue(r.RecentExits[i])
		n.there[i] = float64(r.RecentUp[i]) / 256 * memory[i]
	}
	for i, w := range r.Weights {
		n.trust[i] = float64(w) * weightUnit
	}
	return n
}

// readCourse estimates the hazard of each hour: where the host was seen little,
// it is the host's own over the day, shaped as the pool's.
func (n *Reader) readCourse(r *Record) {
	var day tallied
	for h := range 24 {
		day.exits[h], day.up[h] = levels[r.Exits[h]], levels[r.Exposure[h]]
	}
	n.rate, n.course, n.cliff = day.split(ownHours, hourHours, n.pool.rate, &n.pool.ratio, n.pool.cliffRatio())
}

// explained is the share of the hazard at a time that its cliff is: how far an
// exit then was a matter of the clock.
func (n *Reader) explained(at int64) float64 {
	h := at / msPerHour % 24
	return n.cliff.rate[h] / (n.course.rate[h] + n.cliff.rate[h])
}

// longestRun is what a window of a day can touch: 24 whole hours and a part.
const longestRun = 25

// readRuns counts, for each hour of the week before the hour of Since, for how
// many hours in a row from there the host was there throughout. The hour of
// Since itself is broken; after it all are whole, as long as the session lasts.
func (n *Reader) readRuns(r *Record) {
	sinceHour := n.since / msPerHour
	run := uint8(0)
	for back := int64(1); back <= wholeHours; back++ {
		h := (sinceHour - back + 7*wholeHours) % wholeHours
		if sinceHour < back {
			break
		}
		if r.Whole[h/8]>>(h%8)&1 == 0 {
			run = 0
		} else {
			run = min(run+1, longestRun)
		}
		n.runs[h] = run
	}
}

// run is how many whole hours in a row the host was there from hour h of the
// epoch on, as far as a day's window needs.
func (n *Reader) run(h int64) int64 {
	sinceHour := n.since / msPerHour
	switch {
	case h > sinceHour:
		return longestRun
	case h == sinceHour || h < sinceHour-wholeHours:
		return 0
	}
	return int64(n.runs[h%wholeHours])
}

// Stay is the probability that the host, available at now, stays so for d: see
// Predictor. It assumes that the session which the record tells of still runs.
// It allocates nothing.
func (n *Reader) Stay(now time.Time, d time.Duration) (p float64, known bool) {
	at, ms := millis(now), d.Milliseconds()
	known = n.knownAt(at)
	if d <= 0 {
		return 1, known
	}
	if n.leave > 0 && at+ms > n.leave {
		return 0, known
	}
	var x [experts]float64
	n.ask(&x, at, ms)
	return mix(&n.trust, &x) * math.Exp(-n.cliff.hazard(at, ms)), known
}

// knownAt says whether the host was known for a day at a time.
func (n *Reader) knownAt(now int64) bool { return n.known+max(0, now-n.since) >= aDay }

// ask puts a question to the experts; x gets each one's log-odds of a stay.
func (n *Reader) ask(x *[experts]float64, now, d int64) {
	age := 0.0
	var ageMs int64
	if n.up {
		ageMs = max(0, now-n.since)
		age = hours(ageMs)
	}
	span := hours(d)
	x[expertLife] = logOdds(math.Exp(n.life.log(ageMs+d) - n.life.log(ageMs)))
	x[expertPooled] = logOdds(math.Exp(n.pool.life.log(ageMs+d) - n.pool.life.log(ageMs)))
	x[expertHour] = logOdds(math.Exp(-n.course.hazard(now, d)))
	x[expertDays] = logOdds(n.days(now, d))
	for i, m := range memory {
		fade := math.Exp(-age / m)
		exits := n.exits[i]*fade + recentHours*n.rate
		there := n.there[i]*fade + m*(1-fade) + recentHours
		x[expertFast+i] = logOdds(math.Exp(-exits / there * span))
	}
}

// recentHours is the weight of the host's rate in its recent rate, in hours.
const recentHours = 1.0

// days is the share of the last seven days on which the host stayed through the
// window that begins at this time of day. Beyond a day, days follow each other.
func (n *Reader) days(now, d int64) float64 {
	if d > msPerDay {
		return math.Pow(n.days(now, msPerDay), float64(d)/msPerDay)
	}
	stayed := daysDays * math.Exp(-n.pool.rate*hours(d))
	total := daysDays
	for i := int64(1); i <= 7; i++ {
		from := now - i*msPerDay
		if from < n.since-n.known || from < 0 {
			break
		}
		total++
		stayed += n.through(from, d)
	}
	return stayed / total
}

// through says how much a past window speaks for a stay: 1 if every hour that it
// touches was whole, 0 if one that lies in it was broken. A broken hour that
// reaches into it by a part broke it with about that probability.
func (n *Reader) through(from, d int64) float64 {
	h := from / msPerHour
	last := (from + d - 1) / msPerHour
	share := 1.0
	if n.run(h) == 0 {
		share -= hours(min(d, (h+1)*msPerHour-from))
	}
	if last > h {
		if run := n.run(h + 1); run < last-h-1 {
			return 0
		} else if run < last-h {
			share *= 1 - hours(from+d-last*msPerHour)
		}
	}
	return share
}

// mostOdds bounds an expert's log-odds: none is surer than 1 to 1000.
const mostOdds = 7

// logOdds is ln(p/(1-p)), bounded.
func logOdds(p float64) float64 {
	return max(-mostOdds, min(mostOdds, math.Log(p/(1-p))))
}

// mix weighs log-odds: the probability of a stay. With no weight negative it
// falls wherever an expert's does.
func mix(trust *[weights]float64, x *[experts]float64) float64 {
	z := trust[experts]
	for i := range x {
		z += trust[i] * x[i]
	}
	return odds(z)
}

// odds is the probability of log-odds.
func odds(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
