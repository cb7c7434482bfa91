package handover

import (
	"fmt"
	"time"
)

// save asks for the checkpoint that the next round sends.
func (g *Giver) save() {
	g.do(Checkpoint{})
	g.asked = g.now
	g.enter(saving, g.cfg.SaveTime, fmt.Sprintf("it was not saved within %v", g.cfg.SaveTime))
}

// checkpointed takes the answer; a problem is not empty when there is none.
func (g *Giver) checkpointed(problem string) {
	switch {
	case g.phase != saving:
	case g.order.Urgent:
		g.freeze("it became urgent")
	case problem != "":
		g.fail(problem)
	default:
		g.round++
		g.got = false
		g.before, g.saved, g.sent = g.saved, g.asked, g.now
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
		g.enter(answering, g.cfg.AnswerTime, fmt.Sprintf("the destination did not answer round %d for %v", g.round, g.cfg.AnswerTime))
		if g.got {
			g.decide()
		}
	case ev.N == g.round+1 && g.phase == finishing:
		g.count(ev)
		if g.resumed {
			g.handed()
			return
		}
		g.enter(confirming, g.cfg.ConfirmTime, fmt.Sprintf("frozen, unconfirmed: nothing was heard for %v", g.cfg.ConfirmTime))
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
	rate := float64(last.Bytes) / max(last.Took, time.Millisecond).Seconds()
	if last.Bytes >= BatchBytes || rate > g.rate { // of little the round trip takes most
		g.rate = rate
	}
	rest, known := g.rest()
	switch {
	case known && rest <= g.cfg.Small:
		g.freeze(fmt.Sprintf("what changes meanwhile takes about %v", rest.Round(time.Millisecond)))
	case g.round > 1 && float64(last.Bytes) > g.cfg.Shrink*float64(g.stats.Rounds[g.round-2].Bytes):
		g.freeze("the rounds no longer shrink")
	case g.round >= g.cfg.Rounds:
		g.freeze("there were enough rounds")
	default:
		g.save()
	}
}

// rest estimates how long the pages take that changed since the last round's
// checkpoint: as many a second as changed in the time before it, or all that
// there are, at the rate of the rounds. It is not known after the first round,
// unless all of the state takes no longer.
func (g *Giver) rest() (time.Duration, bool) {
	last := g.stats.Rounds[g.round-1]
	if g.round == 1 {
		return last.Took, last.Took <= g.cfg.Small
	}
	if g.rate == 0 {
		return 0, true // nothing was sent: nothing changes
	}
	changed := float64(last.Bytes) * g.now.Sub(g.saved).Seconds() / max(g.saved.Sub(g.before), time.Millisecond).Seconds()
	changed = min(changed, float64(g.stats.Rounds[0].Bytes))
	return time.Duration(changed / g.rate * float64(time.Second)), true
}

// freeze stops the guest for good. A round that is being sent goes on.
func (g *Giver) freeze(why string) {
	g.why, g.froze = why, g.now
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
