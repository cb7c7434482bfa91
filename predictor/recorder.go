package predictor

import (
	"math"
	"time"

	"godwit/trace"
)

// A Recorder keeps a host's own record: the host tells it of its changes, and
// gossips what Record returns. It also learns which opinions to follow: it puts
// questions to its own record all the time, and when the answer is known, counts
// what each opinion lost. Others it puts for a pool to learn from, see Answers. Each
// update takes constant time. It is for one goroutine at a time.
type Recorder struct {
	pool  *Pool
	spell spell
	now   int64 // up to where time was followed

	lives     Lives
	day       tallied
	whole     [wholeHours]bool
	hourWhole bool // there since the hour's beginning
	left      [recents]float64
	there     [recents]float64
	leave     int64

	excess  [opinions]float64 // of each opinion's losses over the first's
	asked   int64             // number of questions put
	askAt   int64             // while the host is away: the time left until the next question
	pending [mostPending]question
	quiz    quiz // for the pool

	record Record
	reader Reader
	stale  bool // record and reader are older than the rest
}

// A question is what the recorder asked itself and cannot judge yet.
type question struct {
	until int64 // 0: free
	p     [opinions]float64
}

// The recorder asks itself about these horizons in turn, at steps which go
// through all times of the hour.
var horizons = [...]int64{1 * msPerHour, 3 * msPerHour, 6 * msPerHour, 24 * msPerHour}

const (
	askEvery    = 53 * msPerMinute
	mostPending = 16 // 24 h hold 7 questions of a day, 2 of 6 h, and a few
)

// NewRecorder returns the recorder of a host of which nothing is known. The
// pool may be replaced as gossip comes in, by writing to *pool.
func NewRecorder(pool *Pool) *Recorder {
	pool.settle()
	return &Recorder{pool: pool, stale: true}
}

// Observe tells of a change, as Predictor's does.
func (r *Recorder) Observe(at time.Time, s trace.State) {
	r.change(millis(at), s == trace.Available, false)
}

// Blind tells that observation stopped, as Blinder's does.
func (r *Recorder) Blind(at time.Time) { r.change(millis(at), false, true) }

// Declare notes when the host is going to leave; the zero time takes it back.
// A declared departure binds: no answer reaches beyond it.
func (r *Recorder) Declare(leave time.Time) {
	r.leave, r.stale = 0, true
	if !leave.IsZero() {
		r.leave = max(1000, millis(leave))
	}
}

// Tick tells that nothing changed until now. It may be called at any time and
// rate: Record is as of the last call of Tick, Observe or Blind.
func (r *Recorder) Tick(now time.Time) { r.follow(millis(now)) }

func (r *Recorder) change(at int64, up, blind bool) {
	at = max(at, r.now)
	r.follow(at)
	before, ended := r.spell.turn(at, up, blind)
	if !before.begun {
		r.now = at
		r.askAt = askEvery
		if up {
			r.askAt += at
		}
		r.stale = true
		return
	}
	if !ended {
		return
	}
	r.stale = true
	if before.up {
		r.askAt -= at // the clock of questions stands while the host is away
		r.end(before.age(at), at, blind)
	}
	r.hourWhole = up && at%msPerHour == 0
	if up {
		r.askAt += at
	}
}

// end counts a session of a length that ended, or was lost from sight, at a time.
func (r *Recorder) end(length, at int64, lost bool) {
	r.refresh() // as gossiped before the session ended
	r.stale = true
	k, _ := octave(length)
	for i, m := range memory {
		fade := math.Exp(-hours(length) / m)
		r.left[i] *= fade
		r.there[i] = r.there[i]*fade + m*(1-fade)
	}
	if lost {
		r.lives.Lost[k]++
		r.forget()
		r.drop()
		return
	}
	// A departure by the clock tells nothing of how long sessions last.
	clock := r.reader.explained(at)
	r.lives.Ends[k] += 1 - clock
	r.lives.Lost[k] += clock
	h := at / msPerHour % 24
	r.day.exits[h]++
	for i := range memory {
		r.left[i] += 1 - clock
	}
	r.forget()
	r.forgetHour(h)
	r.quiz.ripen(at)
	r.quiz.leave()
	for i := range r.pending {
		if q := &r.pending[i]; q.until != 0 {
			r.learn(q, false)
			q.until = 0
		}
	}
}

// forget halves the counts of sessions when one is full.
func (r *Recorder) forget() {
	full := false
	for k := range octaves {
		full = full || r.lives.Ends[k] > 255 || r.lives.Lost[k] > 15
	}
	if full {
		for k := range octaves {
			r.lives.Ends[k] /= 2
			r.lives.Lost[k] /= 2
		}
	}
}

// forgetHour halves an hour's counts when they are full.
func (r *Recorder) forgetHour(h int64) {
	if r.day.exits[h] > mostLevel || r.day.up[h] > mostLevel {
		r.day.exits[h] /= 2
		r.day.up[h] /= 2
	}
}

func (r *Recorder) drop() {
	r.quiz.ripen(r.now)
	r.quiz.drop(math.MaxInt64)
	for i := range r.pending {
		r.pending[i].until = 0
	}
}

// follow goes through the time from the last call to now, hour by hour, and puts
// and judges the questions that fall into it. What lies more than a week back is
// only counted: the work is bounded whatever the time.
func (r *Recorder) follow(now int64) {
	if !r.spell.begun || now <= r.now {
		return
	}
	r.stale = true
	if skip := (now-r.now)/msPerHour - wholeHours; skip > 0 {
		r.leap(skip * msPerHour)
	}
	for r.now < now {
		next := min(now, (r.now/msPerHour+1)*msPerHour)
		if r.spell.up {
			next = min(next, max(r.askAt, r.now+1))
		}
		r.step(next)
	}
}

// leap passes a long time in which nothing changed: all hours of the day alike.
func (r *Recorder) leap(ms int64) {
	if r.spell.up {
		each := hours(ms) / 24
		for h := range r.day.up {
			r.day.up[h] += each
			for r.day.up[h] > mostLevel {
				r.day.exits[h] /= 2
				r.day.up[h] /= 2
			}
		}
	}
	r.now += ms
	r.quiz.ripen(r.now)
	r.judge()
	r.hourWhole = r.spell.up
	if r.spell.up {
		r.askAt = max(r.askAt, r.now)
	}
}

// step moves to next, which lies within the hour or at its end.
func (r *Recorder) step(next int64) {
	h := r.now / msPerHour
	if r.spell.up {
		r.day.up[h%24] += hours(next - r.now)
		r.forgetHour(h % 24)
	}
	r.now = next
	r.quiz.ripen(next)
	if r.spell.up {
		r.judge()
		if next >= r.askAt {
			r.put()
		}
	}
	if next%msPerHour == 0 {
		r.whole[h%wholeHours] = r.hourWhole
		r.hourWhole = r.spell.up
	}
}

// judge answers the questions whose horizon the session has reached.
func (r *Recorder) judge() {
	for i := range r.pending {
		if q := &r.pending[i]; q.until != 0 && q.until <= r.now {
			r.learn(q, true)
			q.until = 0
		}
	}
}

// put asks the next question.
func (r *Recorder) put() {
	r.askAt = r.now + askEvery
	d := horizons[r.asked%int64(len(horizons))]
	r.asked++
	if !r.pool.plain {
		r.refresh()
		r.quiz.put(&r.reader, r.now)
	}
	for i := range r.pending {
		if q := &r.pending[i]; q.until == 0 {
			q.until = r.now + d
			r.refresh()
			r.reader.opinions(&q.p, r.now, d)
			return
		}
	}
}

// learn counts what each opinion lost by an answer, beside the first.
func (r *Recorder) learn(q *question, stayed bool) {
	y := 0.0
	if stayed {
		y = 1
	}
	first := (q.p[0] - y) * (q.p[0] - y)
	for i := 1; i < opinions; i++ {
		lost := (q.p[i] - y) * (q.p[i] - y)
		r.excess[i] = max(-mostExcess, min(mostExcess, r.excess[i]+lost-first))
	}
}

// Answers returns what came true since the last call of the questions that the host put to
// its own record for the pool's sake; of many the first.
func (r *Recorder) Answers() []Answer { return r.quiz.take() }

// Record returns the host's record as of the last call.
func (r *Recorder) Record() Record {
	r.refresh()
	return r.record
}

// Reader returns a reader of the host's own record, which holds until the next
// call of any other method.
func (r *Recorder) Reader() *Reader {
	r.refresh()
	return &r.reader
}

func (r *Recorder) refresh() {
	if !r.stale {
		return
	}
	r.stale = false
	r.fill(&r.record)
	r.reader = NewReader(&r.record, r.pool)
}

// fill writes the record.
func (r *Recorder) fill(n *Record) {
	*n = Record{Up: r.spell.up, Blind: r.spell.blind, Since: unixSeconds(r.spell.since), Leave: unixSeconds(r.leave)}
	n.Known = uint8(min(255, (r.spell.since-r.spell.first)/msPerHour))
	for k := range octaves {
		n.Ends[k], n.Lost[k] = uint8(math.Round(r.lives.Ends[k])), uint8(math.Round(r.lives.Lost[k]))
	}
	for h := range 24 {
		n.Exits[h], n.Exposure[h] = level(r.day.exits[h]), level(r.day.up[h])
	}
	sinceHour := r.spell.since / msPerHour
	for back := int64(1); back <= wholeHours && back <= sinceHour; back++ {
		if h := (sinceHour - back) % wholeHours; r.whole[h] {
			n.Whole[h/8] |= 1 << (h % 8)
		}
	}
	for i, m := range memory {
		n.RecentExits[i] = fineStep(r.left[i])
		n.RecentUp[i] = uint8(min(255, math.Round(r.there[i]/m*256)))
	}
	for i := range r.quiz.leans {
		n.Lean[i] = r.quiz.leans[i].steps()
	}
	for i, e := range r.excess[1:] {
		n.Excess[i] = excessStep(e)
	}
}
