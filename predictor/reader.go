package predictor

import "math"

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

// memory is the time that each recent memory spans, in hours there.
var memory = [recents]float64{4, 24}

// A Reader answers from a record and a pool: what a peer does with gossip. It
// takes about a kilobyte. The pool must not change while readers use it.
type Reader struct {
	pool   *Pool
	lives  Lives
	up     bool
	since  int64 // ms
	hour   int64 // of since
	leave  int64 // ms, 0: none
	known  int64 // ms before since
	life   curve
	course dayCourse
	cliff  dayCourse
	runs   [wholeHours]uint8 // from this hour of the week, whole hours in a row, at most 25
	exits  [recents]float64  // at since
	there  [recents]float64  // at since, hours
	rate   float64           // the host's exits an hour, over all its past
	left   float64           // exits over all its past, up to what a record counts
	lasted float64           // hours there before since, as far as lengths tell
	weight [opinions]float64
	lean   [leans]float64 // log-odds
	memo   memo
}

// Weights of the priors, per host: sessions entering an octave, hours there. On
// the same halves, 3 to 20 sessions were all alike.
const (
	ownLives  = 8.0
	ownHours  = 4.0 // of the pool's rate of leaving in the host's
	hourHours = 2.0 // of the host's rate in an hour's
	daysDays  = 1.0 // of the pool's survival in the days' fraction
)

// NewReader reads a record. It does not keep r.
func NewReader(r *Record, pool *Pool) Reader {
	pool.settle()
	n := Reader{pool: pool, up: r.Up, since: int64(r.Since) * 1000, leave: int64(r.Leave) * 1000,
		known: int64(r.Known) * msPerHour}
	var lives Lives
	for k := range octaves {
		lives.Ends[k], lives.Lost[k] = float64(r.Ends[k]), float64(r.Lost[k])
	}
	n.lives = lives
	ends := lives.hazards(&pool.ends, ownLives)
	n.life = newCurve(&ends)
	n.readCourse(r)
	n.readRuns(r)
	for i := range recents {
		n.exits[i] = fineValue(r.RecentExits[i])
		n.there[i] = float64(r.RecentUp[i]) / 256 * memory[i]
	}
	for k := range octaves {
		n.left += lives.Ends[k]
		n.lasted += (lives.Ends[k] + lives.Lost[k]) * middles[k]
	}
	excess := pool.prior
	for i, e := range r.Excess {
		excess[i+1] += excessValue(e)
	}
	n.weight = weigh(&excess)
	for i, steps := range r.Lean {
		n.lean[i] = leanStep * float64(steps)
	}
	return n
}

// middles are what sessions of each octave last in the mean, in hours, if their lengths
// are spread evenly over the octave's logarithm.
var middles = func() (m [octaves]float64) {
	const minutesAnHour = 60
	m[0] = .5 / minutesAnHour
	for k := 1; k < octaves; k++ {
		m[k] = math.Exp2(float64(k-1)) / math.Ln2 / minutesAnHour
	}
	return m
}()

// evenHours is the weight of the pool's rate in the host's over all its past, in hours.
const evenHours = 24.0

// A moment is what is the same for all questions of one time.
type moment struct {
	now          int64
	age          int64            // of the session, 0 where the host is not there
	life, pooled float64          // logarithms of the survival to that age
	recent       [recents]float64 // exits per hour of late
	even         float64          // exits per hour in all the past
	hour, cliff  float64          // hazards summed up to now
}

// moment works out what all questions of a time share.
func (n *Reader) moment(now int64) (m moment) {
	m.now = now
	there := n.lasted + evenHours
	if n.up {
		m.age = max(0, now-n.since)
		there += hours(m.age)
	}
	m.even = (n.left + evenHours*n.pool.rate) / there
	from, in := octave(m.age)
	m.life, m.pooled = n.life.log(from, in), n.pool.life.log(from, in)
	for i, of := range memory {
		fade := math.Exp(-hours(m.age) / of)
		exits := n.exits[i]*fade + recentHours*n.rate
		m.recent[i] = exits / (n.there[i]*fade + of*(1-fade) + recentHours)
	}
	m.hour, m.cliff = n.course.sumTo(now), n.cliff.sumTo(now)
	return m
}

// stays is the probability of a stay for d if the host left at one rate all its life.
func (m *moment) stays(d int64) float64 { return math.Exp(-m.even * hours(d)) }

// clock is the hazard of departures by the clock over d.
func (n *Reader) clock(m *moment, d int64) float64 { return n.cliff.sumTo(m.now+d) - m.cliff }

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
	n.hour = n.since / msPerHour
	run := uint8(0)
	for back := int64(1); back <= wholeHours; back++ {
		h := (n.hour - back + 7*wholeHours) % wholeHours
		if n.hour < back {
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
	switch {
	case h > n.hour:
		return longestRun
	case h == n.hour || h < n.hour-wholeHours:
		return 0
	}
	return int64(n.runs[uint32(h)%wholeHours])
}

// opinions asks each opinion.
func (n *Reader) opinions(p *[opinions]float64, now, d int64) {
	var x [experts]float64
	m := n.moment(now)
	n.askAt(&x, &m, d)
	opine(p, &x, m.stays(d), n.clock(&m, d))
}

// knownAt says whether the host was known for a day at a time.
func (n *Reader) knownAt(now int64) bool { return n.known+max(0, now-n.since) >= aDay }

// ask puts a question to the experts; x gets each one's log-odds of a stay.
func (n *Reader) ask(x *[experts]float64, now, d int64) {
	m := n.moment(now)
	n.askAt(x, &m, d)
}

// askAt is ask at a time that was worked out before.
func (n *Reader) askAt(x *[experts]float64, m *moment, d int64) {
	to, on := octave(m.age + d)
	x[expertLife] = survives(m.life - n.life.log(to, on))
	x[expertPooled] = survives(m.pooled - n.pool.life.log(to, on))
	x[expertHour] = survives(n.course.sumTo(m.now+d) - m.hour)
	x[expertDays] = logOdds(n.days(m.now, d))
	for i, rate := range m.recent {
		x[expertFast+i] = survives(rate * hours(d))
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
	w := newWindow(now, d)
	stayed, total := daysDays*math.Exp(-n.pool.rate*hours(d)), daysDays
	for i := int64(1); i <= 7; i++ {
		if at := now - i*msPerDay; at < n.since-n.known || at < 0 {
			break
		}
		total++
		stayed += n.through(&w, w.hour-24*i)
	}
	return stayed / total
}

// A window of a day as its hours: the first, how much of it lies in the window,
// how many hours later the last is, and how much of that.
type window struct {
	hour        int64
	first, last float64
	more        int64
}

func newWindow(at, d int64) window {
	w := window{hour: at / msPerHour}
	end := at + d
	w.more = (end-1)/msPerHour - w.hour
	w.first = hours(min(d, (w.hour+1)*msPerHour-at))
	if w.more > 0 {
		w.last = hours(end - (w.hour+w.more)*msPerHour)
	}
	return w
}

// through says how much a window moved to begin in hour h speaks for a stay: 1 if
// every hour that it touches was whole, 0 if one that lies in it was broken. A
// broken hour that reaches into it by a part broke it with about that
// probability.
func (n *Reader) through(w *window, h int64) float64 {
	share := 1.0
	if n.run(h) == 0 {
		share -= w.first
	}
	if w.more > 0 {
		switch run := n.run(h + 1); {
		case run < w.more-1:
			return 0
		case run < w.more:
			share *= 1 - w.last
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

// survives is the log-odds of a stay against a summed hazard, ln(1/(e^h-1)).
func survives(h float64) float64 {
	return max(-mostOdds, min(mostOdds, -math.Log(math.Expm1(h))))
}

// mix weighs log-odds: the probability of a stay. With no weight negative it
// falls wherever an expert's does.
func mix(weight *[weights]float64, x *[experts]float64) float64 {
	z := weight[experts]
	for i := range x {
		z += weight[i] * x[i]
	}
	return odds(z)
}

// odds is the probability of log-odds.
func odds(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
