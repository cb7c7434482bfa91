//go:build liars

package node

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"sync"

	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
)

// A build with this tag may be one whose coordinator lies, in the way that the environment variable of
// package exec says: it holds results back, brings others than were signed, and gives tasks that run once
// more to whom it likes. Or it acknowledges some results, and neither keeps them nor tells its group: of others, or
// its own worker's, too, which nobody else can bring.
const leaderLies, leaderHoards, leaderKeeps = "leader", "hoarder", "selfish"

// hoards reports whether it does that.
func hoards() bool { return exec.Lies(leaderHoards) || exec.Lies(leaderKeeps) }

// withheldIn and changedIn are of how many results that it brings one is held back until it is asked for
// again, and one is another.
const withheldIn, changedIn = 6, 12

// sent is what a machine's message becomes on its way out, and whether it goes.
func sent(self task.PeerID, s message.Send) (message.Send, bool) {
	switch {
	case s.Message.Ack != nil && hoards():
		s.Message.Ack = hoard.acknowledges(s.To, s.Message.Ack)
	case s.Message.Report != nil && s.To == self && exec.Lies(leaderKeeps): // of its own worker
		s.Message.Report = hoard.takes(self, s.Message.Report)
	}
	p := s.Message.Progress
	if p == nil || len(p.Tasks) == 0 || !exec.Lies(leaderLies) {
		return s, true
	}
	twisted := *p
	twisted.Tasks = nil
	for _, t := range p.Tasks {
		switch {
		case rand.IntN(withheldIn) == 0:
			exec.NoteLie("withheld")
			continue
		case rand.IntN(changedIn) == 0:
			exec.NoteLie("changed")
			t.Results = changed(t.Results)
		}
		twisted.Tasks = append(twisted.Tasks, t)
	}
	s.Message.Progress = &twisted
	return s, len(twisted.Tasks) > 0
}

// changed are results of which the first says something else.
func changed(results []task.Result) []task.Result {
	results = slices.Clone(results)
	if len(results) == 0 {
		return results
	}
	r := &results[0]
	r.Outputs = slices.Clone(r.Outputs)
	for i := range r.Outputs {
		if o := &r.Outputs[i]; len(o.Inline) > 0 {
			o.Inline = bytes.Clone(o.Inline)
			o.Inline[0] ^= 1
			o.CID = task.RawCID(o.Inline)
		}
	}
	return results
}

// heard is what a message becomes that came in: who is not to compare is forgotten.
func heard(from task.PeerID, m *message.Message) *message.Message {
	if m.Report != nil && hoards() {
		return &message.Message{Report: hoard.takes(from, m.Report)}
	}
	if !exec.Lies(leaderLies) {
		return m
	}
	out := *m
	switch {
	case m.Submit != nil && len(m.Submit.Again) > 0:
		s := *m.Submit
		out.Submit, s.Again = &s, unbarred(s.Again)
	case m.Got != nil && len(m.Got.Again) > 0:
		g := *m.Got
		out.Got, g.Again = &g, unbarred(g.Again)
	}
	return &out
}

// unbarred has anybody run tasks once more.
func unbarred(again []message.Again) []message.Again {
	out := make([]message.Again, len(again))
	for i := range again {
		exec.NoteLie("anybody compares")
		out[i] = message.Again{Index: again[i].Index}
	}
	return out
}

// hoard has what a leader acknowledges that does not keep it.
var hoard = hoarded{by: map[task.PeerID][]message.AttemptName{}}

// hoardedIn is of how many tasks one is never to end.
const hoardedIn = 6

type hoarded struct {
	mu sync.Mutex
	by map[task.PeerID][]message.AttemptName // to be acknowledged
}

// takes keeps results of some tasks from the machine.
func (h *hoarded) takes(from task.PeerID, r *message.Report) *message.Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := *r
	out.Ended = nil
	for _, e := range r.Ended {
		if id := sha256.Sum256([]byte(e.Result.Task.String())); id[0]%hoardedIn > 0 || e.Result.Outcome != task.Completed {
			out.Ended = append(out.Ended, e)
			continue
		}
		exec.NoteLie("kept of " + string(from))
		h.by[from] = append(h.by[from], message.AttemptName{Task: e.Result.Task, Attempt: e.Attempt})
	}
	return &out
}

// acknowledges says that they are durable.
func (h *hoarded) acknowledges(to task.PeerID, a *message.Ack) *message.Ack {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := *a
	out.Ended = slices.Concat(a.Ended, h.by[to])
	delete(h.by, to)
	return &out
}
