package scheduler

import (
	"cmp"
	"slices"
	"time"

	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
)

// chunks gives members of the tasks of a sweep as many at once as the policy of chunks says.
type chunks struct {
	c *Coordinator
}

// How many tasks of a sweep a member is given at once is decided by the overlay's policy
// of chunks, one for each job. A member that has told of tasks is asked for when what it has
// left lasts no longer than the lookahead; what the placement policy then does not give it
// comes back at once. A policy that the rules do not name is asked only about tasks that
// are shorter than the lookahead: longer ones are given as members have slots, and one
// ahead, since more would wait behind them for no gain.

// A chunking is what the coordinator keeps of a job's chunks. It is made with the
// first, and goes with the job.
//
// Invariants: out is the sum of held over portions; parked are those of portions that have
// parked set.
type chunking struct {
	policy   chunk.Policy
	portions map[*host]*portion
	out      int
	parked   []*host // got none, and are asked for again; in the order of that
	events   int     // tasks that came back since they were last asked for
}

// A portion is what one member has of a job's chunks.
//
// Invariants: held counts the leases that name it, and, during a round, sized, which
// are not placed yet. over says that neither it nor its node is in use any more.
type portion struct {
	job    *job
	host   *host
	node   chunk.Node
	slots  int // as it joined with
	held   int
	sized  int
	done   int       // of the report that is being taken in
	since  time.Time // of the last report of the job, or when it was given what it holds
	pace   time.Duration
	given  int          // at once, the last time
	why    chunk.Reason // of that, or of none
	told   bool         // it told of tasks since
	parked bool
	// refused says that the policy wanted it to have none when it was last asked.
	refused bool
	over    bool
}

// chunked reports whether the policy of chunks decides on the job.
func (ch *chunks) chunked(j *job) bool {
	if j.total == 1 || ch.c.dispatch.rated() {
		return false
	}
	d, known := j.duration()
	return ch.c.cfg.Rules.Chunking != "" || known && d <= ch.c.cfg.Lookahead
}

// offerOf describes a host to the placement policy, with what it gets of the job that is
// next in turn. With no chunk of that it may have another job's.
func (ch *chunks) offerOf(j *job, h *host, chunked bool) place.Host {
	o := ch.offerAhead(j, h, chunked)
	if idle := max(0, h.slots-h.load); o.Free > idle && ch.c.dispatch.recalling.holdsUp(j, h) {
		if idle == 0 {
			return place.Host{}
		}
		return ch.c.members.offerRoom(h, h.slots)
	}
	return o
}

// offerAhead is offerOf with the room for tasks ahead.
func (ch *chunks) offerAhead(j *job, h *host, chunked bool) place.Host {
	if !chunked || !h.suits(j) {
		d, known := j.duration()
		return ch.c.members.offerRoom(h, h.slots+max(ch.c.members.ahead(h, d, known), ch.aheadOfWave(j, h, d, known)))
	}
	switch p := j.chunks.portions[h]; {
	case p != nil && p.sized > 0:
		return ch.c.members.offerRoom(h, h.load+p.sized)
	case ch.c.claims.queue.len() > 1 && h.load < h.slots:
		h.denied = j
		ch.c.dispatch.deciding.denied = append(ch.c.dispatch.deciding.denied, h)
		return ch.c.members.offerRoom(h, h.slots)
	}
	return place.Host{}
}

// aheadOfWave returns how many tasks of about that duration a host is given beyond its slots
// since those that began together end together, and all slots but one would wait for a round
// trip then: one a slot, as far as they last no longer than LongestAhead. So it is while more
// tasks wait than there are slots: toward its end a job's tasks go where a slot is idle; and
// neither where others wait for slots too, nor where it matters which task goes where.
func (ch *chunks) aheadOfWave(j *job, h *host, d time.Duration, known bool) int {
	if !known || d <= 0 || ch.c.claims.queue.len() > 1 || j.startable() < ch.c.claims.fair.all.slots ||
		ch.c.nearby.differ(j) {
		return 0
	}
	return min(h.slots, h.lasting(ch.c.cfg.LongestAhead, d), ch.c.cfg.MaxAhead)
}

// size asks the policy for the chunks of those hosts that it is time for: those with an
// idle slot first, and of these, where the policy has ranks, the first of them.
func (ch *chunks) size(j *job, hosts []*host) {
	if j.chunks == nil {
		j.chunks = ch.newChunking(j)
	}
	m := &ch.c.dispatch.deciding
	m.asked = m.asked[:0]
	for _, h := range hosts {
		if !h.eligible() || !h.suits(j) {
			continue
		}
		if p := j.chunks.portionOf(j, h); ch.wants(p) {
			m.asked = append(m.asked, p)
		}
	}
	if len(m.asked) > 1 {
		r, ranked := j.chunks.policy.(chunk.Ranker)
		slices.SortStableFunc(m.asked, func(a, b *portion) int {
			if d := compareBool(b.host.load < b.host.slots, a.host.load < a.host.slots); d != 0 || !ranked {
				return d
			}
			return cmp.Or(cmp.Compare(r.Rank(b.node), r.Rank(a.node)), cmp.Compare(a.node, b.node))
		})
	}
	remaining, room := ch.runsLeft(j), j.room()
	for _, p := range m.asked {
		for ch.give(p, remaining-int64(p.sized), room-p.sized) && ch.probes(p) {
		}
		remaining -= int64(p.sized)
		room -= p.sized
		if p.sized == 0 {
			j.chunks.park(p)
		}
	}
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// give asks the policy for a chunk of at most room runs, of so many that remain, and reports whether there was one.
func (ch *chunks) give(p *portion, remaining int64, room int) bool {
	most := min(ch.roomFor(p)-p.sized, room)
	if most <= 0 || remaining <= 0 {
		return false
	}
	k := p.job.chunks
	n, why := k.policy.Size(ch.c.now, p.node, chunk.Ask{Remaining: remaining, Most: most})
	p.refused = n <= 0 && p.sized == 0
	if fits := max(0, min(n, most, int(min(remaining, chunk.MaxChunk)))); n > fits { // it is no policy of ours
		k.policy.Back(ch.c.now, p.node, n-fits)
		n = fits
	}
	if n <= 0 {
		if p.sized == 0 {
			p.why = why
		}
		return false
	}
	if p.held == 0 {
		p.since = ch.c.now
	}
	k.out += n
	p.held, p.sized, p.why, p.told = p.held+n, p.sized+n, why, false
	p.given = p.sized
	return true
}

// probes reports whether a member that told of nothing yet gets another probe: by what the
// job's owner says, or others took, those so far end before the next could come.
func (ch *chunks) probes(p *portion) bool {
	d, known := p.job.duration()
	return ch.c.cfg.Rules.Chunking == "" && p.pace == 0 && known &&
		time.Duration(p.host.load+p.sized)*d < ch.c.cfg.Lookahead*time.Duration(p.host.slots)
}

// newChunking makes the policy that the rules name for a job.
func (ch *chunks) newChunking(j *job) *chunking {
	p, err := chunk.Parse(ch.c.cfg.Rules.Chunking, chunk.Job{Runs: int64(min(j.total*uint64(max(1, j.spec.Replicas)),
		chunk.MaxChunk))})
	if err != nil {
		panic("scheduler: the rules were not validated: " + err.Error())
	}
	return &chunking{policy: p, portions: map[*host]*portion{}}
}

// portionOf returns the host's portion, which joins with the first call.
func (k *chunking) portionOf(j *job, h *host) *portion {
	p := k.portions[h]
	if p != nil && p.held == 0 && p.slots != h.slots { // it is another machine to the policy
		k.leave(p)
		p = nil
	}
	if p == nil {
		p = &portion{job: j, host: h, slots: h.slots, node: k.policy.Join(chunk.Member{Slots: h.slots, Speed: h.speed,
			Available: float64(100-h.withheld) / 100})}
		k.portions[h] = p
		if h.portions == nil {
			h.portions = map[*job]*portion{}
		}
		h.portions[j] = p
	}
	return p
}

// wants reports whether it is time for the host's next chunk: it has a slot idle, or told
// of tasks since the last, and what it has left lasts no longer than the lookahead.
func (ch *chunks) wants(p *portion) bool {
	h := p.host
	if h.load < h.slots {
		return true
	}
	pace := ch.paceOf(p)
	return p.told && pace > 0 && time.Duration(h.load)*pace <= ch.c.cfg.Lookahead
}

// paceOf is how long the host takes for a task, all its slots together; 0 if nobody
// knows.
func (ch *chunks) paceOf(p *portion) time.Duration {
	if p.pace > 0 {
		return p.pace
	}
	d, _ := p.job.duration()
	return d / time.Duration(p.host.slots)
}

// roomFor bounds the host's next chunk. A policy that the rules name fills it as it
// will; the usual one gives no more ahead than lasts for LongestAhead, since jobs that
// come meanwhile wait behind it.
func (ch *chunks) roomFor(p *portion) int {
	h := p.host
	idle, most := max(0, h.slots-h.load), h.slots+ch.c.cfg.MaxAhead-h.load
	if pace := ch.paceOf(p); ch.c.cfg.Rules.Chunking == "" && pace > 0 {
		most = min(most, int(ch.c.cfg.LongestAhead/pace)-h.load)
	}
	return max(1, idle, most)
}

// runsLeft is how many runs of the job nobody has, at least 1 since some wait.
func (ch *chunks) runsLeft(j *job) int64 {
	open := j.total - min(j.total, j.done+j.failed+uint64(len(j.live)))
	return max(1, int64(min(open, chunk.MaxChunk))*int64(max(1, j.spec.Replicas)))
}

// park notes that the host got nothing, until tasks of others have come back.
func (k *chunking) park(p *portion) {
	if !p.parked {
		p.parked = true
		k.parked = append(k.parked, p.host)
	}
}

// sizedFor books a lease on the chunk that its host was given of its job, if it was.
func (l *lease) sizedFor() {
	if k := l.job.chunks; k != nil {
		if p := k.portions[l.host]; p != nil && p.sized > 0 {
			p.sized--
			l.portion = p
		}
	}
}

// keepsUnused reports whether members were given chunks of the job that they could not use
// in full: they lack memory, may not run what waits, or the placement policy wants others.
// Those others may have got none for that, and would not be asked for again. So for the
// rest of the Step the job is given as if there were no chunks.
func (ch *chunks) keepsUnused(j *job) bool {
	m := &ch.c.dispatch.deciding
	if m.plain == j || !slices.ContainsFunc(m.asked, func(p *portion) bool {
		return p.job == j && p.sized > 0 && !p.over
	}) {
		return false
	}
	m.plain = j
	return true
}

// refuses reports whether the policy of chunks wants any of these hosts to have nothing of
// the job for now.
func (j *job) refuses(hosts []*host) bool {
	return j.chunks != nil && slices.ContainsFunc(hosts, func(h *host) bool {
		p := j.chunks.portions[h]
		return p != nil && p.refused
	})
}

// unplaced takes back what was sized in a round and not placed.
func (ch *chunks) unplaced() {
	m := &ch.c.dispatch.deciding
	for _, h := range m.denied {
		h.denied = nil
	}
	m.denied = m.denied[:0]
	for _, p := range m.asked {
		if n := p.sized; n > 0 && !p.over {
			p.sized, p.told = 0, n < p.given || p.told // others had a part of what it has room for
			p.giveBack(ch.c.now, n)
		}
	}
	clear(m.asked)
	m.asked = m.asked[:0]
}

// giveBack tells the policy of tasks that come back undone.
func (p *portion) giveBack(now time.Time, n int) {
	k := p.job.chunks
	p.held -= n
	k.out -= n
	k.policy.Back(now, p.node, n)
}

// ranOne notes, of the report that is being taken in, that a lease's run is over.
func (ch *chunks) ranOne(l *lease) {
	p := l.portion
	if l.portion = nil; p == nil || p.over {
		return
	}
	if p.done++; p.done == 1 {
		ch.c.dispatch.deciding.ran = append(ch.c.dispatch.deciding.ran, p)
	}
}

// toldOfRuns tells the policies what a report said of runs that are over. Their time is
// that since the member's last report of the job, or since it was given what it has: all
// slots together.
func (ch *chunks) toldOfRuns() {
	for _, p := range ch.c.dispatch.deciding.ran {
		n := p.done
		if p.done = 0; p.over {
			continue
		}
		k, elapsed := p.job.chunks, max(0, ch.c.now.Sub(p.since))
		p.held -= n
		k.out -= n
		k.policy.Done(ch.c.now, p.node, n, elapsed)
		if each := elapsed / time.Duration(n); p.pace == 0 {
			p.pace = each
		} else {
			p.pace += (each - p.pace) / paceWeight
		}
		p.since, p.told = ch.c.now, true
		ch.askParked(p.job, n)
	}
	clear(ch.c.dispatch.deciding.ran)
	ch.c.dispatch.deciding.ran = ch.c.dispatch.deciding.ran[:0]
}

// paceWeight is the weight, as one in so many, of a report in a member's mean pace: about
// the last two count, as in the policies' own measures, which fade by half too.
const paceWeight = 2

// cameBack tells the policy of a lease whose task comes back undone.
func (ch *chunks) cameBack(l *lease) {
	p := l.portion
	if l.portion = nil; p == nil || p.over {
		return
	}
	p.told = true
	p.giveBack(ch.c.now, 1)
	ch.askParked(p.job, 1)
}

// parkedShare is what part of those that got nothing as many tasks must come back for all of
// them to be asked for again: so that a task costs no more of many than of few.
const parkedShare = 16

// askParked has those that got nothing asked for again, when tasks of the job came back.
func (ch *chunks) askParked(j *job, n int) {
	k := j.chunks
	k.events += n
	if len(k.parked) == 0 || k.out > 0 && k.events < len(k.parked)/parkedShare {
		return
	}
	k.events = 0
	for _, h := range k.parked {
		if p := k.portions[h]; p != nil && p.parked {
			p.parked = false
			ch.c.members.touchHost(h)
		}
	}
	k.parked = k.parked[:0]
}

// leave has the policy forget a host; what it had has come back with that.
func (k *chunking) leave(p *portion) {
	k.out -= p.held
	k.policy.Leave(p.node)
	delete(k.portions, p.host)
	delete(p.host.portions, p.job)
	p.over = true
}

// leaveChunks has the policies forget a host that is gone.
func (ch *chunks) leaveChunks(h *host) {
	for j, p := range h.portions {
		j.chunks.leave(p)
		ch.askParked(j, 1)
	}
}

// endChunks forgets a job's chunks.
func (ch *chunks) endChunks(j *job) {
	if j.chunks == nil {
		return
	}
	for h, p := range j.chunks.portions {
		p.over = true
		delete(h.portions, j)
	}
	j.chunks = nil
}
