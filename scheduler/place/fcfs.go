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
			return &FCFS{}
		},
	})
}

// FCFS gives the next task in order to the fastest member that is idle; among
// equals to the one with the fewest tasks, so that work spreads evenly. Only
// when nobody is idle do members get tasks ahead, to start without a round
// trip. It looks at no forecast.
type FCFS struct {
	hosts []Host
	out   []Placement
	task  Task
}

// maxMisses is how many tasks in a row may fit no host before a round gives
// up. Such tasks wait for a distinct worker; more of them than this are not
// worth looking at each time a slot falls free.
const maxMisses = 64

// Place implements Policy.
func (p *FCFS) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	p.hosts, p.out = append(p.hosts[:0], hosts...), p.out[:0]
	hosts = p.hosts
	sortHosts(hosts)
	for misses := 0; len(hosts) > 0 && misses < maxMisses; {
		var ok bool
		if p.task, ok = queue.Next(); !ok {
			break
		}
		t := &p.task
		i := firstFit(hosts, t)
		if i < 0 {
			misses++
			if !slices.ContainsFunc(hosts, func(h Host) bool { return t.Memory <= min(h.Memory, h.MemoryFree) }) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		p.out = append(p.out, Placement{t.ID, hosts[i].Peer, fcfsReason(&hosts[i])})
		hosts[i].Take(t)
		hosts = resort(hosts, i)
	}
	return p.out
}

// firstFit is the place of the first host that may run the task, or -1.
func firstFit(hosts []Host, t *Task) int {
	for i := range hosts {
		if hosts[i].Fits(t) {
			return i
		}
	}
	return -1
}

// better orders hosts: idle ones first, then the faster, then those with fewer
// tasks, then by name.
func better(a, b *Host) int {
	if c := -cmp.Compare(min(a.Idle(), 1), min(b.Idle(), 1)); c != 0 {
		return c
	}
	if c := -cmp.Compare(a.Speed, b.Speed); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Running, b.Running); c != 0 {
		return c
	}
	return cmp.Compare(a.Peer, b.Peer)
}

// sortHosts sorts by better. Mostly all are alike and sorted by name already.
func sortHosts(hosts []Host) {
	for i := 1; i < len(hosts); i++ {
		if better(&hosts[i-1], &hosts[i]) > 0 {
			slices.SortFunc(hosts, func(a, b Host) int { return better(&a, &b) })
			return
		}
	}
}

// resort moves hosts[i], which was just given a task, back to its place, and
// leaves it out when it is full.
func resort(hosts []Host, i int) []Host {
	if hosts[i].Free <= 0 {
		return without(hosts, i)
	}
	h := hosts[i]
	hosts = append(hosts[:i], hosts[i+1:]...)
	at, _ := slices.BinarySearchFunc(hosts, h, func(a, b Host) int { return better(&a, &b) })
	return slices.Insert(hosts, at, h)
}

func fcfsReason(h *Host) Reason {
	if h.Idle() == 0 {
		return Because("next in order; nobody is idle, so it waits here for a slot")
	}
	return Reason{words: idleWords, x: h.Speed, n: int64(h.Running), m: int64(h.Slots)}
}

func idleWords(r *Reason) string {
	speed := "speed unknown"
	if r.x > 0 {
		speed = fmt.Sprintf("speed %.3g", r.x)
	}
	return fmt.Sprintf("next in order; the fastest idle member with the fewest tasks (%s, %d of %d slots in use)", speed, r.n, r.m)
}
