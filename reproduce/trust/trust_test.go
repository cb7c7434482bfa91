package trust

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"godwit/reproduce"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// TestComputed: the shares of work that are audited by the formulas, in percent, as the plan
// of trust has them.
func TestComputed(t *testing.T) {
	tasks := []int{10, 30, 100, 300, 1000, 10_000}
	for what, tt := range map[string]struct {
		got  func(n int) float64
		want string
	}{
		"open":    {func(n int) float64 { return expected(openPool, n) }, "[90 71 37 15 6.5 3.4]"},
		"invited": {func(n int) float64 { return expected(invitedPool, n) }, "[35 13 4.5 2.2 1.4 1]"},
	} {
		var got []string
		for _, n := range tasks {
			got = append(got, fmt.Sprintf("%.2g", 100*tt.got(n)/float64(n)))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %s", what, got, tt.want)
		}
	}
}

// TestExperiments: what takes a second differs nowhere from what is computed.
func TestExperiments(t *testing.T) {
	for _, e := range Experiments()[1:2] {
		r, err := e.Run(reproduce.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Cells {
			if c.Verdict == reproduce.Differs {
				t.Errorf("%s, %s: %s, computed %s", c.Experiment, c.Cell, c.Obtained, c.Published)
			}
		}
	}
}

// A liar that is found leaves nothing wrong behind, and all that nobody audited runs again.
func TestMeet(t *testing.T) {
	a := meet(openPool, late(50, skips(intervals)), 1000, rng(1))
	if !a.found || a.wrong != 0 || a.done <= 50 {
		t.Errorf("%+v", a)
	}
	if a.unaudited != 0 || a.again < intervals {
		t.Errorf("%d intervals are left, %d run again", a.unaudited, a.again)
	}
	b := meet(openPool, honest, 1000, rng(1))
	if b.found || b.done != 1000 || b.audited+b.unaudited != 1000*intervals || b.again != 0 {
		t.Errorf("an honest one: %+v", b)
	}
	listed := openPool
	listed.Prior, listed.Least = 0, 0
	if c := meet(listed, skips(1), 100, rng(1)); c.audited != 0 || c.wrong != 100 {
		t.Errorf("one that is never looked at: %+v", c)
	}
}

// TestVote: what the rules are known for.
func TestVote(t *testing.T) {
	always := skips(intervals)
	for _, tt := range []struct {
		what     string
		crowd    crowd
		rule     int
		wrong    bool
		from, to float64 // of what is run beyond each task once
	}{
		{"honest, twice", crowd{as: honest}, 0, false, 1, 1},
		{"honest, trusted", crowd{as: honest}, 1, false, .01, .3},
		{"honest, three times", crowd{as: honest}, 2, false, 2, 2},
		{"liars that do not agree", crowd{liars: .2, as: always}, 0, false, 1.1, 1.6},
		{"liars that agree", crowd{liars: .4, as: always, collude: true}, 0, true, 1.2, 2},
		{"liars that agree, three times", crowd{liars: .4, as: always, collude: true}, 2, true, 2, 2},
		{"who waits for trust", crowd{liars: .1, as: late(50, always)}, 1, true, .01, .5},
	} {
		a := tt.crowd.vote(votingRules[tt.rule], 50, 100, rng(2))
		if a.tasks != 5000 || (a.wrong > 0) != tt.wrong || a.extra() < tt.from || a.extra() > tt.to {
			t.Errorf("%s: %+v, %.2f beyond once", tt.what, a, a.extra())
		}
	}
}
