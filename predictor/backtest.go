package predictor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"time"

	"godwit/trace"
)

// A Backtest asks predictors about the past of a trace, in the order of time and
// with nothing shown of what came after each question.
type Backtest struct {
	Histories []*trace.History
	Horizon   time.Duration
	From, End time.Time // questions are asked and decided between these
	Questions int       // how many, in groups of GroupSize
	Seed      uint64

	// Round is how often records are gossiped: a pool holds what they said at the
	// last round. 0 is DefaultRound.
	Round time.Duration
}

// GroupSize is how many hosts one is picked from (docs/spec/predictors.md section 3.2).
const GroupSize = 10

// DefaultRound is how often pools are renewed in a back-test.
const DefaultRound = 6 * time.Hour

// ErrNoQuestions says that no host is available where questions may be asked.
var ErrNoQuestions = errors.New("no host is available at a time that leaves room for the horizon")

// Ask draws questions: a time at which some host is available, uniformly over
// the hosts' time there, with that host and others that are available then, at
// random. Each group has one time; a group where fewer hosts are available is
// smaller. A question is drawn again when what happened was not observed.
func (b *Backtest) Ask() ([]Question, error) {
	last := b.End.Add(-b.Horizon)
	type stretch struct {
		host int
		from int64
		upTo int64 // sum of lengths up to here
	}
	var all []stretch
	sum := int64(0)
	for i, h := range b.Histories {
		for k := range h.Len() {
			s := h.Spell(k)
			if s.State != trace.Available {
				continue
			}
			from, to := max(s.Start.UnixMilli(), b.From.UnixMilli()), min(s.End.UnixMilli(), last.UnixMilli())
			if to > from {
				sum += to - from
				all = append(all, stretch{i, from, sum})
			}
		}
	}
	if sum == 0 {
		return nil, ErrNoQuestions
	}
	random := rand.New(rand.NewPCG(b.Seed, 0))
	var out []Question
	for group, tries := 0, 0; len(out) < b.Questions && tries < 10*b.Questions+10; tries++ {
		x := random.Int64N(sum)
		s := all[sort.Search(len(all), func(i int) bool { return all[i].upTo > x })]
		at := time.UnixMilli(s.from + s.upTo - 1 - x).UTC()
		n := len(out)
		for _, i := range b.others(random, s.host, at) {
			if stayed, ok := b.decide(i, at); ok {
				out = append(out, Question{Host: i, Group: group, At: at, Stayed: stayed})
			}
		}
		if len(out) > n {
			group++
		}
	}
	if len(out) == 0 {
		return nil, ErrNoQuestions
	}
	return out[:min(len(out), b.Questions)], nil
}

// others draws a group: the first host, and others that are available at a time.
func (b *Backtest) others(random *rand.Rand, first int, at time.Time) []int {
	group := []int{first}
	for _, i := range random.Perm(len(b.Histories)) {
		if len(group) == GroupSize {
			break
		}
		if i != first && b.available(i, at) {
			group = append(group, i)
		}
	}
	return group
}

func (b *Backtest) available(i int, at time.Time) bool {
	h := b.Histories[i]
	k := h.Find(at)
	return k >= 0 && h.Spell(k).State == trace.Available
}

// decide says whether host i, available at a time, stays for the horizon; ok is
// false when that was not observed.
func (b *Backtest) decide(i int, at time.Time) (stayed, ok bool) {
	h := b.Histories[i]
	until := at.Add(b.Horizon)
	for k := h.Find(at); k < h.Len(); k++ {
		s := h.Spell(k)
		switch {
		case s.State == trace.Unobserved:
			return false, false
		case s.State != trace.Available:
			return false, true
		case !s.End.Before(until):
			return true, true
		}
	}
	return false, false
}

// A Run is one model's way through a back-test.
type Run struct {
	test  *Backtest
	pool  *Pool
	hosts []replay
	out   []Question
}

// A replay is one host's history, as far as its predictor was told.
type replay struct {
	predictor Predictor
	recording Recording // nil where it keeps no record
	history   *trace.History
	next      int // spell to tell
	told      bool
	asks      []int // its questions, by time
}

// Run asks a model the questions of Ask and returns them with its answers. For
// each round it calls each once, with the number of hosts and a function to be
// called for every one of them, in any order or at once: only the calls of one
// each may run together.
func (b *Backtest) Run(m Model, qs []Question, each func(n int, host func(i int))) ([]Question, error) {
	round := b.Round
	if round == 0 {
		round = DefaultRound
	}
	if round < 0 || b.Horizon <= 0 {
		return nil, fmt.Errorf("back-test with horizon %v and rounds of %v: both are longer than nothing", b.Horizon, round)
	}
	r := b.start(m, qs)
	now, stop := r.bounds()
	for now.Before(stop) {
		now = now.Add(round)
		each(len(r.hosts), func(i int) { r.advance(i, now) })
		r.gossip()
	}
	return r.out, nil
}

func (b *Backtest) start(m Model, qs []Question) *Run {
	r := &Run{test: b, pool: &Pool{}, hosts: make([]replay, len(b.Histories)), out: append([]Question(nil), qs...)}
	r.pool.settle()
	for i, h := range b.Histories {
		p := m.New(r.pool)
		recording, _ := p.(Recording)
		r.hosts[i] = replay{predictor: p, recording: recording, history: h}
		for k := 0; k < h.Len() && h.Spell(k).State != trace.Available; k++ {
			r.hosts[i].next = k + 1 // nobody knew of it before it came
		}
	}
	for k, q := range qs {
		r.hosts[q.Host].asks = append(r.hosts[q.Host].asks, k)
	}
	for i := range r.hosts {
		asks := r.hosts[i].asks
		sort.SliceStable(asks, func(a, b int) bool { return qs[asks[a]].At.Before(qs[asks[b]].At) })
	}
	return r
}

// bounds are the beginning of the first history and the time of the last question.
func (r *Run) bounds() (from, to time.Time) {
	from = r.test.End
	for _, h := range r.test.Histories {
		if h.Len() > 0 && h.Since().Before(from) {
			from = h.Since()
		}
	}
	for _, q := range r.out {
		if q.At.After(to) {
			to = q.At
		}
	}
	return from, to.Add(1)
}

// advance tells host i's predictor of what happened before until, and puts the
// questions that fall there to it.
func (r *Run) advance(i int, until time.Time) {
	h := &r.hosts[i]
	for {
		var change time.Time
		more := h.next < h.history.Len()
		if more {
			change = h.history.Spell(h.next).Start
			more = change.Before(until)
		}
		for len(h.asks) > 0 {
			q := &r.out[h.asks[0]]
			if !q.At.Before(until) || (more && !q.At.Before(change)) {
				break
			}
			h.tick(q.At)
			q.P, q.Known = h.predictor.Stay(q.At, r.test.Horizon)
			h.asks = h.asks[1:]
		}
		if !more {
			break
		}
		h.tell(h.history.Spell(h.next))
		h.next++
	}
	h.tick(until.Add(-time.Millisecond))
}

func (h *replay) tick(now time.Time) {
	if h.recording != nil && h.told {
		h.recording.Tick(now)
	}
}

func (h *replay) tell(s trace.Spell) {
	h.told = true
	if s.State == trace.Unobserved {
		Blind(h.predictor, s.Start)
		return
	}
	h.predictor.Observe(s.Start, s.State)
}

// gossip renews the pool from the hosts' records, and tells it what came true.
func (r *Run) gossip() {
	var records []Record
	var answers []Answer
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.recording == nil {
			return
		}
		if h.told {
			records = append(records, h.recording.Record())
			answers = append(answers, h.recording.Answers()...)
		}
	}
	r.pool.Renew(records)
	r.pool.Learn(answers)
}
