package bags

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"godwit/lab/traces"
	"godwit/sim"
)

func scratchSets(t *testing.T) []Set {
	var out []Set
	var src traces.Source
	p, err := src.Load("/work/shared/data/phones/availability_2state.csv.gz")
	if err != nil { t.Fatal(err) }
	var rs traces.Source
	rs.Snapshots = "/work/shared/data/relays/snapshots.csv.gz"
	r, err := rs.Load("/work/shared/data/relays/sessions.csv.gz")
	if err != nil { t.Fatal(err) }
	out = append(out, Set{Name: "relays", Measured: r}, Set{Name: "phones", Measured: p})
	for _, k := range []string{"office", "ucb", "sdsc", "lri", "deug"} {
		out = append(out, Set{Name: k, Kind: k})
	}
	return out
}

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" { t.Skip() }
	for _, s := range scratchSets(t) {
		for _, size := range []int{50, 150} {
			b := bag{size, true}
			for _, name := range []string{"fcfs", "default"} {
				var c Contender
				for _, x := range Contenders("expected", "cost") { if x.Name == name { c = x } }
				var drain, span, ideal, tail, lostTail, lastLost, lastMoves, lastSpeed, lastAlone, t90 float64
				n := 0.
				for seed := uint64(1); seed <= 8; seed++ {
					d, err := s.draw(seed)
					if err != nil { t.Fatal(err) }
					sc := d.scenario(&b, &c)
					begin := d.from.Add(d.comes)
					placed := map[uint64]time.Time{}
					lost, moves := map[uint64][]time.Time{}, map[uint64]int{}
					host := map[uint64]int{}
					var last uint64
					var lastPlaced time.Time
					var end time.Time
					done := 0
					var at90 time.Time
					sc.Watch = func(e sim.Decision) {
						switch e.Action {
						case "placed":
							if _, ok := placed[e.Task]; !ok { placed[e.Task] = e.At; lastPlaced = e.At }
							host[e.Task] = e.Host
						case "moved": moves[e.Task]++; host[e.Task] = e.Host
						case "lost": lost[e.Task] = append(lost[e.Task], e.At)
						case "completed":
							last, end = e.Task, e.At; done++; host[e.Task] = e.Host
							if done == size*9/10 { at90 = e.At }
						}
					}
					if _, err := sim.Run(sc); err != nil { t.Fatal(err) }
					if done < size { continue }
					n++
					drain += lastPlaced.Sub(begin).Seconds()
					span += end.Sub(begin).Seconds()
					t90 += at90.Sub(begin).Seconds()
					ideal += d.ideal(&b).Seconds()
					tail += end.Sub(lastPlaced).Seconds()
					for _, l := range lost { for _, x := range l { if x.After(lastPlaced) { lostTail++ } } }
					lastLost += float64(len(lost[last])); lastMoves += float64(moves[last])
					lastSpeed += d.trace.Hosts[host[last]].GHz
					lastAlone += math.Abs(end.Sub(placed[last]).Seconds())
				}
				fmt.Printf("%-8s %3d %-8s n=%v drain %6.0f t90 %6.0f span %6.0f ideal %6.0f tail %6.0f lost in tail %5.1f; last task: lost %.1f moves %.1f speed %.2f took %6.0f\n",
					s.Name, size, name, n, drain/n, t90/n, span/n, ideal/n, tail/n, lostTail/n, lastLost/n, lastMoves/n, lastSpeed/n, lastAlone/n)
			}
		}
	}
}
