// Package histories keeps what members gossip of their availability, and answers from it with any predictor. Adverts
// have a survival record, which is enough for the usual predictor. Others, such as TDE, look at the same hours of earlier
// days. For them each advert has another part of its sender's last weeks, and a Book puts the parts together.
package histories

import (
	"slices"
	"sort"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

const (
	// Days is for how long a history is kept. TDE looks at 31 days at most.
	Days = 32 * 24 * time.Hour
	// MaxSpans bounds the spells that are kept of a member: the newest of them, 16 in a day on average.
	MaxSpans = 512
	// MaxMembers bounds the members whose histories are kept: beyond it the one that was heard of least recently is
	// forgotten. Full, a book takes some 33 MiB.
	MaxMembers = 4096
)

// A Book has the histories of members. The zero value is empty. It is for one goroutine at a time.
type Book struct {
	of     map[task.PeerID]*entry
	models map[string]*model
}

// A model is a kind of predictor with what its predictors share.
type model struct {
	predictor.Model
	pool predictor.Pool
}

// An entry is a member's history.
type entry struct {
	spans []span // in order; what lies between them is not known
	heard time.Time
	made  map[string]predictor.Predictor // from spans
}

// A span is a time in one state, in milliseconds since 1970.
type span struct {
	from, to int64
	state    trace.State
}

// Note takes in a part of a member's history, of which the member told at a time. It reports whether anything in it is
// new. What the member told before stays: nobody rewrites its past. What would lie in the future is left out.
func (b *Book) Note(peer task.PeerID, now time.Time, part *trace.History) bool {
	if part == nil || part.Len() == 0 {
		return false
	}
	e := b.of[peer]
	if e == nil {
		e = b.add(peer)
	}
	e.heard = now
	grown := false
	for i := range part.Len() {
		s := part.Spell(i)
		if s.State == trace.Unobserved {
			continue
		}
		from := max(s.Start.UnixMilli(), now.Add(-Days).UnixMilli())
		grown = e.put(span{from, min(s.End.UnixMilli(), now.UnixMilli()), s.State}) || grown
	}
	if grown {
		e.trim(now)
		e.made = nil
	}
	return grown
}

// add makes room for a member.
func (b *Book) add(peer task.PeerID) *entry {
	if b.of == nil {
		b.of = map[task.PeerID]*entry{}
	}
	if len(b.of) >= MaxMembers {
		delete(b.of, b.oldest())
	}
	b.of[peer] = &entry{}
	return b.of[peer]
}

// oldest is the member that was heard of least recently. Strangers can fill a book, so no order of all is made.
func (b *Book) oldest() (oldest task.PeerID) {
	var heard time.Time
	for peer, e := range b.of {
		if order := e.heard.Compare(heard); oldest == "" || order < 0 || order == 0 && peer < oldest {
			oldest, heard = peer, e.heard
		}
	}
	return oldest
}

// put adds what of a span is not known yet, and reports whether that is anything.
func (e *entry) put(s span) (grown bool) {
	i := sort.Search(len(e.spans), func(i int) bool { return e.spans[i].to > s.from })
	for s.from < s.to {
		end := s.to
		if i < len(e.spans) {
			end = min(end, e.spans[i].from)
		}
		if s.from < end {
			i = e.insert(i, span{s.from, end, s.state})
			grown = true
		}
		if i == len(e.spans) {
			return grown
		}
		s.from = max(s.from, e.spans[i].to)
		i++
	}
	return grown
}

// insert puts a span before the i-th, or into its neighbours if they are of the same state. It returns the place of the
// next span.
func (e *entry) insert(i int, s span) int {
	if i > 0 && e.spans[i-1].to == s.from && e.spans[i-1].state == s.state {
		e.spans[i-1].to = s.to
	} else {
		e.spans = slices.Insert(e.spans, i, s)
		i++
	}
	if i < len(e.spans) && e.spans[i].from == s.to && e.spans[i].state == s.state {
		e.spans[i-1].to = e.spans[i].to
		e.spans = slices.Delete(e.spans, i, i+1)
	}
	return i
}

// trim forgets what is too old or too much.
func (e *entry) trim(now time.Time) {
	oldest := now.Add(-Days).UnixMilli()
	i := sort.Search(len(e.spans), func(i int) bool { return e.spans[i].to > oldest })
	i = max(i, len(e.spans)-MaxSpans)
	e.spans = slices.Delete(e.spans, 0, i)
}

// Known is for how long of its last Days something is known of a member.
func (b *Book) Known(peer task.PeerID) (known time.Duration) {
	if e := b.of[peer]; e != nil {
		for _, s := range e.spans {
			known += time.Duration(s.to-s.from) * time.Millisecond
		}
	}
	return known
}

// Stay is the probability that a member, available now, stays for d without a break, by a predictor as predictor.Parse
// reads it. known is false where nothing is known of the member, and for what is no predictor.
func (b *Book) Stay(spec string, peer task.PeerID, now time.Time, d time.Duration) (p float64, known bool) {
	m := b.model(spec)
	if m == nil {
		return 1, false
	}
	e := b.of[peer]
	if e == nil {
		return m.New(&m.pool).Stay(now, d)
	}
	told := e.made[spec]
	if told == nil {
		if e.made == nil {
			e.made = map[string]predictor.Predictor{}
		}
		told = m.New(&m.pool)
		e.tell(told)
		e.made[spec] = told
	}
	return told.Stay(now, d)
}

// tell has a predictor follow the history.
func (e *entry) tell(p predictor.Predictor) {
	for i, s := range e.spans {
		if i > 0 && e.spans[i-1].to < s.from {
			predictor.Blind(p, time.UnixMilli(e.spans[i-1].to))
		}
		p.Observe(time.UnixMilli(s.from), s.state)
	}
}

// mostModels bounds the predictors that are remembered. An overlay's rules name few.
const mostModels = 16

func (b *Book) model(spec string) *model {
	if m := b.models[spec]; m != nil {
		return m
	}
	of, err := predictor.Parse(spec)
	if err != nil {
		return nil
	}
	if b.models == nil || len(b.models) >= mostModels {
		b.models = map[string]*model{}
	}
	m := &model{Model: of}
	b.models[spec] = m
	return m
}
