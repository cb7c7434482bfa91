package place

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// What a round remembers of the last task's shape changes no decision: tasks that
// must not run on members that do not exist, another one for each, go where they
// would go.
func TestShapesChangeNothing(t *testing.T) {
	for _, spec := range append(Names(), "fcfs:order=worst", "fcfs:order=turn,ahead=yes", "random:ahead=yes", "uptime:ahead=yes") {
		rapid.Check(t, func(t *rapid.T) {
			hosts, queue := drawRound(t)
			salted := slices.Clone(queue)
			for i := range salted {
				salted[i].Avoid = append(slices.Clone(queue[i].Avoid), task.PeerID(fmt.Sprint("nobody", i)))
			}
			place := func(queue []Task) []string {
				p, _ := Parse(spec)
				return told(p.Place(time.Time{}, &list{tasks: queue}, hosts, Unknown{}, rand.New(rand.NewPCG(1, 1))))
			}
			if got, want := place(queue), place(salted); !slices.Equal(got, want) {
				t.Fatalf("%s: placed %v, want %v", spec, got, want)
			}
		})
	}
}

// FCFS does what its comment says, done the simple way.
func TestFCFSTakesTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts, queue := drawRound(t)
		worst := rapid.Bool().Draw(t, "worst fit")
		got := placed((&FCFS{WorstFit: worst}).Place(time.Time{}, &list{tasks: queue}, hosts, Unknown{}, nil))
		var want []Placement
		for i := range queue {
			slices.SortFunc(hosts, func(a, b Host) int {
				if worst {
					return cmp.Or(cmp.Compare(min(b.Idle(), b.Free), min(a.Idle(), a.Free)), better(&a, &b))
				}
				return better(&a, &b)
			})
			if k := slices.IndexFunc(hosts, func(h Host) bool { return h.Fits(&queue[i]) }); k >= 0 {
				want = append(want, Placement{Task: queue[i].ID, Peer: hosts[k].Peer})
				hosts[k].Take(&queue[i])
			}
		}
		if want := placed(want); got != want {
			t.Fatalf("placed %s, want %s", got, want)
		}
	})
}

// drawRound draws hosts of little memory and jobs whose tasks are of few shapes.
func drawRound(t *rapid.T) (hosts []Host, queue []Task) {
	for i := range rapid.IntRange(1, 12).Draw(t, "hosts") {
		h := member(fmt.Sprintf("h%02d", i), rapid.IntRange(1, 3).Draw(t, "slots"), rapid.IntRange(1, 5).Draw(t, "free"),
			float64(rapid.IntRange(0, 2).Draw(t, "speed")))
		h.MemoryFree = rapid.Int64Range(0, 10).Draw(t, "memory")
		hosts = append(hosts, h)
	}
	for job := range 4 {
		memory, avoid := rapid.Int64Range(1, 4).Draw(t, "needs"), []task.PeerID(nil)
		for range rapid.IntRange(0, 2).Draw(t, "avoid") {
			avoid = append(avoid, hosts[rapid.IntRange(0, len(hosts)-1).Draw(t, "whom")].Peer)
		}
		queue = append(queue, tasks(fmt.Sprint(job), rapid.IntRange(0, 6).Draw(t, "tasks"),
			func(w *Task) { w.Memory, w.Avoid = memory, avoid })...)
	}
	return hosts, queue
}
