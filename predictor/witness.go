package predictor

import (
	"slices"
	"strings"
	"time"
)

// A Witness follows other hosts by what they gossip, and tells what came true of what their
// records said before: the Answers of hosts whose Recorder runs elsewhere. It takes a
// host's word for when its session began, and only while somebody sees the host. The zero
// Witness is ready; it is for one goroutine at a time.
type Witness struct {
	hosts map[string]*witnessed
}

// A witnessed host, as it was seen last.
type witnessed struct {
	quiz
	up     bool
	since  uint32
	seen   int64 // when its newest record was issued, ms
	asked  int64 // when it was asked last, ms
	noted  bool  // in the present round
	reader Reader
}

// mostWitnessed bounds how many hosts a witness follows: half a megabyte. Of more, those
// that came first are enough to learn from.
const mostWitnessed = 256

// See takes in a record that a host issued at a time, and asks it the next questions if it
// is due. A record that is not newer than the last says only that the host is there.
func (w *Witness) See(host string, r *Record, issued time.Time, pool *Pool) {
	h := w.hosts[host]
	if h == nil {
		if len(w.hosts) >= mostWitnessed {
			return
		}
		if w.hosts == nil {
			w.hosts = map[string]*witnessed{}
		}
		h = &witnessed{since: r.Since}
		w.hosts[host] = h
	}
	h.noted = true
	at := millis(issued)
	if at <= h.seen {
		return
	}
	if r.Up && r.Since == h.since {
		h.ripen(at)
	} else {
		h.end(int64(r.Since)*1000, r.Up, at)
	}
	h.up, h.since, h.seen = r.Up, r.Since, at
	if h.up && !r.Blind && at-h.asked >= askEvery {
		h.asked = at
		h.reader = NewReader(r, pool)
		h.put(&h.reader, at)
	}
}

// end ends the session that was seen last. If the host is back, it left some time before
// it came, at the latest; else it left when it says.
func (h *witnessed) end(at int64, back bool, now int64) {
	at = max(h.seen, min(at, now))
	h.ripen(h.seen)
	if back {
		h.drop(at)
	} else {
		h.ripen(at)
	}
	h.leave()
	h.ripen(now)
}

// Answers ends a round, in which each host that is there was seen once: those that were not
// have left since they were seen last. It returns what came true, host by host in the order
// of their names, and forgets hosts that are gone.
func (w *Witness) Answers(now time.Time) []Answer {
	names := make([]string, 0, len(w.hosts))
	for name := range w.hosts {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	at := millis(now)
	var all []Answer
	for _, name := range names {
		h := w.hosts[name]
		if !h.noted {
			h.ripen(h.seen)
			h.drop(at)
			h.leave()
			h.up = false
			h.ripen(at)
		}
		h.noted = false
		all = append(all, h.take()...)
		if !h.up && !h.waits() {
			delete(w.hosts, name)
		}
	}
	return all
}
