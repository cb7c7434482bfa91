package place

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
)

func init() {
	register(Default, kind{
		params: "order ahead",
		does:   "tasks in order to the fastest idle member, or (order=turn, as published) to the next in turn",
		make: func(ps *spec.Params) Policy {
			ahead := ps.Choice("ahead", "no", "yes") == 1
			if ps.Choice("order", "fastest", "turn") == 1 {
				return &Turn{Ahead: ahead}
			}
			return FCFS{}
		},
	})
}

// FCFS gives the next task in order to the fastest member that is idle; among
// equals to the one with the fewest tasks, so that work spreads evenly. Only
// when nobody is idle do members get tasks ahead, to start without a round
// trip. It looks at no forecast.
type FCFS struct{}

// maxMisses is how many tasks in a row may fit no host before a round gives
// up. Such tasks wait for a distinct worker; more of them than this are not
// worth looking at each time a slot falls free.
const maxMisses = 64

// Place implements Policy.
func (FCFS) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	hosts = slices.Clone(hosts)
	slices.SortFunc(hosts, better)
	var out []Placement
	for misses := 0; len(hosts) > 0 && misses < maxMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		i := slices.IndexFunc(hosts, func(h Host) bool { return h.Fits(&t) })
		if i < 0 {
			misses++
			if !slices.ContainsFunc(hosts, func(h Host) bool { return t.Memory <= min(h.Memory, h.MemoryFree) }) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		out = append(out, Placement{t.ID, hosts[i].Peer, fcfsReason(&hosts[i])})
		hosts[i].Take(&t)
		hosts = resort(hosts, i)
	}
	return out
}

// better orders hosts: idle ones first, then the faster, then those with fewer
// tasks, then by name.
func better(a, b Host) int {
	return cmp.Or(
		-cmp.Compare(min(a.Idle(), 1), min(b.Idle(), 1)),
		-cmp.Compare(a.Speed, b.Speed),
		cmp.Compare(a.Running, b.Running),
		cmp.Compare(a.Peer, b.Peer))
}

// resort moves hosts[i], which was just given a task, back to its place, and
// leaves it out when it is full.
func resort(hosts []Host, i int) []Host {
	h := hosts[i]
	hosts = slices.Delete(hosts, i, i+1)
	if h.Free <= 0 {
		return hosts
	}
	at, _ := slices.BinarySearchFunc(hosts, h, better)
	return slices.Insert(hosts, at, h)
}

func fcfsReason(h *Host) string {
	if h.Idle() == 0 {
		return "next in order; nobody is idle, so it waits here for a slot"
	}
	speed := "speed unknown"
	if h.Speed > 0 {
		speed = fmt.Sprintf("speed %.3g", h.Speed)
	}
	return fmt.Sprintf("next in order; the fastest idle member with the fewest tasks (%s, %d of %d slots in use)", speed, h.Running, h.Slots)
}
