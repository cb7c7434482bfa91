//go:build liars

package node

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
)

// A build with this tag may be one whose coordinator lies, in the way that the environment variable of
// package exec says: it holds results back, brings others than were signed, and gives tasks that run once
// more to whom it likes.
const leaderLies = "leader"

// withheldIn and changedIn are of how many results that it brings one is held back until it is asked for
// again, and one is another.
const withheldIn, changedIn = 6, 12

// sent is what a machine's message becomes on its way out, and whether it goes.
func sent(s message.Send) (message.Send, bool) {
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
func heard(m *message.Message) *message.Message {
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
