package member

import (
	"fmt"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// begin has the honest members elect a leader, and the hostile ones join them.
func (w *world) begin(of []part) {
	w.swarm.cells = overlay.DefaultCellRule()
	w.takes = w.runTime
	if of[0] == borrowing {
		w.halve()
	}
	w.gang = newGang(w.swarm, w.rng, of)
	if of[0] == insider {
		w.close()
	}
	w.start()
	w.advertise()
	if !w.pass(2*time.Minute, func() bool { l := w.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		w.tb.Fatalf("%s: nobody leads", w.where())
	}
	if w.rng.IntN(2) == 0 { // the hostile members are known for long
		w.pass(overlay.MinUptime+time.Minute, w.isFound)
	}
	for range 3 {
		w.offer()
	}
}

func (w *world) isFound() bool { return w.gang.found != "" }

// advertise has all hostile members send adverts.
func (w *world) advertise() {
	for _, h := range w.gang.members {
		for n := range h.g.ids {
			h.advertise(n, unchanged)
		}
	}
}

// halve puts all hosts into one half of an overlay that a former leader divided.
func (w *world) halve() {
	key, former := schedtest.Identity(worldHosts << 10)
	d := overlay.Division{Leader: former, Epoch: overlay.NextEpoch(0, former), Issued: w.now.Add(-time.Hour)}
	if err := d.Sign(w.manifest.ID(), 0, key); err != nil {
		w.tb.Fatal(err)
	}
	w.lineage = overlay.Lineage{d}
	w.began, w.hosts = 1, nil
	for n := 0; len(w.hosts) < worldHosts; n++ {
		_, id := schedtest.Identity(n)
		if !otherHalf(w.manifest.ID(), id) {
			w.hosts = append(w.hosts, &host{s: w.swarm, id: id, n: n, disk: map[string][]byte{}, stay: .9})
		}
	}
}

// otherHalf reports whether a peer belongs to the half of an overlay in which there is no honest member.
func otherHalf(id overlay.ID, peer task.PeerID) bool {
	return overlay.CellOf(overlay.CellNumber(id, peer), 1).Prefix == 1
}

// close has the overlay admit only the hosts and the hostile members.
func (w *world) close() {
	key, founder := schedtest.Identity(0)
	m := overlay.Manifest{Name: "closed", Founder: founder, Founded: w.now, Admission: overlay.Listed}
	for _, o := range w.hosts[1:] {
		m.Allowed = append(m.Allowed, o.id)
	}
	m.Allowed = append(m.Allowed, w.gang.ids()...)
	slices.Sort(m.Allowed)
	if err := m.Sign(key); err != nil {
		w.tb.Fatal(err)
	}
	w.manifest = m
	for _, h := range w.gang.members {
		h.g.overlay = m.ID()
	}
}

// tick lets some time pass, in which the honest members do something.
func (w *world) tick() {
	for _, h := range w.gang.members {
		h.renew()
	}
	w.claimCells()
	w.pass(time.Duration(1+w.rng.IntN(5))*100*time.Millisecond, w.isFound)
	if w.rng.IntN(20) == 0 {
		w.advertise()
		w.pass(time.Duration(10+w.rng.IntN(60))*time.Second, w.isFound)
	}
	switch w.rng.IntN(100) {
	case 0, 1, 2:
		w.offer()
	case 3:
		if j := w.gang.anyJob(); j != nil && w.rng.IntN(4) == 0 {
			j.cancelled = true
			j.owner.tell(Answered{Of: j.owner.m, To: j.owner.m.Submitter(), Event: message.CancelJob{Job: j.id}})
		}
	case 4:
		if o := w.hosts[w.rng.IntN(len(w.hosts))]; o.up && len(w.down) == 0 {
			o.crash()
			w.down[o] = w.now.Add(time.Duration(w.rng.IntN(20)) * time.Second)
		}
	case 5, 6, 7, 8:
		w.prove()
	}
	for _, o := range w.hosts {
		if at, ok := w.down[o]; ok && !w.now.Before(at) {
			w.wakeUp(o)
		}
	}
}

// claimCells has the hosts of a divided overlay know the hostile members as leaders of the other cell.
func (w *world) claimCells() {
	for _, h := range w.gang.members {
		if h.part != borrowing || !w.gang.up {
			continue
		}
		h.bits = 1
		for _, o := range w.hosts {
			if o.up {
				o.tell(Summarised{Of: o.m, Summaries: h.summaries(0, w.lineage)})
			}
		}
	}
}

// wakeUp starts a host that crashed.
func (w *world) wakeUp(o *host) {
	delete(w.down, o)
	o.boot()
	if w.gang.up {
		w.advertise()
	}
	w.settle()
}

// end removes the hostile members, and tests that every job comes to its end.
func (w *world) end() {
	w.gang.up = false
	for _, h := range w.gang.members {
		h.lead = 0
	}
	for _, o := range w.hosts {
		if _, crashed := w.down[o]; crashed {
			w.wakeUp(o)
		}
		for _, id := range w.gang.ids() {
			o.tell(Disconnected{Peer: id})
		}
	}
	if !w.pass(2*time.Hour, func() bool { return w.isFound() || w.over() }) {
		w.tb.Fatalf("%s: a job has not ended:\n%s", w.where(), w.describe())
	}
	w.gang.end()
	w.check()
}

func (w *world) over() bool {
	for _, j := range w.gang.jobs {
		if st, ok := j.owner.m.Submitter().Job(j.id); !ok || !st.Final {
			return false
		}
	}
	return true
}

// describe lists the hosts and the honest jobs.
func (w *world) describe() (text string) {
	for _, o := range w.hosts {
		leader, epoch := o.m.lease.Leader()
		text += fmt.Sprintf("host %d up %v follows %s in %d, group %d, cell %s\n", o.n, o.up, leader, epoch, len(o.m.Group()),
			o.m.Cell())
		if c := o.m.Coordinator(); o.up && c != nil {
			for _, j := range c.Jobs() {
				text += fmt.Sprintf("  leads %s %s %+v %+v\n", j.ID, j.State, j.Tasks, c.Why(j.ID, 0))
			}
		}
	}
	for _, j := range w.gang.jobs {
		st, ok := j.owner.m.Submitter().Job(j.id)
		text += fmt.Sprintf("job %s of host %d: known %v, %s, held %d, final %v, %q %q %+v %+v\n", j.id, j.owner.n, ok,
			st.State, st.Held, st.Final, st.Error, st.Reason, st.Tasks, st.Checks)
	}
	return text
}
