package place

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/task"
)

// A deciding is a round with as many tasks as idle members: of half of them the
// forecast is known. mixed has members of different memory, which not every task
// fits, and tasks of several jobs.
type deciding struct {
	hosts    []Host
	queue    []Task
	forecast drawn
}

func newDeciding(n int, mixed bool) *deciding {
	d := &deciding{forecast: drawn{}}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		h := member(fmt.Sprintf("%05d", i), 1, 2, rng.Float64())
		h.Since = time.Unix(rng.Int64N(1e9), 0)
		h.Memory, h.MemoryFree = 1<<30, 1<<30
		if mixed && i < n/2 {
			h.Memory, h.MemoryFree = 1<<20, 1<<20
		}
		d.hosts = append(d.hosts, h)
		f := d.forecast[h.Peer]
		f.p, f.known = 1, i%2 == 0
		d.forecast[h.Peer] = f
	}
	jobs := 1
	if mixed {
		jobs = 100
	}
	for j := range jobs {
		d.queue = append(d.queue, tasks(fmt.Sprint(j), n/jobs, func(t *Task) {
			t.Work = time.Duration(j+1) * time.Minute
			if mixed {
				t.Memory = int64(j%2) * (1 << 21)
			}
		})...)
	}
	return d
}

func (d *deciding) place(p Policy, q *list, rng *rand.Rand) []Placement {
	*q = list{tasks: d.queue}
	return p.Place(time.Time{}, q, d.hosts, d.forecast, rng)
}

// BenchmarkDecidePlace is what a round costs a policy alone.
func BenchmarkDecidePlace(b *testing.B) {
	for _, name := range append(Names(), "fcfs:order=turn") {
		for _, mixed := range []bool{false, true} {
			for _, n := range []int{100, 1000, 10000} {
				d := newDeciding(n, mixed)
				b.Run(fmt.Sprintf("%s/mixed=%v/members=%d", name, mixed, n), func(b *testing.B) {
					p, _ := Parse(name)
					rng, q := rand.New(rand.NewPCG(1, 1)), new(list)
					d.place(p, q, rng)
					b.ReportAllocs()
					for b.Loop() {
						d.place(p, q, rng)
					}
				})
			}
		}
	}
}

// Once a policy has the memory for a round, another as large takes none.
func TestPlaceAllocatesNothing(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		d := newDeciding(300, mixed)
		for i := range d.queue { // some must not run everywhere
			if i%7 == 0 {
				d.queue[i].Avoid = []task.PeerID{d.hosts[i].Peer, d.hosts[len(d.hosts)-1-i].Peer}
			}
		}
		for _, name := range append(Names(), "fcfs:order=turn,ahead=yes", "fcfspp:blocked=pass", "fastest:ahead=yes") {
			p, err := Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			rng, q := rand.New(rand.NewPCG(1, 1)), new(list)
			placed := len(d.place(p, q, rng))
			if n := testing.AllocsPerRun(3, func() { d.place(p, q, rng) }); n != 0 || placed < len(d.queue)/4 && name != "met" {
				t.Errorf("%s, mixed %v: %v allocations for %d placements of %d tasks, want none", name, mixed, n, placed,
					len(d.queue))
			}
		}
	}
}

// BenchmarkDecideRated is a round of 10,000 members and as many tasks of three classes,
// each of which has a rate of its own at each member.
func BenchmarkDecideRated(b *testing.B) {
	d := newDeciding(10000, false)
	rng := rand.New(rand.NewPCG(1, 2))
	r := &drawnRates{of: map[string][]float64{}}
	for i := range d.hosts {
		r.peers = append(r.peers, d.hosts[i].Peer)
		r.backlog = append(r.backlog, float64(d.hosts[i].Running))
		for _, c := range r.Classes() {
			r.of[c.Name] = append(r.of[c.Name], 1/(.1+rng.ExpFloat64()))
		}
	}
	for i := range d.queue {
		d.queue[i].Class = r.Classes()[i%len(r.Classes())].Name
	}
	for _, name := range Names() {
		p, _ := Parse(name)
		rate := p.Traits().Rate
		if rate == nil {
			continue
		}
		b.Run(name, func(b *testing.B) {
			q := new(list)
			b.ReportAllocs()
			for b.Loop() {
				rate(time.Time{}, r)
				d.place(p, q, rng)
			}
		})
	}
}
