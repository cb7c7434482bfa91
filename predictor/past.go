package predictor

import "sort"

// A past is the recent changes of a host, for the predictors that look at the
// same window of earlier days. It keeps what they can still ask for.
type past struct {
	spell spell
	keep  int64 // ms
	marks []mark
}

// A mark is when a state began: available, away or blind.
type mark struct {
	at        int64
	up, blind bool
}

func (p *past) change(at int64, up, blind bool) {
	before, ended := p.spell.turn(at, up, blind)
	if before.begun && !ended {
		return
	}
	at = p.spell.since
	if n := len(p.marks); n > 0 && p.marks[n-1].at == at {
		p.marks = p.marks[:n-1]
	}
	p.marks = append(p.marks, mark{at, up, blind})
	// Forget in bulk, so that each change moves one mark on average.
	old := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].at > at-p.keep }) - 1
	if old > 16 && old > len(p.marks)/2 {
		p.marks = p.marks[:copy(p.marks, p.marks[old:])]
	}
}

// known says whether the host was watched at a time.
func (p *past) known(at int64) bool {
	i := p.find(at)
	return i >= 0 && !p.marks[i].blind
}

// find returns the mark that holds at a time, or -1 before the first.
func (p *past) find(at int64) int {
	return sort.Search(len(p.marks), func(i int) bool { return p.marks[i].at > at }) - 1
}

// window calls f for each run of one availability in [from, to), in order. What
// is before the first mark, blind, or not yet seen at now counts as away: the
// thesis's traces have nothing outside their hours.
func (p *past) window(from, to, now int64, f func(up bool, length int64)) {
	i := p.find(from)
	for at := from; at < to; i++ {
		end := to
		if i+1 < len(p.marks) {
			end = min(to, p.marks[i+1].at)
		}
		up := i >= 0 && p.marks[i].up
		if up && end > now {
			if at < now {
				f(true, now-at)
			}
			up, at = false, max(at, now)
		}
		if end > at {
			f(up, end-at)
		}
		at = end
	}
}
