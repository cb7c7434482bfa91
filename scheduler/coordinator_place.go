package scheduler

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// A dispatch gives waiting tasks to members: round after round it asks the policies of shares,
// of chunks and of placement whose turn it is, how much each gets and where it goes.
type dispatch struct {
	c *Coordinator

	policy   place.Policy
	forecast place.Forecast
	asking   bool     // a reminder to ask the policy again is set
	deciding deciding // memory of rounds and scans
	touched  []*host  // whose capacity may have grown
	widened  bool     // the queue has something that idle hosts have not been asked for
}

// begin begins a Step.
func (q *dispatch) begin() {
	q.touched, q.widened = q.touched[:0], false
	q.deciding.step++
}

// placeWaiting asks the policies for new placements. It leaves no waiting task that any
// host would take and that may have a slot; so the next time only hosts that have
// changed need be looked at, or all idle ones when something new waits.
func (q *dispatch) placeWaiting() {
	for _, h := range q.touched {
		h.touched = false
	}
	if q.c.term.recovering || q.c.claims.queue.len() == 0 {
		return
	}
	if q.c.claims.fair.terms.Guarded && len(q.touched) > 0 {
		q.widened = true // what the guard kept free may be given now
	}
	rated := q.tellRates()
	hosts := q.candidates()
	if rated && q.c.claims.byClass != nil {
		q.placeByClass(hosts)
		return
	}
	f := &q.c.claims.fair
	f.blocked, f.roaming, q.deciding.plain = false, f.roaming[:0], nil
	for f.fruitless = 0; f.fruitless < maxFruitless && q.c.claims.queue.len() > 0 && q.admit(hosts) && !(f.ahead && f.blocked) && q.divide(); {
		if q.round() > 0 {
			f.fruitless = 0
		} else {
			f.fruitless++
		}
		done := len(f.parts) == 0
		if q.requeue(); done {
			break // nobody may have any
		}
	}
	q.c.chunks.unplaced()
	q.bringBack()
	q.fillIdle(hosts)
}

// round has tasks placed as the round's parts say, site by site, and returns how many.
func (q *dispatch) round() int {
	was := q.c.term.seq
	for rest := q.c.claims.fair.parts; len(rest) > 0; {
		var parts []part
		parts, rest = partsOf(rest)
		view, placements := q.decide(parts)
		q.c.effects = slices.Grow(q.c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			q.placeOne(view, p)
		}
		view.rest()
	}
	return int(q.c.term.seq - was)
}

// decide asks the placement policy about parts of one site. What it returns holds until
// it is called again.
func (q *dispatch) decide(parts []part) (*queueView, []place.Placement) {
	m := &q.deciding
	hosts, offers := m.at(parts[0].site)
	m.view.begin(q.c, hosts, parts)
	q.situate(parts[0].job.mayResume())
	var queue place.Queue = &m.view
	if q.rated() {
		queue = m.classes.ofParts(&m.view)
	}
	return &m.view, q.policy.Place(q.c.now, queue, offers, foretold{q.c}, m.random(q.c.term.epoch, q.c.term.seq))
}

// candidates returns the hosts to place on in this Step, by name.
func (q *dispatch) candidates() []*host {
	m := &q.deciding
	m.hosts = m.hosts[:0]
	if q.shortlist() {
		return m.hosts
	}
	if q.pushes() { // a task may be for any member
		for _, h := range q.c.members.roster.all() {
			if h.eligible() {
				m.hosts = append(m.hosts, h)
			}
		}
		return m.hosts
	}
	for _, h := range q.touched {
		if h.eligible() && (!q.widened || !q.c.members.idle.has(h)) {
			m.hosts = append(m.hosts, h)
		}
	}
	slices.SortFunc(m.hosts, byPeer)
	if q.widened {
		m.hosts = mergeHosts(m.hosts, q.c.members.idle.all())
	}
	return m.hosts
}

// placeOne gives a lease as the policy says. A policy that names a host or a
// task that it was not shown is not heeded.
func (q *dispatch) placeOne(view *queueView, p place.Placement) {
	ref := view.find(p.Task)
	h := q.c.members.hosts[p.Peer]
	if ref == nil || ref.placed || h == nil || !h.eligible() {
		return
	}
	j := ref.job
	if j.worksOn(ref.index, h.peer) {
		return
	}
	ref.placed = true
	q.c.term.seq++
	why := q.partOf(view, ref, p.Reason)
	l := q.c.addLease(j, h, ref.index, message.Attempt{Epoch: q.c.term.epoch, Seq: q.c.term.seq}, why, nil)
	l.sizedFor()
	q.bePatient(l)
	q.c.post(l)
	q.c.decided(p.Task, "placed", h.peer, why)
}

// partOf counts a placement to its job's part, and says why it goes there and why it is
// its turn, if that was asked.
func (q *dispatch) partOf(view *queueView, ref *liveRef, why place.Reason) string {
	part := &view.parts[ref.part]
	part.placed++
	if part.why == (share.Reason{}) {
		return why.String()
	}
	return task.ClipMessage(why.String() + "; its turn: " + part.why.String())
}

// post puts a lease in this Step's letter to its worker, with those who hold
// the job's blocks.
func (c *Coordinator) post(l *lease) {
	c.postTo(l.host, l.job, message.Lease{
		Task: l.taskID(), Attempt: l.attempt, TTL: c.cfg.LeaseTTL, From: l.saved.from,
		Left: min(c.dispatch.leftFrom(l.job, l.task.index, l.saved.from, l.attempt), task.MaxDuration),
	})
}

func (c *Coordinator) postTo(h *host, j *job, l message.Lease) {
	m := c.outbox.letter(h.peer)
	if m.place == nil {
		m.place = &message.Place{Epoch: c.term.epoch, Holders: map[task.JobID][]task.PeerID{}}
	}
	m.place.Leases = append(m.place.Leases, l)
	holders, ok := m.place.Holders[j.id]
	if !ok {
		holders = make([]task.PeerID, 0, 3)
		holders = append(holders, c.self)
		if j.submitter != c.self {
			holders = append(holders, j.submitter)
		}
		if first, ok := c.replicas.First(); ok && first != j.submitter {
			holders = append(holders, first)
		}
	}
	if l.From != nil {
		holders = c.holdState(holders, j, l.Task.Index)
	}
	m.place.Holders[j.id] = holders
}

// holdState adds to the holders of a job those that may have the state of one of its
// tasks: after a change of leaders the blocks may be with the last one, or with who
// made them, alone.
func (c *Coordinator) holdState(holders []task.PeerID, j *job, i uint64) []task.PeerID {
	add := func(p task.PeerID) {
		if len(holders) < message.MaxHolders && !slices.Contains(holders, p) {
			holders = append(holders, p)
		}
	}
	for _, p := range c.replicas.Group() {
		add(p)
	}
	ran := 0
	for _, l := range slices.Backward(j.row(i).Log) {
		if l.Outcome != "" && l.Outcome != "refused" && ran < lastWorkers {
			ran++
			add(l.Worker)
		}
	}
	return holders
}

// lastWorkers is how many of those that ran a task last are asked for its state:
// the last made it, or the one before if that lost it.
const lastWorkers = 2

// recall takes tasks that wait at one worker back when nothing waits here and
// another worker is idle. The worker answers with a refusal if the task had
// not started; only then is it placed again, so that nothing runs twice.
func (q *dispatch) recall() {
	if q.pushes() || !q.c.members.uneven || q.c.claims.queue.len() > 0 || q.c.members.idle.len() == 0 || len(q.c.members.backlog) == 0 || q.c.term.recovering {
		return
	}
	q.c.members.uneven = false
	slots, pending := 0, 0
	for _, h := range q.c.members.idle.all() {
		slots += h.slots - h.load
	}
	behind := slices.SortedFunc(maps.Values(q.c.members.backlog), func(a, b *host) int {
		return cmp.Or(cmp.Compare(b.load-b.slots-b.recalls, a.load-a.slots-a.recalls), cmp.Compare(a.peer, b.peer))
	})
	for _, h := range behind {
		pending += h.recalls
	}
	for _, h := range behind {
		for n := h.load - h.slots - h.recalls; n > 0 && pending < slots; n-- {
			if !q.recallFrom(h) {
				break
			}
			pending++
		}
	}
}

// recallFrom asks for the lease that would start last, if its wait is worth it
// and an idle host could run it.
func (q *dispatch) recallFrom(h *host) bool {
	for k := len(h.leases) - 1; k >= 0; k-- {
		l := h.leases[k]
		if !l.is(leasing.Recallable) || l.task.recalls >= maxRecalls {
			continue
		}
		if !q.worthRecall(h, l) || !q.idleFor(l) {
			return false
		}
		l.take(leasing.AsksBack)
		l.task.recalls++
		q.c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropRecall)
		return true
	}
	return false
}

func (q *dispatch) worthRecall(h *host, l *lease) bool {
	d, known := l.job.duration()
	if !known || h.slots == 0 {
		return true
	}
	return d*time.Duration(h.load-h.slots) >= q.c.cfg.RecallWorth*time.Duration(h.slots)
}

// idleFor says whether an idle host could run the task.
func (q *dispatch) idleFor(l *lease) bool {
	for _, h := range q.c.members.idle.all() {
		if _, paused := h.paused[l.job]; paused || h.memory-h.memoryUsed < l.job.spec.Memory {
			continue
		}
		if !l.job.worksOn(l.task.index, h.peer) {
			return true
		}
	}
	return false
}

// sendProgress brings the submitter what it lacks, a batch at a time: the next
// goes out when it has answered the last. With nothing to bring, it tells how
// the job stands if that was asked for, and that it is over when it is.
func (c *Coordinator) sendProgress(j *job) {
	if j.state == jobFetching || !j.credit {
		return
	}
	p := &message.Progress{Job: j.id}
	size := 0
	for len(j.ready) > 0 && len(p.Tasks) < message.MaxProgress && len(j.sent) < message.Window {
		i := j.ready[0]
		row := j.ledger.Rows[i]
		if row == nil || j.ledger.Delivered(i) {
			j.ready = j.ready[1:]
			continue
		}
		t := summarize(j, i, row)
		if size += summaryBytes(&t); size > message.BatchBytes && len(p.Tasks) > 0 {
			break
		}
		p.Tasks = append(p.Tasks, t)
		j.ready, j.sent = j.ready[1:], append(j.sent, i)
	}
	over := j.state == jobOver && len(j.ready) == 0 && len(j.sent) == 0 && !j.told
	if len(p.Tasks) == 0 && !j.asked && !over {
		return
	}
	j.credit = len(p.Tasks) == 0
	j.asked = false
	p.Summary = j.summary()
	if len(p.Tasks) == 0 && (len(j.ready) > 0 || len(j.sent) > 0) && j.state == jobOver {
		p.Summary.State = message.JobRunning // results are still on their way
	}
	c.emit(message.Send{To: j.submitter, Message: message.Message{Progress: p}})
	if over {
		j.told = true
		c.table.persistFacts(j)
		c.emit(message.Release{Job: j.id})
	}
}

// summarize tells the whole story of an ended task. Of many large agreeing
// results as many are told as a frame holds.
func summarize(j *job, i uint64, row *ledger.Row) message.TaskSummary {
	rule := j.ledger.Rule()
	t := message.TaskSummary{Index: i, Attempts: row.Log}
	if row.Verdict(rule) == ledger.Done {
		t.Results = row.Agreed()
		return t
	}
	t.Failed, t.Reason = true, row.Why(rule)
	size := 0
	for k := len(row.Failures) - 1; k >= 0; k-- { // the latest matter most
		r := row.Failures[k].Result
		if size += message.ResultBytes(&r); size > message.BatchBytes && len(t.Results) > 0 {
			break
		}
		t.Results = append(t.Results, r)
	}
	return t
}

func summaryBytes(t *message.TaskSummary) int {
	const perAttempt = 300
	n := perAttempt * len(t.Attempts)
	for i := range t.Results {
		n += message.ResultBytes(&t.Results[i])
	}
	return n
}

// mapKeys returns a map's keys in no order: sort them.
func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }
