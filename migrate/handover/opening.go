package handover

import "time"

// dial opens a stream.
func (g *Giver) dial() {
	g.stream++
	g.do(Dial{g.stream})
	g.enter(dialling, g.opensIn(), "the destination could not be reached")
}

// opensIn is what is left of DialTime.
func (g *Giver) opensIn() time.Duration { return g.begun.Add(g.cfg.DialTime).Sub(g.now) }

// open says what comes.
func (g *Giver) open() {
	o := g.order
	g.do(Send{g.stream, Open{Overlay: o.Overlay, Task: o.Task, From: o.From, As: o.As, Urgent: o.Urgent}})
	g.enter(opening, g.opensIn(), "the destination did not answer")
}

func (g *Giver) refused(f Refuse) {
	reason := "the destination refused: " + f.Reason
	if !f.Later {
		g.end(Stays, reason)
		return
	}
	g.do(Hang{g.stream, ""})
	g.again(reason)
}

// again waits for the next try to open. The stream before it is gone.
func (g *Giver) again(reason string) {
	g.enter(pausing, min(g.pause, g.opensIn()), reason)
	g.pause = min(2*g.pause, g.cfg.DialPause)
}

func (g *Giver) welcomed() {
	if g.order.Urgent {
		g.freeze("it was urgent")
		return
	}
	g.save()
}
