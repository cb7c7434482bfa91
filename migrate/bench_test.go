package migrate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/task"
)

// crowd are hosts that run a task each. Half of them will not stay, one in a
// hundred has given notice, and a third gives its guests little of its CPU.
func crowd(n int) ([]Host, Forecast) {
	hosts := make([]Host, 0, n)
	goes := halfGo{}
	for i := range n {
		h := Host{Peer: task.PeerID(fmt.Sprintf("%05d", i)), CPU: float64(20 + 40*(i%3)), Leaving: i%100 == 0}
		h.Tasks = []task.TaskID{{Job: "j", Index: uint64(i)}}
		hosts = append(hosts, h)
		goes[h.Peer] = i%2 == 0
	}
	return hosts, goes
}

type halfGo map[task.PeerID]bool

func (g halfGo) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	if g[peer] {
		return 0.5, true
	}
	return 1, true
}

// BenchmarkDecideScan is what a scan costs a policy alone, with the list of the
// tasks that should move.
func BenchmarkDecideScan(b *testing.B) {
	for _, name := range Names() {
		for _, n := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/members=%d", name, n), func(b *testing.B) {
				hosts, f := crowd(n)
				p, _ := Parse(name)
				rng, now := rand.New(rand.NewPCG(1, 1)), time.Unix(0, 0)
				var moves []Move
				b.ReportAllocs()
				for b.Loop() {
					moves = AppendMoves(moves[:0], hosts, p.Scan(now, hosts, f, rng))
					now = now.Add(time.Hour)
				}
			})
		}
	}
}

// Once a policy has the memory for a scan, another of as many hosts takes none.
func TestScanAllocatesNothing(t *testing.T) {
	hosts, f := crowd(300)
	for _, name := range Names() {
		p := parse(t, name)
		if m, ok := p.(Mover); ok {
			movesAllocateNothing(t, name, m)
			continue
		}
		rng, now := rand.New(rand.NewPCG(1, 1)), time.Unix(0, 0)
		var moves []Move
		scan := func() {
			moves = AppendMoves(moves[:0], hosts, p.Scan(now, hosts, f, rng))
			now = now.Add(time.Hour)
		}
		for range 3 { // what is judged later takes memory too
			scan()
		}
		if n := testing.AllocsPerRun(3, scan); n != 0 || len(moves) == 0 && name != "none" {
			t.Errorf("%s: %v allocations for %d moves, want none", name, n, len(moves))
		}
	}
}

// movesAllocateNothing is the same of a policy that names tasks, where some should
// move to idle hosts, of tasks of many lengths.
func movesAllocateNothing(t *testing.T, name string, m Mover) {
	hosts, f := crowdMoving(300)
	now, moves := time.Unix(0, 0), 0
	scan := func() {
		moves = len(m.Moves(now, hosts, f, slowLink))
		now = now.Add(24 * time.Hour) // what moved has rested
	}
	for range 3 {
		scan()
	}
	if n := testing.AllocsPerRun(3, scan); n != 0 || moves <= len(hosts)/100 {
		t.Errorf("%s: %v allocations for %d moves, want none", name, n, moves)
	}
}

// crowdMoving are the hosts of crowd whose tasks have hours left, every fifth idle.
func crowdMoving(n int) ([]Host, Forecast) {
	hosts, f := crowd(n)
	for i := range hosts {
		h := &hosts[i]
		h.Speed = 1 + float64(i%7)/7
		if i%5 == 1 {
			h.Tasks, h.Idle = nil, 1
			continue
		}
		h.Runs = []Run{{Left: time.Duration(1+i%50) * time.Hour, Unsaved: time.Minute, State: 64 << 20, Movable: true}}
	}
	return hosts, f
}

// BenchmarkDecideMoves is the same of policies that name tasks.
func BenchmarkDecideMoves(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("cost/members=%d", n), func(b *testing.B) {
			hosts, f := crowdMoving(n)
			p, _ := Parse("cost")
			now := time.Unix(0, 0)
			b.ReportAllocs()
			for b.Loop() {
				p.(Mover).Moves(now, hosts, f, slowLink)
				now = now.Add(24 * time.Hour)
			}
		})
	}
}

// Why a task should leave is said only when it is asked, and then as Moves says it.
func TestWhy(t *testing.T) {
	hosts, f := crowd(10)
	for name, want := range map[string]string{
		"pspp:p=10m": "it stays for 10m0s with probability 0.5, under 1",
		"cbr":        "guests get 20 % of its speed, under 25 %",
		"reactive":   "it gave notice that it goes or takes no guests any more",
	} {
		predictions := parse(t, name).Scan(time.Unix(0, 0), hosts, f, newRand())
		eager, lazy := Moves(hosts, predictions), AppendMoves(nil, hosts, predictions)
		if eager[0].Reason != want || lazy[0].Reason != "" || lazy[0].Why() != want || eager[0].Why() != want {
			t.Errorf("%s: %q, %q, want %q", name, eager[0].Reason, lazy[0].Why(), want)
		}
	}
	out := []Prediction{{Peer: "00009", Exit: true, Reason: "b"}, {Peer: "00001", Exit: true, Reason: "a"},
		{Peer: "nobody", Exit: true}}
	if got := Moves(hosts, out); len(got) != 2 || got[0].From != "00009" || got[1].Reason != "a" {
		t.Errorf("predictions in another order: %v", got)
	}
}
