package handover

import (
	"fmt"
	"time"
)

// save asks for the checkpoint that the next round sends.
func (g *Giver) save() {
	g.do(Checkpoint{})
	g.asked = g.now
	g.pace.asked(g.now)
	g.enter(saving, g.cfg.SaveTime, fmt.Sprintf("it was not saved within %v", g.cfg.SaveTime))
}

// checkpointed takes the answer, with the bytes that are new with it; a problem is
// not empty when there is none.
func (g *Giver) checkpointed(problem string, bytes int64) {
	switch {
	case g.phase != saving:
		g.unsent += bytes
	case g.order.Urgent:
		g.freeze("it became urgent")
	case problem != "":
		g.fail(problem)
	default:
		g.round++
		g.got = false
		g.saved, g.sent = g.asked, g.now
		g.pace.saved(g.round, g.unsent+bytes)
		g.unsent = 0
		g.slowIfNeeded()
		g.do(SendRound{g.stream, g.round})
		g.enter(sending, g.cfg.StallTime, g.stalled())
	}
}

func (g *Giver) stalled() string {
	return fmt.Sprintf("nothing moved for %v", g.cfg.StallTime)
}

// wrote takes that a round has left. One that a freeze overtook is counted all
// the same.
func (g *Giver) wrote(ev Sent) {
	switch {
	case ev.N == g.round && len(g.stats.Rounds) < g.round:
		g.count(ev)
		if g.phase != sending {
			return
		}
		g.enter(answering, g.cfg.AnswerTime, fmt.Sprintf("the destination did not answer round %d for %v", g.round,
			g.cfg.AnswerTime))
		if g.got {
			g.decide()
		}
	case ev.N == g.round+1 && g.phase == finishing:
		g.count(ev)
		if g.resumed {
			g.handed()
			return
		}
		g.enter(confirming, g.cfg.ConfirmTime,
			fmt.Sprintf("frozen, unconfirmed: nothing was heard for %v", g.cfg.ConfirmTime))
	}
}

func (g *Giver) count(ev Sent) {
	g.stats.Bytes += ev.Bytes
	g.stats.Rounds = append(g.stats.Rounds, RoundStat{Blocks: ev.Blocks, Bytes: ev.Bytes, Took: g.now.Sub(g.sent)})
}

// answered takes the Got of the newest round, which may be heard before it is
// known that the last byte has left.
func (g *Giver) answered() {
	g.got = true
	if g.phase == answering {
		g.decide()
	}
}

// decide chooses, when a round is there, between another and the freeze.
func (g *Giver) decide() {
	last := &g.stats.Rounds[g.round-1]
	last.Took = g.now.Sub(g.sent)
	p := &g.pace
	p.carried(last.Bytes, g.now.Sub(g.saved), g.cfg.Tells)
	if g.round == 1 { // what changes is not known yet
		if last.Took <= g.cfg.Small {
			g.freeze(fmt.Sprintf("all of it takes about %v", last.Took.Round(time.Millisecond)))
			return
		}
		g.save()
		return
	}
	g.slowIfNeeded()
	left := p.left(g.now)
	switch rest := p.takes(left); {
	case rest <= g.cfg.Small:
		g.freeze(fmt.Sprintf("what changes meanwhile takes about %v", rest.Round(time.Millisecond)))
	case p.after(left) > g.cfg.Pays*left, g.now.Sub(g.saved) < g.cfg.Tells && p.newest > g.cfg.Pays*p.older:
		// In short rounds the same few whole pages change, however slow the guest is.
		g.freeze("the rounds no longer shrink")
	case g.round >= g.cfg.Rounds:
		g.freeze("there were enough rounds")
	case float64(g.stats.Bytes)+left > g.cfg.Most*float64(g.stats.Rounds[0].Bytes):
		g.freeze("enough was carried")
	default:
		g.save()
	}
}

// slowIfNeeded slows a guest that dirties its memory too fast for rounds that
// shrink. It is not let run faster again before the end: what short rounds tell of
// it is coarse, by whole pages.
func (g *Giver) slowIfNeeded() {
	p := &g.pace
	if p.ratio() <= g.cfg.Shrink || p.takes(p.newest) <= g.cfg.Small {
		return
	}
	if share := max(g.cfg.Slowest, g.cfg.SlowTo*p.rate/p.dirt); share < p.share {
		g.slow(share)
	}
}

func (g *Giver) slow(share float64) {
	g.pace.slow(g.now, share)
	g.do(Slow{share})
}

// freeze stops the guest for good. A round that is being sent goes on.
func (g *Giver) freeze(why string) {
	g.why, g.froze = why, g.now
	g.pace.run(g.now)
	g.do(Freeze{})
	g.enter(freezing, g.cfg.SaveTime, fmt.Sprintf("it was not frozen within %v", g.cfg.SaveTime))
}

// hurry freezes as soon as it can be: a checkpoint under way comes first.
func (g *Giver) hurry(reason string) {
	g.order.Urgent = true
	if g.phase == sending || g.phase == answering {
		g.freeze(reason)
	}
}

// stands takes that the guest is frozen.
func (g *Giver) stands(h Hash) {
	switch g.phase {
	case stopping:
		g.end(Stopped, g.failure)
	case freezing:
		g.hash, g.sent = h, g.now
		g.do(SendFinal{g.stream, g.round + 1})
		g.enter(finishing, g.cfg.StallTime, g.stalled()+" of the last round")
	}
}

// confirm takes that the guest runs there. It may be heard before it is known
// that the last byte has left; that comes at once, and completes the Stats.
func (g *Giver) confirm(h Hash) {
	if g.resumed {
		return
	}
	if h != g.hash {
		g.fail("the destination resumed another state than the one sent")
		return
	}
	g.resumed = true
	g.stats.Downtime = g.now.Sub(g.froze)
	if g.phase == confirming {
		g.handed()
	}
}

func (g *Giver) handed() {
	if n := len(g.stats.Rounds); n > g.round {
		g.stats.Rounds[n-1].Took = g.froze.Add(g.stats.Downtime).Sub(g.sent)
	}
	g.end(Handed, fmt.Sprintf("%d rounds, then frozen: %s", g.round, g.why))
}
