package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/task"
)

const (
	// exchangeGain is how many times what a move takes the last of two tasks must be expected to
	// end sooner: an exchange is two moves, and takes twice as long. With one, two and three, bags
	// of 50 and 150 tasks end as soon (.862, .865 and .863 of FCFS's time), and with three the
	// fewest move.
	exchangeGain = 3
	// exchangeEven is how many times as long as the last one, on its new member, the one that leaves
	// may take. Two that would change places as soon as that pays would change back later: the one
	// time that is enough is when both then end together. A tenth costs moves, and helps where
	// three and more are to end together: 50 tasks of an hour on the fastest of 100 hosts that
	// stay take, with 1, 1.1 and no bound, 1.085, 1.076 and 1.060 of the ideal, with 76, 86 and
	// 155 moves; without exchanges 1.151, with 25.
	exchangeEven = 1.1
	// exchangeTransfers is how many transfers pass before the one of two tasks that is to end
	// sooner runs on the other's member: first that one's, to a third member, then its own.
	exchangeTransfers = 2
	// mostExchanged bounds the last tasks that are compared with all others at one look.
	mostExchanged = 64
)

// A placedRun is a task where it runs, that may move.
type placedRun struct {
	host, run int32
	end, stay float64 // nanoseconds from now; probability
	used      bool    // it moves, or is to
}

// exchange clears fast members for the last tasks of their jobs. A whole ends with the last of
// its tasks; where those that are ahead keep the fastest members until they end, those behind
// stay on slow ones for too long, and then the fast ones have nothing to do. So a task that is
// ahead leaves for an idle member, be it a slower one, if that and the last task, once that has
// its place, are both expected to end so much before the last would now, and about together.
// The last one moves there at one of the next scans, as to any idle member. It is what the level algorithm does
// for hosts that stay (Horvath, Lam and Sethi, "A level algorithm for preemptive scheduling",
// JACM 24, 1977), as far as moves that cost something let it: of bags of 50 tasks on 100
// hosts that is the greater part of what they take above the ideal (docs/measured.md, "The
// end of a bag").
//
// Only tasks of one job that came together change places: who waits for another job gains
// nothing by this one's end.
func (c *Cost) exchange(now time.Time, hosts []Host, f Forecast, s *Situation) {
	slices.SortFunc(c.placed, func(a, b placedRun) int {
		return cmp.Or(-cmp.Compare(a.end, b.end), cmp.Compare(a.host, b.host), cmp.Compare(a.run, b.run))
	})
	for i := range c.placed[:min(len(c.placed), mostExchanged)] {
		last := &c.placed[i]
		if last.used {
			continue
		}
		var best *placedRun
		var to ending
		most := 0.
		cost, _ := moveCost(&hosts[last.host].Runs[last.run], s)
		for k := i + 1; k < len(c.placed); k++ {
			p := &c.placed[k]
			if p.used || !together(hosts, p, last) {
				continue
			}
			gain, e, ok := c.exchanged(now, p, last, hosts, f, s)
			if ok && gain > c.pays*cost && gain > most {
				best, to, most = p, e, gain
			}
		}
		if best == nil {
			continue
		}
		best.used, last.used = true, true
		c.taken[to.host]++
		h := &hosts[best.host]
		c.send(now, Move{Task: h.Tasks[best.run], From: h.Peer, To: hosts[to.host].Peer, words: exchangeWords,
			ends: [2]float64{last.end - most, last.end}, stays: [2]float64{to.stay, best.stay}})
	}
}

// together says whether two tasks are of one job and came together.
func together(hosts []Host, a, b *placedRun) bool {
	g, h := &hosts[a.host], &hosts[b.host]
	return g.Tasks[a.run].Job == h.Tasks[b.run].Job && g.Runs[a.run].Came == h.Runs[b.run].Came
}

// exchanged is how much sooner the last of two tasks is expected to end if the other leaves its
// member for the best idle one, and the last then takes its place.
func (c *Cost) exchanged(now time.Time, p, last *placedRun, hosts []Host, f Forecast, s *Situation) (gain float64,
	to ending, ok bool) {
	fast, slow := &hosts[p.host], &hosts[last.host]
	r, l := &fast.Runs[p.run], &slow.Runs[last.run]
	ratio := speedOf(slow) / speedOf(fast)
	wait := float64(exchangeTransfers*s.Transfer(max(r.State, l.State)) + c.period)
	if ratio >= 1 || p.end <= wait { // it frees its member by itself
		return 0, to, false
	}
	there := expectedEnd(l, fast, p.stay, s) + wait*(1-ratio)
	if there >= last.end {
		return 0, to, false
	}
	if to, ok = c.firstFree(c.lane(now, r, hosts, f, s), hosts); !ok {
		return 0, to, false
	}
	_, still := moveCost(r, s)
	leaves := expectedEnd(r, &hosts[to.host], to.stay, s) + still
	return last.end - max(there, leaves), to, leaves <= exchangeEven*there
}

// send notes a move.
func (c *Cost) send(now time.Time, m Move) {
	if c.moved == nil {
		c.moved = map[task.TaskID]time.Time{}
	}
	c.moved[m.Task] = now
	c.out = append(c.out, m)
}

func exchangeWords(m *Move) string {
	return fmt.Sprintf("the last task of its job, which is expected to end in %v, is to have this faster member: then "+
		"both are expected to have ended in %v", time.Duration(m.ends[1]).Round(time.Second),
		time.Duration(m.ends[0]).Round(time.Second))
}
