package share

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// releases writes who gives how many: "3,2,1".
func releases(rs []Release, n int) string {
	per := make([]int, n)
	for _, r := range rs {
		per[r.Claimant] += r.Slots
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(per), " ", ","), "[]")
}

func holding(at0 ...int) []Claimant {
	out := jobs(len(at0))
	for i, n := range at0 {
		if n > 0 {
			out[i].Held = []Holding{{0, n}}
		}
	}
	return out
}

func TestShrink(t *testing.T) {
	elsewhere := holding(6, 6)
	elsewhere[0].Held = append(elsewhere[0].Held, Holding{1, 10})
	low := holding(3, 3, 3)
	low[1].Priority, low[2].Priority = -1, 1
	weighted := holding(30, 10)
	weighted[0].Weight = 3
	sized := holding(5, 4, 5)
	for i, work := range []float64{7, 10, 5} {
		sized[i].Sorting.Work = work
	}
	for _, tt := range []struct {
		policy    string
		claimants []Claimant
		need      int
		want      string
	}{
		{"gep", holding(4, 4, 4), 6, "2,2,2"},
		{"sep", holding(5, 4, 1), 6, "3,2,1"}, // one has no more, and the odd slot is of who has most
		{"sep", holding(5, 4, 1), 20, "5,4,1"},
		{"sep", holding(5, 0, 1), 2, "1,0,1"},
		{"sep", holding(4, 4), 0, "0,0"},
		{"sep", holding(4, 4), -3, "0,0"},
		{"sep", holding(0, 0), 3, "0,0"},
		{"sep", low, 5, "2,3,0"}, // the lowest first
		{"sep", elsewhere, 4, "2,2"},
		{"sep:of=holdings", holding(5, 4, 1), 6, "3,3,0"},
		{"sep:of=holdings", elsewhere, 4, "2,2"},
		{"equal", elsewhere, 4, "4,0"}, // who holds most in all
		{"equal:give=equal", elsewhere, 4, "2,2"},
		{"weighted", weighted, 8, "6,2"},
		{"weighted:give=equal", weighted, 8, "4,4"},
		{"drf", holding(5, 4, 1), 6, "3,3,0"},
		{"fcfs", holding(5, 4, 1), 4, "0,3,1"},
		{"sjf", sized, 7, "3,4,0"},
		{"lttr", sized, 7, "2,0,5"},
	} {
		rs := parse(t, tt.policy).Shrink(tt.claimants, 0, tt.need)
		if got := releases(rs, len(tt.claimants)); got != tt.want {
			t.Errorf("%s, %d: got %s, want %s", tt.policy, tt.need, got, tt.want)
		}
		for _, r := range rs {
			if r.Slots <= 0 || !strings.Contains(r.Reason.String(), "slots are wanted back here") {
				t.Errorf("%s: got %+v: %s", tt.policy, r, r.Reason)
			}
		}
	}
}

// TestLocal: ten slots wanted of three that hold 20 each (Grundeken 2009, section
// 3.2.1 and chapter 5).
func TestLocal(t *testing.T) {
	for _, tt := range []struct {
		policy string
		held   []Claimant
		need   int
		want   string
	}{
		{"sep:local=drastic", holding(20, 20, 20), 10, "10,10,10"},
		{"sep:local=drastic", holding(20, 3, 0), 10, "10,3,0"},
		{"sep:local=proportional", holding(20, 20, 20), 10, "4,4,4"},
		{"sep:local=proportional", holding(1, 1), 10, "1,1"},
		{"sep:local=proportional", holding(0, 0), 10, "0,0"},
		{"sep:local=drastic", holding(2, 2), -1, "0,0"},
		{"sep", holding(20, 20, 20), 10, "3,3,4"},
		{"sep", holding(3), 5, "3"},
		{"sep", holding(8), 5, "5"},
	} {
		rs := parse(t, tt.policy).Local(tt.held, 0, tt.need)
		if got := releases(rs, len(tt.held)); got != tt.want {
			t.Errorf("%s, %d: got %s, want %s", tt.policy, tt.need, got, tt.want)
		}
	}
}

func TestGivers(t *testing.T) {
	running := []Running{{5 * time.Second, 0}, {time.Second, 9}, {0, 3}, {time.Second, 10}, {0, 3}}
	rng := rand.New(rand.NewPCG(1, 1))
	if got := LeastLost(running, 4, rng); !slices.Equal(got, []int{4, 2, 3, 1}) {
		t.Errorf("got %v", got)
	}
	for n := -1; n < 8; n++ {
		for name, give := range map[string]Giver{"random": Random, "least-lost": LeastLost} {
			got := give(running, n, rng)
			slices.Sort(got)
			if len(got) != max(0, min(n, 5)) || len(slices.Compact(got)) != len(got) {
				t.Errorf("%s of %d: got %v", name, n, got)
			}
		}
	}
	for _, name := range []string{"", "random", "least-lost"} {
		if _, err := ParseGiver(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := ParseGiver("newest"); err == nil || !strings.Contains(err.Error(), "least-lost, random") {
		t.Errorf("got %v", err)
	}
	if _, ok := PullAny(0, rng); ok {
		t.Error("a task came of none")
	}
	seen := map[int]bool{}
	for range 100 {
		i, _ := PullAny(3, rng)
		seen[i] = true
	}
	if len(seen) != 3 || seen[3] {
		t.Errorf("got %v", seen)
	}
}
