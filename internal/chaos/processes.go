package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/internal/pause"
)

const (
	// strikeEvery is how often a node is killed.
	strikeEvery = 5 * time.Second
	// downFor is how long it stays away.
	downFor = 10 * time.Second
	// goodbyeEvery-th strike is a SIGTERM of the leader: one a minute. The first
	// comes half a minute after the start.
	goodbyeEvery, firstGoodbye = 12, 6
	// fewestLive nodes are left running: three cannot lose their majority to one
	// more strike.
	fewestLive = 3
	// settleLimit is how long the rest of the work may take once all nodes run
	// again.
	settleLimit = time.Minute
)

// processes kills a node every five seconds, half of the time the leader, under
// a job of many tasks, and restarts it ten seconds later. Once a minute the
// leader is told to stop instead.
func processes(ctx context.Context, t *trial) error {
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if _, err := t.submit(ctx, t.nodes[t.rng.IntN(len(t.nodes))], "sweep", t.tasks, acceptLimit); err != nil {
		return err
	}
	s := storm{trial: t, next: time.Now().Add(strikeEvery)}
	if err := s.run(ctx, time.Duration(t.minutes*float64(time.Minute))); err != nil {
		return err
	}
	for i := range t.jobs {
		_, held, _ := t.jobs[i].ended()
		t.say("the last strike is over: %d of %d results held", held, t.jobs[i].tasks)
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	t.report.show("nodes killed, of these leaders; told to stop", "", "%d, %d; %d", s.kills, s.leaders, s.goodbyes)
	t.report.expect("no node ends by itself, and each that is told to stop does", s.ill == "", "%s", s.ill)
	falls, _ := t.tally.Falls()
	t.report.takeovers(falls)
	return t.afterwards(ctx)
}

// A storm strikes nodes and brings them back.
type storm struct {
	*trial
	next   time.Time // of the next strike
	number int       // of strikes so far
	away   []absence

	kills, leaders, goodbyes int
	ill                      string // the first thing that no node should have done
}

// An absence is a node that was struck.
type absence struct {
	node *node
	back time.Time
}

// run strikes for so long and then brings every node back in its time.
func (s *storm) run(ctx context.Context, length time.Duration) error {
	end := time.Now().Add(length)
	for {
		now := time.Now()
		if err := s.bringBack(ctx, now); err != nil {
			return err
		}
		s.lookForDeaths(now)
		if !now.Before(s.next) && now.Before(end) {
			s.strike(now)
			s.next = s.next.Add(strikeEvery)
		}
		if !now.Before(end) && len(s.away) == 0 {
			return nil
		}
		if err := pause.For(ctx, lookAgain); err != nil {
			return err
		}
	}
}

// strike kills a node, or tells the leader to stop where that is due.
func (s *storm) strike(now time.Time) {
	live := s.running()
	if len(live) <= fewestLive {
		s.say("only %d nodes run: none is struck", len(live))
		return
	}
	s.number++
	leader, v := s.tally.Leader()
	if s.number%goodbyeEvery == firstGoodbye && leader != nowhere {
		s.goodbyes++
		s.say("SIGTERM to node %d, which leads in epoch %s", leader, epochName(v.Epoch))
		s.leave(now, s.nodes[leader], true)
		s.nodes[leader].interrupt()
		return
	}
	victim := s.nodes[choose(s.rng, live, leader)]
	s.kills++
	led := ""
	if s.leave(now, victim, false) {
		s.leaders++
		led = fmt.Sprintf(", which leads in epoch %s", epochName(v.Epoch))
	}
	victim.kill()
	s.say("kill -9 of node %d%s", victim.index, led)
}

// leave notes that a node goes at that time and says whether it led.
func (s *storm) leave(now time.Time, n *node, asked bool) bool {
	s.away = append(s.away, absence{n, now.Add(downFor)})
	return s.tally.fell(time.Now(), n.index, asked)
}

// choose picks a victim: half of the time the leader, where one is known.
func choose(rng *rand.Rand, live []int, leader int) int {
	half, other := rng.IntN(2) == 0, live[rng.IntN(len(live))]
	if half && leader != nowhere {
		return leader
	}
	return other
}

// running returns the nodes that run and were not struck.
func (s *storm) running() []int {
	var live []int
	for _, n := range s.nodes {
		if n.proc != nil && !s.isAway(n) {
			live = append(live, n.index)
		}
	}
	return live
}

func (s *storm) isAway(n *node) bool {
	for _, a := range s.away {
		if a.node == n {
			return true
		}
	}
	return false
}

// bringBack restarts nodes that were away for long enough.
func (s *storm) bringBack(ctx context.Context, now time.Time) error {
	var still []absence
	for i, a := range s.away {
		if now.Before(a.back) {
			still = append(still, s.away[i])
			continue
		}
		if a.node.proc != nil && !a.node.exited() {
			s.blame("node %d did not end within %v of a SIGTERM; it said:\n%s", a.node.index, downFor, a.node.said())
		}
		if a.node.exited() && a.node.proc.err != nil {
			s.blame("node %d did not end cleanly: %v; it said:\n%s", a.node.index, a.node.proc.err, a.node.said())
		}
		a.node.kill() // what was asked to stop has to be waited for, too
		if err := s.start(ctx, a.node); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.blame("%v", err)
			still = append(still, absence{a.node, now.Add(downFor)})
		}
	}
	s.away = still
	return nil
}

// lookForDeaths treats a node that ended by itself like one that was struck.
func (s *storm) lookForDeaths(now time.Time) {
	for _, n := range s.nodes {
		if n.exited() && !s.isAway(n) {
			s.blame("node %d ended by itself (%v); it said:\n%s", n.index, n.proc.err, n.said())
			s.away = append(s.away, absence{n, now.Add(downFor)})
		}
	}
}

// blame keeps the first complaint and shows every one.
func (s *storm) blame(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	s.say("%s", what)
	if s.ill == "" {
		s.ill = what
	}
}
