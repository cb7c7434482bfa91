package sim

import (
	"math"
	"time"

	"godwit/predictor"
	"godwit/trace"
)

// advertEvery is how often a host gossips its record though nothing changed, as
// a live node does.
const advertEvery = 15 * time.Minute

// A foresight is what a swarm would know from gossip. Each host's predictor is
// told of its changes from the time on at which it first came; until a host
// comes nobody knows of it, but in Paper, where all are known from Start. That
// it vanished is known after Network.Detect, as to the scheduler. The record that
// a host gossips is as of its last change or advert, and the pool of all records
// is renewed, and learns what came true, every predictor.DefaultRound.
//
// It pulls: it reads the past up to the time of a question from the histories,
// so that nobody needs to tell it of changes or of its rounds, and a run in
// which no policy asks pays nothing. Of models that keep no record, which do
// without a pool, a host that nobody asks about costs nothing either.
type foresight struct {
	model   predictor.Model
	pool    *predictor.Pool
	hosts   []trace.Host
	watched []watched // nil until the first question
	records []predictor.Record
	answers []predictor.Answer
	pools   bool      // the model has records
	paper   bool      // see above
	detect  int64     // milliseconds until a host that vanished is missed
	start   time.Time // of the run
	round   int64     // Unix milliseconds of the next renewal of the pool
}

// A watched host is one of which its predictor has been told up to some time.
type watched struct {
	predictor predictor.Predictor // nil until it is needed
	recording predictor.Recording // the same; nil where the model has no records
	spell     int                 // of its history, to tell next; Len is its end
	change    int64               // Unix milliseconds when that begins; never if there is none
	seen      int64               // and when the swarm sees it: later if the host vanished
	advert    int64               // Unix milliseconds of the next advert; never before it came
}

// never is a time in Unix milliseconds that does not come.
const never = math.MaxInt64

// newForesight prepares forecasts by a model of the scenario's hosts.
func newForesight(m predictor.Model, s *Scenario) *foresight {
	pool := &predictor.Pool{}
	_, pools := m.New(pool).(predictor.Recording)
	detect := s.Network.Detect.Milliseconds()
	if s.Paper {
		detect = 0
	}
	return &foresight{
		detect: detect, model: m, pool: pool, hosts: s.Trace.Hosts, pools: pools, paper: s.Paper,
		start: s.Day0(), round: s.Day0().Add(predictor.DefaultRound).UnixMilli(),
	}
}

// stay is the probability that a host, available at now, stays so for d, and
// whether that rests on anything seen of it. A change at now is known if it
// made the host available, because hosts leave last of all that happens at one
// time. Times must not decrease.
func (f *foresight) stay(host int, now time.Time, d time.Duration) (p float64, known bool) {
	if f.watched == nil {
		f.begin()
	}
	ms := now.UnixMilli()
	for f.pools && ms >= f.round {
		f.gossip()
	}
	w := &f.watched[host]
	if w.predictor == nil {
		f.watch(host)
	}
	if w.seen <= ms {
		f.tell(host, ms)
		if w.seen == ms && (w.change < ms || f.comes(host)) {
			f.tell(host, ms+1) // it is back, perhaps before anybody missed it
		}
	}
	w.renew(min(ms, w.change))
	return w.predictor.Stay(now, d)
}

// begin is at the first question. The pool's readers settle it together.
func (f *foresight) begin() {
	f.watched = make([]watched, len(f.hosts))
	if f.pools {
		f.pool.Renew(nil)
		for i := range f.hosts {
			f.watch(i)
		}
	}
}

// watch begins with a host, of which it tells nothing yet.
func (f *foresight) watch(host int) {
	w, h := &f.watched[host], f.hosts[host].History
	w.predictor, w.advert = f.model.New(f.pool), never
	w.recording, _ = w.predictor.(predictor.Recording)
	w.spell = max(0, h.Find(f.start))
	for !f.paper && w.spell < h.Len() && h.Spell(w.spell).State != trace.Available {
		w.spell++
	}
	if w.spell == h.Len() || h.Until().Before(f.start) {
		w.spell, w.change, w.seen = h.Len(), never, never
		return
	}
	w.change = max(h.Spell(w.spell).Start.UnixMilli(), f.start.UnixMilli())
	w.seen = w.change
}

// comes says whether a host's next change makes it available.
func (f *foresight) comes(host int) bool {
	w, h := &f.watched[host], f.hosts[host].History
	return w.spell < h.Len() && h.Spell(w.spell).State == trace.Available
}

// look sets when the next change of a host is, and when it is seen. Of a host
// that vanished, without notice, nobody hears until it is missed or back.
func (f *foresight) look(w *watched, h *trace.History) {
	if w.spell == h.Len() {
		w.change = h.Until().UnixMilli()
		w.seen = w.change
		return
	}
	s := h.Spell(w.spell)
	w.change = s.Start.UnixMilli()
	w.seen = w.change
	if f.detect > 0 && (s.State == trace.Unavailable || s.State == trace.Unobserved) &&
		h.Spell(w.spell-1).State != trace.Leaving {
		w.seen = min(w.change+f.detect, s.End.UnixMilli())
	}
}

// tell tells a host's predictor of all changes seen before a time in Unix
// milliseconds. Where its history ends nobody looks any more.
func (f *foresight) tell(host int, before int64) {
	w, h := &f.watched[host], f.hosts[host].History
	for w.seen < before {
		w.renew(w.change - 1)
		at := time.UnixMilli(w.change).UTC()
		switch {
		case w.spell == h.Len():
			predictor.Blind(w.predictor, at)
			w.change, w.seen, w.advert = never, never, never
			return
		case h.Spell(w.spell).State == trace.Unobserved:
			predictor.Blind(w.predictor, at)
		default:
			w.predictor.Observe(at, h.Spell(w.spell).State)
		}
		if w.recording != nil {
			w.advert = w.change + advertEvery.Milliseconds()
		}
		w.spell++
		f.look(w, h)
	}
}

// renew has the host send its adverts up to now, each of them: what it learns
// depends on how often it looks, and should not on who asks when.
func (w *watched) renew(ms int64) {
	for ; w.advert <= ms; w.advert += advertEvery.Milliseconds() {
		w.recording.Tick(time.UnixMilli(w.advert).UTC())
	}
}

// gossip brings all records to the time of the round and renews the pool. As the
// round is no change of a host, each host's next forecast is by a new advert.
func (f *foresight) gossip() {
	f.records, f.answers = f.records[:0], f.answers[:0]
	for i := range f.watched {
		f.tell(i, f.round)
		if w := &f.watched[i]; w.advert != never {
			last := min(f.round-1, w.change)
			w.renew(last)
			w.recording.Tick(time.UnixMilli(last).UTC())
			w.advert = f.round
			f.records = append(f.records, w.recording.Record())
			f.answers = append(f.answers, w.recording.Answers()...)
		}
	}
	f.pool.Renew(f.records)
	f.pool.Learn(f.answers)
	f.round += predictor.DefaultRound.Milliseconds()
}
