package sandbox

// Of a large state that is not known yet, or has changed much, most is hashed,
// compressed and sent before the guest is stopped, in rounds: the first takes
// all pages, each other what was written during the one before. At the stop
// what is left is copied, as ever. A checkpoint is still the state at one
// instant, that of the stop: see freeze.Recorder.Ahead. What is sent ahead and
// changes before the stop is no part of it.

const (
	// aheadOver is how many bytes may be copied at a stop, which takes some 10 ms
	// of processor time: no more rounds are made where no more has changed.
	aheadOver = 64 << 20
	// aheadFits is how many may be copied if more rounds would leave as much, or
	// have the guest run slower still: it is half of what there is room for.
	aheadFits = copyMost / 2
	// aheadRounds is the most rounds. A guest that writes faster than can be sent
	// is slowed from one to the next.
	aheadRounds = 12
	// aheadTimes is how often, in the mean, each page of a memory at its limit can
	// be sent ahead for one checkpoint: a guest that writes all of it all the
	// time must not make its host store without end.
	aheadTimes = 4
)

// slowBy is how much less of the time a guest runs in each round that finds as
// much to send as the one before, if that is more than aheadFits; slowest is the
// least share.
const (
	slowBy  = 8
	slowest = 1. / 64
)

// prepare makes ready for a checkpoint while the guest runs, and gives the bytes
// that will have to be copied, as far as can be told.
func (x *execution) prepare() (bytes int64) {
	inUse, last := x.mem.inUse.Load(), x.last.copied.Load()
	expect := inUse
	if last >= 0 {
		expect = last + last/4 + spareCopies
	}
	if inUse <= aheadOver || expect <= aheadOver && !x.mem.tells() {
		return expect
	}
	done, ok := x.ready.begin()
	if !ok {
		return expect
	}
	defer close(done)
	r := rounds{x: x, share: 1}
	for range aheadRounds {
		if !r.next() {
			break
		}
	}
	return min(int64(r.changed+r.changed/4)*pageSize, x.mem.inUse.Load()) + spareCopies
}

// A rounds is what is done ahead for one checkpoint.
type rounds struct {
	x       *execution
	changed int     // pages, by the round that was made last, when it began
	share   float64 // of the time that the guest runs
}

// next makes a round, and reports whether another should be made. Where nothing
// tells what was written, a round shows that only when it is done.
func (r *rounds) next() (again bool) {
	x := r.x
	most := int(aheadTimes*x.req.Limits.Memory/pageSize) - x.last.sentAhead
	first, begun := r.changed == 0, false
	taken, err := x.recorder.Ahead(x.mem.buf[:x.mem.inUse.Load()], x.mem.read, x.send, func(left int) bool {
		if !begun {
			begun, again = true, !first && !x.mem.tells() || r.wants(left)
		}
		most--
		again = again && most >= 0 && !x.stopsAhead()
		return again
	})
	x.last.sentAhead += taken
	if again && !first && !x.mem.tells() {
		again = r.wants(taken)
	}
	return again && err == nil
}

// wants reports whether there is to be a round, or another one, by how many pages
// changed.
func (r *rounds) wants(changed int) bool {
	stuck := r.changed > 0 && changed > r.changed*3/4
	r.changed = changed
	switch {
	case changed <= aheadOver/pageSize, (stuck || r.share < 1) && changed*pageSize <= aheadFits:
		return false // what is left can be copied
	case stuck:
		r.share = max(r.share/slowBy, slowest)
		r.x.mail.slow(r.share)
	}
	return true
}

// stopsAhead reports whether rounds are to end, since the guest stops anyway.
func (x *execution) stopsAhead() bool {
	return x.mail.ordered() || x.ready.stops()
}
