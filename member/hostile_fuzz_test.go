package member

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

const (
	usualSteps = 30_000 // of TestHostileMember
	worldSteps = 3000   // of one world
	worldHosts = 5      // honest: a leader, two followers, two more
)

// TestHostileMember plays a whole hostile member against honest ones: random well-formed
// messages in any order, with any signature that it can make, and adverts and words of
// leases beside them. It is a stranger with three keys, an insider of a closed overlay, a
// worker with leases, or one that leads by the rules. Whatever it says, nothing panics, no
// job that was handed in is lost, and what a submitter holds was made by who had the lease.
//
//	GODWIT_STEPS=10000000 go test ./member -run '^TestHostileMember$' -timeout 0
//	GODWIT_SEED=17 go test ./member -run '^TestHostileMember$' -v
func TestHostileMember(t *testing.T) {
	steps := number(t, "GODWIT_STEPS", usualSteps)
	began := time.Now()
	if os.Getenv("GODWIT_SEED") != "" {
		playHostile(t, number(t, "GODWIT_SEED", 0), steps)
		return
	}
	for seed, left := uint64(0), steps; left > 0; seed++ {
		n := min(left, worldSteps)
		playHostile(t, seed, n)
		left -= n
		if seed%100 == 99 {
			t.Logf("%d steps, %.0f a second", steps-left, float64(steps-left)/time.Since(began).Seconds())
		}
	}
	t.Logf("%d steps, %.0f a second", steps, float64(steps)/time.Since(began).Seconds())
}

// number is what an environment variable says.
func number(t *testing.T, name string, usual uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A world is a swarm with a hostile member in it.
type world struct {
	*swarm
	rng   *rand.Rand
	h     *hostile
	jobs  []honestJob
	down  map[*host]time.Time // until when a host is crashed
	seed  uint64
	steps uint64
}

type honestJob struct {
	id        task.JobID
	owner     *host
	cancelled bool
}

// playHostile plays a world of that seed for so many steps, and then until it is quiet.
func playHostile(t *testing.T, seed, steps uint64) {
	t.Helper()
	sum := sha256.Sum256(fmt.Appendf(nil, "hostile member %d", seed))
	w := &world{swarm: newSwarm(t, worldHosts), down: map[*host]time.Time{}, seed: seed,
		rng: rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), seed))}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: panic: %v\n%s", w.where(), p, debug.Stack())
		}
	}()
	w.begin(part(seed % uint64(parts)))
	for w.steps = 1; w.steps <= min(steps, worldSteps); w.steps++ {
		w.h.step()
		if w.rng.IntN(20) == 0 {
			w.tick()
		}
		w.check()
	}
	w.end()
}

// where says which step it is, and how to see it again.
func (w *world) where() string {
	return fmt.Sprintf("seed %d (%v), step %d, %v\n"+
		"to see it again: GODWIT_SEED=%d go test ./member -run '^TestHostileMember$' -v",
		w.seed, w.h.part, w.steps, w.now.Sub(schedtest.Start), w.seed)
}

// begin has the honest members agree who leads, and the hostile one join them.
func (w *world) begin(p part) {
	w.h = newHostile(w.swarm, w.rng, p)
	if p == insider {
		w.close()
	}
	w.start()
	for n := range w.h.g.ids {
		w.h.advertise(n, unchanged)
	}
	if !w.pass(2*time.Minute, func() bool { l := w.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		w.tb.Fatalf("%s: nobody leads", w.where())
	}
	if w.rng.IntN(2) == 0 { // it is known for long
		w.pass(overlay.MinUptime+time.Minute, func() bool { return w.h.found != "" })
	}
	for range 3 {
		w.offer()
	}
}

// close has the overlay admit none but the hosts and the hostile member.
func (w *world) close() {
	key, founder := schedtest.Identity(0)
	m := overlay.Manifest{Name: "closed", Founder: founder, Founded: w.now, Admission: overlay.Listed}
	for _, o := range w.hosts[1:] {
		m.Allowed = append(m.Allowed, o.id)
	}
	m.Allowed = append(m.Allowed, w.h.g.ids[0])
	slices.Sort(m.Allowed)
	if err := m.Sign(key); err != nil {
		w.tb.Fatal(err)
	}
	w.manifest, w.h.g.overlay = m, m.ID()
}

// offer has an honest host hand a job in, and the hostile member at times.
func (w *world) offer() {
	o := w.hosts[w.rng.IntN(len(w.hosts))]
	if o.up && len(w.jobs) < 8 {
		id := o.submitAs(uint64(1+w.rng.IntN(4)), byte(len(w.jobs)))
		w.jobs = append(w.jobs, honestJob{id: id, owner: o})
		w.h.g.jobs.put(id)
	}
	if len(w.h.g.records.items) < 4 || w.rng.IntN(8) == 0 {
		rec := w.h.g.record(w.swarm)
		if spec, err := rec.Open(); err == nil {
			w.swarm.jobs[rec.ID()] = spec
			w.h.g.records.put(rec)
			w.h.g.jobs.put(rec.ID())
		}
	}
}

// tick lets a tenth of a second pass, in which things happen among the honest.
func (w *world) tick() {
	w.h.renew()
	w.pass(time.Duration(1+w.rng.IntN(5))*100*time.Millisecond, func() bool { return w.h.found != "" })
	switch w.rng.IntN(100) {
	case 0, 1, 2:
		w.offer()
	case 3:
		if j := &w.jobs[w.rng.IntN(len(w.jobs))]; j.owner.up && w.rng.IntN(4) == 0 {
			j.cancelled = true
			j.owner.tell(Answered{Of: j.owner.m, To: j.owner.m.Submitter(), Event: message.CancelJob{Job: j.id}})
		}
	case 4:
		if o := w.hosts[w.rng.IntN(len(w.hosts))]; o.up && len(w.down) == 0 {
			o.crash()
			w.down[o] = w.now.Add(time.Duration(w.rng.IntN(20)) * time.Second)
		}
	}
	for _, o := range w.hosts {
		if at, ok := w.down[o]; ok && !w.now.Before(at) {
			w.wakeUp(o)
		}
	}
}

// wakeUp boots a host that crashed, and has the hostile member tell it of itself.
func (w *world) wakeUp(o *host) {
	delete(w.down, o)
	o.boot()
	for n := range w.h.g.ids {
		if w.h.up {
			w.h.advertise(n, unchanged)
		}
	}
	w.settle()
}

// end has the hostile member go, and sees that every job comes to its end.
func (w *world) end() {
	w.h.up, w.h.lead = false, 0
	for _, o := range w.hosts {
		if _, crashed := w.down[o]; crashed {
			w.wakeUp(o)
		}
		for _, id := range w.h.g.ids {
			o.tell(Disconnected{Peer: id})
		}
	}
	if !w.pass(20*time.Minute, func() bool { return w.h.found != "" || w.over() }) {
		w.tb.Fatalf("%s: a job has not ended:\n%s", w.where(), w.describe())
	}
	w.check()
}

func (w *world) over() bool {
	for _, j := range w.jobs {
		if st, ok := j.owner.m.Submitter().Job(j.id); !ok || !st.Final {
			return false
		}
	}
	return true
}

// describe says how the honest jobs are.
func (w *world) describe() (text string) {
	for _, o := range w.hosts {
		leader, epoch := o.m.lease.Leader()
		text += fmt.Sprintf("host %d up %v follows %s in %d, group %d\n", o.n, o.up, leader, epoch, len(o.m.Group()))
		if c := o.m.Coordinator(); o.up && c != nil {
			for _, j := range c.Jobs() {
				text += fmt.Sprintf("  leads %s %s %+v %+v\n", j.ID, j.State, j.Tasks, c.Why(j.ID, 0))
			}
		}
	}
	for _, j := range w.jobs {
		st, ok := j.owner.m.Submitter().Job(j.id)
		text += fmt.Sprintf("job %s of host %d: known %v, %s, held %d, final %v, %q %q %+v\n", j.id, j.owner.n, ok, st.State,
			st.Held, st.Final, st.Error, st.Reason, st.Tasks)
	}
	return text
}

// check looks at what must hold after each step.
func (w *world) check() {
	for _, o := range w.hosts {
		if !o.up {
			continue
		}
		if leader, epoch := o.m.lease.Leader(); w.h.is(leader) {
			w.h.led[epoch] = leader
		}
		for _, id := range w.h.g.ids {
			w.h.trusted = w.h.trusted || slices.Contains(o.m.lease.Remembered(), id)
		}
	}
	for _, j := range w.jobs {
		if !j.owner.up || w.steps%16 > 0 {
			continue
		}
		st, known := j.owner.m.Submitter().Job(j.id)
		switch {
		case !known:
			w.h.wrong(fmt.Sprintf("job %s is not known to its submitter", j.id))
		case st.Error != "" && len(w.h.led) > 0: // who leads may refuse a job, as long as nobody accepted it
		case st.Final && st.Held < st.Tasks.Total && !j.cancelled:
			w.h.wrong(fmt.Sprintf("job %s is over with %d of %d results: %s %s", j.id, st.Held, st.Tasks.Total, st.State,
				st.Error))
		}
	}
	if w.h.found != "" {
		w.tb.Fatalf("%s: %s", w.where(), w.h.found)
	}
}

// wrong notes the first thing that must not be.
func (h *hostile) wrong(what string) {
	if h.found == "" {
		h.found = what
	}
}

// did implements outside: it judges what honest machines have their drivers do.
func (h *hostile) did(o *host, e message.Effect) {
	switch e := e.(type) {
	case message.Start:
		if err := h.gaveLease(e.Task, o.id, e.Receipt); err != nil && !h.is(e.Receipt.Leader) {
			h.wrong(fmt.Sprintf("host %d starts task %v: %v", o.n, e.Task, err))
		}
		if _, given := h.given[e.Task]; e.From != nil && !given && !h.trusted { // the honest save none
			h.wrong(fmt.Sprintf("host %d goes on with task %v from a state by who had no lease of it", o.n, e.Task))
		}
	case message.Persist:
		if e.Value == nil {
			return
		}
		if decodes := decodesAs[e.Key[:min(len(e.Key), 4)]]; decodes != nil && h.rng.IntN(4) == 0 {
			if err := decodes(e.Value); err != nil {
				h.wrong(fmt.Sprintf("host %d keeps %s, which cannot be read: %v", o.n, e.Key, err))
			}
		}
		if strings.HasPrefix(e.Key, submitter.ResultsPrefix) {
			h.judge(o, e.Value)
		}
	}
}

// gaveLease returns nil if a receipt shows that an honest leader gave the lease, or the hostile
// one that led by the rules, or stood by.
func (h *hostile) gaveLease(id task.TaskID, worker task.PeerID, r *task.Receipt) error {
	switch {
	case r == nil:
		return fmt.Errorf("no receipt")
	case h.is(r.Leader) && !h.trusted:
		return fmt.Errorf("a lease of epoch %d, in which the hostile member did not lead", r.Epoch)
	case !h.is(r.Leader) && !slices.ContainsFunc(h.s.hosts, func(o *host) bool { return o.id == r.Leader }):
		return fmt.Errorf("a lease of %s, who is nobody", r.Leader)
	}
	return r.Verify(id, worker)
}

// judge looks at what a submitter holds of a task.
func (h *hostile) judge(o *host, value []byte) {
	sum, err := submitter.DecodeSummary(value)
	if err != nil {
		h.wrong(fmt.Sprintf("host %d holds a result that cannot be read: %v", o.n, err))
		return
	}
	for i := range sum.Results {
		r := &sum.Results[i]
		_, hosted := h.s.jobs[r.Task.Job]
		_, given := h.given[r.Task]
		err := h.gaveLease(r.Task, r.Worker, r.Receipt)
		if leader, _ := o.m.lease.Leader(); h.is(leader) {
			err = nil // who leads may give leases to itself
		}
		byHost := slices.ContainsFunc(h.s.hosts, func(o *host) bool { return o.id == r.Worker })
		switch {
		case !hosted:
			h.wrong(fmt.Sprintf("host %d holds a result of task %v, which nobody asked for", o.n, r.Task))
		case err != nil:
			h.wrong(fmt.Sprintf("host %d holds a result of task %v by %s: %v", o.n, r.Task, r.Worker, err))
		case byHost && r.Outcome == task.Completed && string(r.Outputs[0].Inline) != answer(r.Task):
			h.wrong(fmt.Sprintf("host %d holds %q of task %v", o.n, r.Outputs[0].Inline, r.Task))
		case !byHost && !given && !h.is(r.Receipt.Leader):
			h.wrong(fmt.Sprintf("host %d holds a result of task %v by who had no lease of it", o.n, r.Task))
		}
	}
	if sum.Failed && len(sum.Results) == 0 && len(h.led) == 0 {
		h.wrong(fmt.Sprintf("host %d holds that task %d has failed, without a reason", o.n, sum.Index))
	}
}
