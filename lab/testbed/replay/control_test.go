package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/trace"
)

// controlled is a player of a host that is up but for seconds 20 to 30, and of 60 seconds in all.
func controlled() *player {
	h := &trace.History{Host: "M1"}
	for i, s := range []trace.State{trace.Available, trace.Unavailable, trace.Available} {
		clock.Note(h, day0.Add([]time.Duration{0, 20 * time.Second, 30 * time.Second}[i]), s, 1)
	}
	h.Extend(day0.Add(time.Minute))
	p := newPlayer(h, "traced")
	p.clock = clock.Clock{Start: day0, Begun: day0, Speedup: 1}
	return p
}

// ups writes a history's times up, in seconds after day0.
func ups(h *trace.History) string {
	var out []string
	for at := h.Since().Add(-time.Second); ; {
		in, ok := nextUp(h, at)
		if !ok {
			return strings.Join(out, " ")
		}
		out = append(out, fmt.Sprintf("%g-%g", in.from.Sub(day0).Seconds(), in.to.Sub(day0).Seconds()))
		at = in.to
	}
}

// TestControlEditsHistory stops and starts a server at some times. Each command is a second and what is done then.
func TestControlEditsHistory(t *testing.T) {
	for commands, want := range map[string]string{
		"":                           "0-20 30-60",
		"10 stop":                    "0-10",
		"10 stop, 15 start":          "0-10 15-20 30-60",
		"10 stop, 25 start":          "0-10 25-60",
		"10 stop, 40 start":          "0-10 40-60",
		"25 stop":                    "0-20",
		"25 start":                   "0-20 25-60",
		"5 start":                    "0-20 30-60",
		"10 stop, 10 start":          "0-10 10.001-20 30-60",
		"10 stop, 11 stop":           "0-10",
		"70 stop":                    "0-20 30-60",
		"-5 stop":                    "0-0.001",
		"35 stop, 36 start, 50 stop": "0-20 30-35 36-50",
	} {
		p := controlled()
		for command := range strings.SplitSeq(commands, ", ") {
			var second int
			var verb string
			if _, err := fmt.Sscan(command, &second, &verb); err != nil {
				continue // there are none
			}
			now := day0.Add(time.Duration(second) * time.Second)
			if verb == "stop" {
				p.stop(now)
			} else if err := p.start(context.Background(), now); err != nil {
				t.Fatal(err)
			}
		}
		if got := ups(p.history); got != want {
			t.Errorf("%q: up %s, want %s", commands, got, want)
		}
		if !p.history.Since().Equal(day0) || !p.history.Until().Equal(day0.Add(time.Minute)) {
			t.Errorf("%q: the history goes from %v to %v", commands, p.history.Since(), p.history.Until())
		}
	}
}

// TestServerStates are those of a server without a node, by what was planned and commanded.
func TestServerStates(t *testing.T) {
	p := controlled()
	at := func(s int) time.Time { return day0.Add(time.Duration(s) * time.Second) }
	if got := []string{p.state(at(10)), p.state(at(25))}; got[0] != StateStarting || got[1] != StateDown {
		t.Errorf("got %v", got)
	}
	p.stop(at(10))
	if got := p.state(at(40)); got != StateStopped {
		t.Errorf("after a stop: %s", got)
	}
	if err := p.start(t.Context(), at(40)); err != nil || p.state(at(41)) != StateStarting {
		t.Errorf("after a start: %s, %v", p.state(at(41)), err)
	}
	if _, err := p.ping(t.Context()); err == nil || p.pause(t.Context()) == nil {
		t.Errorf("a server without a node answers")
	}
}
