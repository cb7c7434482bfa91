package share

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// variants are all policies with all that changes how they divide.
func variants() []string {
	out := append(Names(), "sep:of=holdings")
	for _, n := range Names() {
		out = append(out, n+":guard=gate,load=60", n+":guard=cap,load=60")
	}
	return out
}

func drawSites(t *rapid.T) []Site {
	sites := make([]Site, rapid.IntRange(0, 4).Draw(t, "sites"))
	for k := range sites {
		s := site(fmt.Sprint("s", k), rapid.IntRange(0, 30).Draw(t, "total"), 0)
		s.Idle = rapid.IntRange(0, s.Total).Draw(t, "idle")
		s.Used = s.Total - s.Idle
		s.Queued = max(0, rapid.IntRange(-4, 2).Draw(t, "queued"))
		if rapid.Bool().Draw(t, "measured") {
			s.Capacity = Amount{int64(s.Total), int64(4 * s.Total)}
			s.Free = Amount{int64(s.Idle), rapid.Int64Range(0, int64(4*s.Idle)).Draw(t, "memory")}
		}
		sites[k] = s
	}
	return sites
}

func drawClaimants(t *rapid.T, sites int) []Claimant {
	out := make([]Claimant, rapid.IntRange(0, 6).Draw(t, "claimants"))
	for i := range out {
		out[i] = Claimant{
			ID:       fmt.Sprint("c", i),
			Priority: rapid.IntRange(0, 1).Draw(t, "priority"),
			Weight:   rapid.SampledFrom([]float64{0, 1, 2, 0.5, 7}).Draw(t, "weight"),
			Demand:   rapid.SampledFrom([]int{0, 1, 3, 10, Unbounded, -1}).Draw(t, "demand"),
			Task:     Amount{rapid.Int64Range(0, 3).Draw(t, "cores"), rapid.Int64Range(0, 9).Draw(t, "memory")},
		}
		for k := range sites {
			if n := rapid.IntRange(-3, 5).Draw(t, "held"); n > 0 {
				out[i].Held = append(out[i].Held, Holding{k, n})
			}
		}
	}
	return out
}

// TestGrowKeepsTheRules holds every policy to what Policy promises.
func TestGrowKeepsTheRules(t *testing.T) {
	for _, s := range variants() {
		t.Run(s, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := parse(t, s)
				for range 3 { // policies remember
					sites := drawSites(t)
					claimants := drawClaimants(t, len(sites))
					checkGrants(t, p, claimants, sites, s)
				}
			})
		})
	}
}

func checkGrants(t *rapid.T, p Policy, claimants []Claimant, sites []Site, name string) {
	idle, sum := 0, 0
	at, got, seen := make([]int, len(sites)), make([]int, len(claimants)), make([]int, len(claimants))
	for k := range sites {
		if sites[k].Queued == 0 {
			idle += sites[k].Idle
		}
	}
	for _, g := range p.Grow(time.Time{}, claimants, sites) {
		if g.Slots < 0 || g.Reason.String() == "" {
			t.Fatalf("%+v: %q", g, g.Reason)
		}
		seen[g.Claimant]++
		got[g.Claimant] += g.Slots
		sum += g.Slots
		if g.Site != AnySite {
			at[g.Site] += g.Slots
		}
	}
	for k := range at {
		if at[k] > sites[k].Idle || at[k] > 0 && sites[k].Queued > 0 {
			t.Fatalf("%d at %+v", at[k], sites[k])
		}
	}
	wanted := 0
	for i := range got {
		demand := max(0, claimants[i].Demand)
		wanted += min(demand, idle)
		if got[i] > demand || (seen[i] > 0) != (demand > 0) {
			t.Fatalf("claimant %d of demand %d: %d slots in %d grants", i, demand, got[i], seen[i])
		}
	}
	if sum > idle {
		t.Fatalf("%d granted of %d", sum, idle)
	}
	whole := name != "drf" && !strings.Contains(name, "guard") // all is given that is wanted
	if whole && sum != min(idle, wanted) {
		t.Fatalf("%d granted; %d idle and %d wanted", sum, idle, wanted)
	}
	for i := range claimants { // strict priority
		for k := range claimants {
			if claimants[i].Priority > claimants[k].Priority && got[k] > 0 &&
				got[i] < max(0, min(claimants[i].Demand, idle)) && whole {
				t.Fatalf("claimant %d of priority %d has %d, claimant %d wants more", k, claimants[k].Priority, got[k], i)
			}
		}
	}
}

// TestPartsAreEqual: of what is idle all that want more have the same, to a slot,
// at each site and in all, in the calls together too.
func TestPartsAreEqual(t *testing.T) {
	for _, name := range []string{"gep", "sep"} {
		rapid.Check(t, func(t *rapid.T) {
			p := parse(t, name)
			n := rapid.IntRange(1, 7).Draw(t, "claimants")
			total := make([]int, n)
			for range 5 {
				claimants, sites := jobs(n), drawSites(t)
				at := make([][]int, len(sites)+1)
				for k := range at {
					at[k] = make([]int, n)
				}
				for _, g := range p.Grow(time.Time{}, claimants, sites) {
					if g.Site != AnySite {
						at[g.Site][g.Claimant] += g.Slots
					}
					at[len(sites)][g.Claimant] += g.Slots
					total[g.Claimant] += g.Slots
				}
				for k := range at {
					if (name == "sep" || k == len(sites)) && slices.Max(at[k])-slices.Min(at[k]) > 1 {
						t.Fatalf("%s: %v", name, at)
					}
				}
				if slices.Max(total)-slices.Min(total) > 1 {
					t.Fatalf("%s: %v after several calls", name, total)
				}
			}
		})
	}
}

// TestHoldingsAreMaxMinFair: of two that want more, none has more by a slot than
// it would beside the other, but for what it held before.
func TestHoldingsAreMaxMinFair(t *testing.T) {
	for _, name := range []string{"equal", "weighted"} {
		rapid.Check(t, func(t *rapid.T) {
			sites := drawSites(t)
			claimants := drawClaimants(t, len(sites))
			got := make([]int, len(claimants))
			for _, g := range parse(t, name).Grow(time.Time{}, claimants, sites) {
				got[g.Claimant] += g.Slots
			}
			for i := range claimants {
				for k := range claimants {
					a, b := &claimants[i], &claimants[k]
					if got[i] == 0 || got[k] >= b.Demand || a.Priority != b.Priority {
						continue
					}
					wa, wb := 1.0, 1.0
					if name == "weighted" {
						wa, wb = a.weight(), b.weight()
					}
					// a's last slot was given when its share was no more than b's is.
					if float64(a.held()+got[i]-1)/wa > float64(b.held()+got[k])/wb+1e-6 {
						t.Fatalf("%s: %d: %d+%d at %g, %d: %d+%d at %g", name, i, a.held(), got[i], wa, k, b.held(), got[k], wb)
					}
				}
			}
		})
	}
}

// TestShrinkGivesWhatIsNeeded: exactly the less of need and what is held, nobody
// more than it has there, the lowest priority first.
func TestShrinkGivesWhatIsNeeded(t *testing.T) {
	for _, s := range append(Names(), "equal:give=equal", "drf:give=equal", "sep:of=holdings") {
		rapid.Check(t, func(t *rapid.T) {
			p := parse(t, s)
			sites := drawSites(t)
			claimants := drawClaimants(t, len(sites))
			p.Grow(time.Time{}, claimants, sites)
			at, need := 0, rapid.IntRange(-1, 40).Draw(t, "need")
			held, gives, left := 0, 0, make([]int, len(claimants))
			for i := range claimants {
				left[i] = claimants[i].heldAt(at)
				held += left[i]
			}
			for _, r := range p.Shrink(claimants, at, need) {
				if gives, left[r.Claimant] = gives+r.Slots, left[r.Claimant]-r.Slots; r.Slots <= 0 || left[r.Claimant] < 0 {
					t.Fatalf("%s: %+v, %d left", s, r, left[r.Claimant])
				}
			}
			if gives != max(0, min(need, held)) {
				t.Fatalf("%s: %d of %d, %d are held", s, gives, need, held)
			}
			for i := range claimants {
				for k := range claimants {
					if claimants[i].Priority < claimants[k].Priority && left[i] > 0 && left[k] < claimants[k].heldAt(at) {
						t.Fatalf("%s: claimant %d gave though %d of lower priority has some", s, k, i)
					}
				}
			}
		})
	}
}

// TestNobodyStarves: one slot falls idle at a time, in no site twice in a row, and
// newcomers come at each: whoever wants one has it after as many as were there.
func TestNobodyStarves(t *testing.T) {
	for _, name := range []string{"gep", "sep", "sep:of=holdings", "equal", "weighted", "drf"} {
		rapid.Check(t, func(t *rapid.T) {
			p := parse(t, name)
			claimants := jobs(rapid.IntRange(1, 6).Draw(t, "claimants"))
			n := len(claimants)
			for i := range claimants {
				claimants[i].Demand = rapid.SampledFrom([]int{1, 2, Unbounded}).Draw(t, "demand")
			}
			had := make([]int, n)
			for round := range 2 * n {
				newcomer := Claimant{ID: fmt.Sprint("new", round), Demand: 1}
				sites := []Site{site("A", 9, round%2), site("B", 9, 1-round%2)}
				all := append(slices.Clone(claimants), newcomer)
				if rapid.Bool().Draw(t, "first") {
					all = append([]Claimant{newcomer}, claimants...)
				}
				for _, g := range p.Grow(time.Time{}, all, sites) {
					if i := slices.IndexFunc(claimants, func(c Claimant) bool { return c.ID == all[g.Claimant].ID }); i >= 0 {
						had[i] += g.Slots
					}
				}
			}
			if slices.Min(had) == 0 {
				t.Fatalf("%s: %v", name, had)
			}
		})
	}
}

// TestDominantProperties has those of Ghodsi et al., NSDI 2011, section 3, for
// tasks that cannot be divided: each bound is off by the size of a last task.
func TestDominantProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := Amount{rapid.Int64Range(5, 200).Draw(t, "cores"), rapid.Int64Range(5, 1000).Draw(t, "memory")}
		sites := []Site{{Total: 1000, Idle: 1000, Capacity: capacity, Free: capacity}}
		claimants := jobs(rapid.IntRange(1, 6).Draw(t, "claimants"))
		for i := range claimants {
			claimants[i].Task = Amount{rapid.Int64Range(1, 5).Draw(t, "task cores"),
				rapid.Int64Range(1, 40).Draw(t, "task memory")}
		}
		got := make([]float64, len(claimants))
		for _, g := range parse(t, "drf").Grow(time.Time{}, claimants, sites) {
			got[g.Claimant] += float64(g.Slots)
		}
		free, part, parts := capacity, make([]float64, len(got)), 0.0
		for i := range got {
			c := &claimants[i]
			part[i] = c.part(capacity)
			parts += part[i]
			free.Cores -= int64(got[i]) * c.Task.Cores
			free.Memory -= int64(got[i]) * c.Task.Memory
		}
		if free.Cores < 0 || free.Memory < 0 {
			t.Fatalf("%v of %v are free", free, capacity)
		}
		for i := range got {
			c := &claimants[i]
			// Pareto efficiency: no further task of anybody fits.
			if c.Task.Cores <= free.Cores && c.Task.Memory <= free.Memory {
				t.Fatalf("claimant %d could have one more: %v left", i, free)
			}
			// Sharing incentive: nobody has less than of an n-th of everything.
			if n := float64(len(got)); n*got[i]*part[i] < 1-part[i]-(parts-part[i])-1e-9 {
				t.Fatalf("claimant %d has %v tasks, %v each, of %d claimants", i, got[i], part[i], len(got))
			}
			// No envy: of what another has nobody could run more.
			for k := range got {
				other := &claimants[k].Task
				would := min(got[k]*float64(other.Cores)/float64(c.Task.Cores), got[k]*float64(other.Memory)/float64(c.Task.Memory))
				if would > got[i]+part[k]/part[i]+1+1e-9 {
					t.Fatalf("claimant %d has %v tasks and would have %v in %d's place", i, got[i], would, k)
				}
			}
		}
	})
}
