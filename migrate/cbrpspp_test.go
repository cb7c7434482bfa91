package migrate

import (
	"testing"
	"time"

	"godwit/task"
)

// steady is a forecast by name.
type steady map[task.PeerID]float64

func (s steady) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	p, known := s[peer]
	return p, known
}

// Of three members, one is predicted to go by its history, one by its CPU, and one by neither. A member without history
// is judged by its CPU alone.
func TestEitherPredictsWhatCBROrPSPPPredict(t *testing.T) {
	p, err := ParseWith("tde", "cbr-pspp:p=10m,interval=5m")
	if err != nil {
		t.Fatal(err)
	}
	if p.Period() != 5*time.Minute {
		t.Errorf("it scans every %v", p.Period())
	}
	busy := []task.TaskID{{Job: "j"}}
	hosts := []Host{{Peer: "history", CPU: 100, Tasks: busy}, {Peer: "cpu", CPU: 10, Tasks: busy},
		{Peer: "neither", CPU: 100, Tasks: busy}, {Peer: "idle", CPU: 10}, {Peer: "unknown", CPU: 10, Tasks: busy}}
	got := p.Scan(hour(0), hosts, steady{"history": 0, "cpu": 1, "neither": 1}, newRand())
	want := []struct {
		peer task.PeerID
		exit bool
		why  string
	}{
		{"history", true, "it stays for 10m0s with probability 0, under 1"},
		{"cpu", true, "guests get 10 % of its speed, under 25 %"},
		{"neither", false, ""},
		{"unknown", true, "guests get 10 % of its speed, under 25 %"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d predictions: %+v", len(got), got)
	}
	for i, w := range want {
		if g := &got[i]; g.Peer != w.peer || g.Exit != w.exit || g.Exit && g.Why() != w.why {
			t.Errorf("got %+v (%s), want %+v", g, g.Why(), w)
		}
	}
	if p.(Foreteller).Predictor() != "tde" {
		t.Errorf("published with %s", p.(Foreteller).Predictor())
	}
}

// CBR within cbr-pspp adjusts its threshold after exits that it missed, and not after those that PSPP predicted alone.
func TestEitherAdjustsByCBRsOwnPredictions(t *testing.T) {
	p := parse(t, "cbr-pspp:p=10m,interval=10m").(*Either)
	hosts := []Host{{Peer: "a", CPU: 100, Tasks: []task.TaskID{{Job: "j"}}}}
	p.Scan(hour(0), hosts, steady{"a": 1}, newRand())
	p.Scan(hour(1), hosts, steady{"a": 1}, newRand())
	if got := p.cbr.Threshold(); got != 25 {
		t.Fatalf("after a stay the threshold is %v", got)
	}
	p.Left("a", hour(1.1))
	p.Scan(hour(2), hosts, steady{"a": 1}, newRand())
	if got := p.cbr.Threshold(); got == 25 {
		t.Error("after a missed exit the threshold is the same")
	}
}
