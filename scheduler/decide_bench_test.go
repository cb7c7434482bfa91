package scheduler

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A decided is a coordinator of many members, whose world is set up once.
type decided struct {
	c    *Coordinator
	jobs []*job
}

// peerNames are of members; keys for each would take longer than all else.
func peerNames(n int) []task.PeerID {
	_, first := schedtest.Identity(1)
	names := make([]task.PeerID, n)
	for i := range names {
		names[i] = task.PeerID(fmt.Sprintf("%s%06d", first[:len(first)-6], i))
	}
	return names
}

// lasting is a forecast by the age of members, different for each, that costs
// about what a curve does. Of some nothing is known.
type lasting map[task.PeerID]float64

func (l lasting) By(string) place.Forecast { return l }

func (l lasting) Stay(peer task.PeerID, _ time.Time, d time.Duration) (float64, bool) {
	scale := l[peer]
	return math.Exp(-math.Pow(d.Hours()/scale, 0.5)), scale != 7
}

// newDecided has n members, each with a slot, and as many tasks of so many jobs
// that wait.
func newDecided(tb testing.TB, n, jobs int, change func(*Config)) *decided {
	cfg := Default()
	if change != nil {
		change(&cfg)
	}
	key, self := schedtest.Identity(0)
	c := NewCoordinator(self, cfg, 1)
	c.Step(schedtest.Start, message.Wake{})
	c.term.recovering = true // nothing is placed yet
	forecast := lasting{}
	for i, id := range peerNames(n) {
		c.Step(schedtest.Start, message.MemberSeen{Advert: overlay.Advert{Peer: id, Memory: 1 << 30,
			Speed: 1 + float64(i%10)/10}})
		c.Step(schedtest.Start, &message.Received{From: id,
			Message: &message.Message{Report: &message.Report{Slots: 1, Full: true}}})
		forecast[id] = 0.25 * float64(1+i%100)
	}
	c.Foresee(forecast)
	d := &decided{c: c}
	for k := range jobs {
		rec := schedtest.Job(tb, key, uint64(n/jobs),
			func(j *task.Job) { j.Nonce[0], j.Work = byte(k), time.Duration(k+1)*time.Minute })
		for _, e := range c.Step(schedtest.Start,
			&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}}) {
			if f, ok := e.(message.Fetch); ok {
				c.Step(schedtest.Start, message.Fetched{Key: f.Key})
			}
		}
		d.jobs = append(d.jobs, c.table.jobs[rec.ID()])
	}
	if c.claims.queue.len() != jobs || c.members.idle.len() != n {
		tb.Fatalf("%d jobs wait, %d members are idle", c.claims.queue.len(), c.members.idle.len())
	}
	c.term.recovering = false
	return d
}

// decide asks for a round as when all members are idle, and forgets what it said.
func (d *decided) decide() int {
	n := len(d.asked())
	for _, j := range d.jobs {
		j.wait.cursor = 0
	}
	d.c.dispatch.requeue()
	d.c.dispatch.bringBack()
	return n
}

// asked is what a first round says when all idle members may be looked at.
func (d *decided) asked() []place.Placement {
	c := d.c
	c.dispatch.deciding.step++
	c.dispatch.widened = true
	if c.dispatch.tellRates() && c.claims.byClass != nil && c.dispatch.admit(c.dispatch.candidates()) {
		view, placements := c.dispatch.decideByClass(0)
		c.claims.fair.parts = view.parts
		return placements
	}
	if !c.dispatch.admit(c.dispatch.candidates()) || !c.dispatch.divide() {
		return nil
	}
	_, placements := c.dispatch.decide(c.claims.fair.parts)
	return placements
}

// place carries a round out.
func (d *decided) place() {
	d.c.timers.Set(schedtest.Start, reminder{ask: true})
	d.c.Step(schedtest.Start, message.Wake{})
}

// run places all and says that it runs.
func (d *decided) run() {
	d.place()
	for _, h := range d.c.members.hosts {
		for _, l := range h.leases {
			l.take(leasing.Starts)
		}
	}
}

// Policies that are measured, with variants that do more.
var (
	placements = append(place.Names(), "fcfspp:t=0.5", "fcfs:order=turn")
	migrations = []string{"cbr", "pspp", "pspp:t=0.5", "reactive", "cost"}
)

// processor is the processor time that this process took so far, in milliseconds:
// what other processes take of the machine is not in it.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

var decidedSizes = []int{100, 1000, 10_000}

func benchmarkSizes(b *testing.B, names []string, f func(b *testing.B, name string, n int)) {
	for _, name := range names {
		for _, n := range decidedSizes {
			b.Run(fmt.Sprintf("%s/members=%d", name, n), func(b *testing.B) { f(b, name, n) })
		}
	}
}

// BenchmarkDecidePlace is a round of a coordinator with as many idle members as
// tasks of a hundred jobs that wait, as far as it decides: the offers, the
// queue, the forecasts and the policy.
func BenchmarkDecidePlace(b *testing.B) {
	benchmarkSizes(b, placements, func(b *testing.B, name string, n int) {
		d := newDecided(b, n, min(100, n), func(c *Config) { c.Rules.Placement = name })
		placed := d.decide()
		b.ReportAllocs()
		began := processor(b)
		for b.Loop() {
			d.decide()
		}
		b.ReportMetric((processor(b)-began)/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(placed), "placed")
	})
}

// BenchmarkCarryOut is the same with all that follows: leases, rows, reasons in
// words, and a letter to each worker.
func BenchmarkCarryOut(b *testing.B) {
	benchmarkSizes(b, placements, func(b *testing.B, name string, n int) {
		b.ReportAllocs()
		used := 0.0
		for range b.N {
			b.StopTimer()
			d := newDecided(b, n, min(100, n), func(c *Config) { c.Rules.Placement = name })
			runtime.GC() // what made this world is not the round's
			used -= processor(b)
			b.StartTimer()
			d.place()
			b.StopTimer()
			used += processor(b)
		}
		b.ReportMetric(used/float64(b.N), "cpu-ms/op")
	})
}

// BenchmarkDecideOne is a round for one task while all members are idle.
func BenchmarkDecideOne(b *testing.B) {
	benchmarkSizes(b, placements, func(b *testing.B, name string, n int) {
		d := newDecided(b, n, 1, func(c *Config) { c.Rules.Placement = name })
		j := d.jobs[0]
		j.wait.cursor = j.total - 1
		d.decide()
		b.ReportAllocs()
		began := processor(b)
		for b.Loop() {
			j.wait.cursor = j.total - 1
			d.decide()
		}
		b.ReportMetric((processor(b)-began)/float64(b.N), "cpu-ms/op")
	})
}

// scans decides as a scan does, and begins no move.
func (d *decided) scans() int {
	c := d.c
	c.dispatch.deciding.step++
	c.now = c.now.Add(time.Hour)
	moves := c.migration.chosen(c.migration.scanned(c.members.roster.all()))
	m := &c.dispatch.deciding
	m.moving = m.moving[:0]
	from := m.leave()
	for i := range moves {
		h := c.members.hosts[moves[i].From]
		l := h.leaseFor(moves[i].Task)
		if moves[i].To != "" && c.migration.takes(c.members.hosts[moves[i].To], l) {
			continue
		}
		from[h] = true
		m.moving = append(m.moving, leaving{lease: l})
	}
	if len(m.moving) > 0 {
		c.migration.destinations(m.moving, from)
	}
	return len(moves)
}

// makeRoom has a quarter of the members idle.
func (d *decided) makeRoom() {
	for i, h := range d.c.members.roster.all() {
		if i%4 == 0 {
			h.slots++
			d.c.members.settleHost(h)
		}
	}
}

// lengthen has the tasks of each job another length, none of them an hour's, so
// that they have much left however often time goes on.
func (d *decided) lengthen() {
	for k, j := range d.jobs {
		j.reference = time.Duration(k%20+1) * 1000 * time.Hour
	}
}

// BenchmarkDecideScan is a scan of members that run a task each, as far as it
// decides: whose tasks should leave. Nobody is idle, so that none can; with a
// policy that names tasks, and only then compares, a quarter of the members are.
func BenchmarkDecideScan(b *testing.B) {
	benchmarkSizes(b, migrations, func(b *testing.B, name string, n int) {
		d := newDecided(b, n, min(100, n), func(c *Config) { c.Migration = name })
		d.run()
		if d.c.migration.weigher() != nil {
			d.lengthen()
			d.makeRoom()
		}
		moves := d.scans()
		b.ReportAllocs()
		began := processor(b)
		for b.Loop() {
			d.scans()
		}
		b.ReportMetric((processor(b)-began)/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(moves), "moves")
	})
}

// Once a coordinator has the memory for a round or a scan, another as large takes
// none. What is done about what was decided does: leases, rows, letters.
func TestDecidingAllocatesNothing(t *testing.T) {
	const members = rankedHosts
	for _, name := range placements {
		d := newDecided(t, members, 8, func(c *Config) { c.Rules.Placement = name })
		if placed := d.decide(); placed == 0 {
			t.Errorf("%s placed nothing", name)
		}
		if n := testing.AllocsPerRun(3, func() { d.decide() }); n != 0 {
			t.Errorf("%s: %v allocations in a round of %d members, want none", name, n, members)
		}
		few := func() {
			for _, j := range d.jobs {
				j.wait.cursor = j.total - 1
			}
			d.decide()
		}
		few()
		if n := testing.AllocsPerRun(3, few); n != 0 {
			t.Errorf("%s: %v allocations in a round of few tasks, want none", name, n)
		}
	}
	for _, name := range migrations {
		d := newDecided(t, members, 8, func(c *Config) {
			c.Migration = name
			c.Rules.Placement = "fcfs:order=turn" // its reasons need not be put into words
		})
		d.run()
		d.lengthen()
		d.makeRoom()
		for range 3 {
			d.scans()
		}
		moves := 0
		if n := testing.AllocsPerRun(3, func() { moves = d.scans() }); n != 0 || moves == 0 &&
			(name == "cost" || name == "pspp") {
			t.Errorf("%s: %v allocations in a scan of %d members with %d moves, want none", name, n, members, moves)
		}
	}
}
