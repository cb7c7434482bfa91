package share

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// parse is a policy that must be there.
func parse(t interface{ Fatal(...any) }, s string) Policy {
	p, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, problem string }{
		{"", ""}, {"fcfs", ""}, {"equipartition-all", ""}, {"sep:guard=gate,load=80,local=drastic", ""},
		{"drf:give=equal,per=owner,shrink=arrival", ""},
		{"lottery", "use one of drf, edf, equal, equipartition-all"},
		{"gep:guard=on", "one of none, gate, cap"},
		{"gep:load=0", "from 1 to 100"},
		{"gep:give=level", `unknown parameter "give": use one of aging, guard, load, local, per, shrink`},
		{"gep:per=site", "one of job, owner"},
		{"sep:of=all", "one of idle, holdings"},
		{"gep:guard", "NAME=VALUE"},
	} {
		_, err := Parse(tt.in)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q: got %v, want %q", tt.in, err, tt.problem)
		}
	}
	for _, name := range Names() {
		if !strings.Contains(Describe(), name+":") {
			t.Errorf("%s is not described", name)
		}
	}
}

// site is one of so many slots, some idle, the others used.
func site(name string, total, idle int) Site {
	return Site{Name: name, Total: total, Used: total - idle, Idle: idle}
}

// jobs are claimants that take all, named j1, j2, ...
func jobs(n int) []Claimant {
	out := make([]Claimant, n)
	for i := range out {
		out[i] = Claimant{ID: fmt.Sprint("j", i+1), Demand: Unbounded}
	}
	return out
}

// told writes grants, site by site, those of nothing left out: "A:3,2 B:1".
func told(grants []Grant, claimants []Claimant, sites []Site) string {
	var parts []string
	for s := AnySite; s < len(sites); s++ {
		per := make([]int, len(claimants))
		sum := 0
		for _, g := range grants {
			if g.Site == s {
				per[g.Claimant] += g.Slots
				sum += g.Slots
			}
		}
		if sum == 0 {
			continue
		}
		name := "any"
		if s != AnySite {
			name = sites[s].Name
		}
		parts = append(parts, name+":"+strings.Trim(strings.ReplaceAll(fmt.Sprint(per), " ", ","), "[]"))
	}
	return strings.Join(parts, " ")
}

// TestGrow has the worked divisions of Grundeken 2009 and what follows from the
// rules of each policy.
func TestGrow(t *testing.T) {
	ab := []Site{site("A", 100, 9), site("B", 100, 6)}
	for i := range ab {
		ab[i].Used = 50 // others'
	}
	held := func(n ...int) []Claimant {
		out := jobs(len(n))
		for i, k := range n {
			out[i].Held = []Holding{{0, k}}
		}
		return out
	}
	wants := func(n ...int) []Claimant {
		out := jobs(len(n))
		for i, k := range n {
			out[i].Demand = k
		}
		return out
	}
	sortings := wants(9, 9, 9)
	for i, work := range []float64{7, 10, 5} {
		sortings[i].Sorting.Work = work
	}
	sortings[1].Sorting.Due, sortings[2].Sorting.Due = time.Unix(1000, 0), time.Unix(2000, 0)
	unknown, urgent := slices.Clone(sortings), slices.Clone(sortings)
	unknown[0].Sorting.Work, urgent[0].Priority = 0, 3
	weights := func(w ...float64) []Claimant {
		out := jobs(len(w))
		for i, x := range w {
			out[i].Weight = x
		}
		return out
	}
	ranked := func(p ...int) []Claimant {
		out := jobs(len(p))
		for i, x := range p {
			out[i].Priority, out[i].Demand = x, 6
		}
		return out
	}
	for _, tt := range []struct {
		name, policy string
		claimants    []Claimant
		sites        []Site
		want         string
	}{
		{"equal parts of each site", "sep", jobs(3), ab, "A:3,3,3 B:2,2,2"},
		{"equal parts of all, run by run", "gep", jobs(3), ab, "A:5,4,0 B:0,1,5"},
		{"the other name of each", "equipartition-persite", jobs(3), ab, "A:3,3,3 B:2,2,2"},
		{"", "equipartition-all", jobs(3), ab, "A:5,4,0 B:0,1,5"},
		{"the remainder of one site is not that of the next", "sep", jobs(3),
			[]Site{site("A", 9, 4), site("B", 9, 4), site("C", 9, 4)}, "A:2,1,1 B:1,2,1 C:1,1,2"},
		{"what one does not want others get", "sep", wants(1, 9, 9), []Site{site("A", 9, 9)}, "A:1,4,4"},
		{"", "gep", wants(1, 9, 9), []Site{site("A", 9, 9)}, "A:1,4,4"},
		{"all wants met", "gep", wants(1, 2, 0), ab, "A:1,2,0"},
		{"one claimant", "sep", jobs(1), ab, "A:9 B:6"},
		{"nobody", "sep", nil, ab, ""},
		{"no site", "drf", jobs(2), nil, ""},

		{"one site at the guard", "sep:guard=gate", jobs(2), []Site{site("A", 50, 10), site("B", 50, 25)}, "B:13,12"},
		{"all sites below it", "gep:guard=gate", jobs(2), []Site{site("A", 1000, 201)}, "A:101,100"},
		{"all sites at it", "gep:guard=gate", jobs(2), []Site{site("A", 1000, 200)}, ""},
		{"33 of 41", "sep:guard=gate", jobs(1), []Site{site("A", 41, 8)}, ""},
		{"32 of 41", "sep:guard=gate", jobs(1), []Site{site("A", 41, 9)}, "A:9"},
		{"68 of 85", "sep:guard=gate", jobs(1), []Site{site("A", 85, 17)}, ""},
		{"a cap at 80 %", "sep:guard=cap", jobs(2), []Site{site("A", 41, 41)}, "A:16,16"},
		{"a cap for all sites", "gep:guard=cap,load=50", jobs(1), []Site{site("A", 10, 4), site("B", 10, 10)}, "A:4"},
		{"no guard is the default", "sep", jobs(1), []Site{site("A", 100, 1)}, "A:1"},
		{"nothing where others wait", "gep", jobs(2), []Site{{Name: "A", Total: 9, Idle: 9, Queued: 1}, site("B", 9, 4)},
			"B:2,2"},

		{"first come, first served", "fcfs", wants(4, 9, 9), ab, "any:4,9,2"},
		{"priority before arrival", "fcfs", ranked(1, 3, 3), ab, "any:3,6,6"},
		{"the earliest deadline", "edf", sortings, ab, "any:0,9,6"},
		{"the least work", "sjf", sortings, ab, "any:6,0,9"},
		{"the most work", "lttr", sortings, ab, "any:6,9,0"},
		{"unknown work last, when the least is first", "sjf", unknown, ab, "any:0,6,9"},
		{"unknown work last, when the most is first", "lttr", unknown, ab, "any:0,9,6"},
		{"priority before deadlines", "edf", urgent, ab, "any:9,6,0"},
		{"arrival among equals", "sjf", wants(4, 9, 9), ab, "any:4,9,2"},
		{"priority before fairness", "sep", ranked(1, 1, 3), ab, "A:2,1,6 B:3,3,0"},
		{"", "equal", ranked(1, 1, 3), ab, "any:5,4,6"},
		{"", "drf", ranked(1, 1, 3), ab, "any:5,4,6"},

		{"equal holdings make up for less", "equal", held(10, 0, 4), ab, "any:0,10,5"},
		{"at each site", "sep:of=holdings", held(10, 0, 4), ab, "A:0,7,2 B:2,2,2"},
		{"at each site, in turn", "sep:of=holdings", jobs(3), []Site{site("A", 9, 4), site("B", 9, 4), site("C", 9, 4)},
			"A:2,1,1 B:1,2,1 C:1,1,2"},
		{"at each site what is wanted", "sep:of=holdings", wants(1, 0, 9), ab, "A:1,0,8 B:0,0,1"},
		{"equal parts do not", "gep", held(10, 0, 4), ab, "A:5,4,0 B:0,1,5"},
		{"the remainder in turn", "equal", held(0, 0), []Site{site("A", 9, 5)}, "any:3,2"},
		{"by weight", "weighted", weights(3, 1, 1), []Site{site("A", 100, 100)}, "any:60,20,20"},
		{"a weight that is none is 1", "weighted", weights(0, math.NaN(), -1), []Site{site("A", 99, 99)}, "any:33,33,33"},
		{"weights from the least up", "weighted", weights(3, 2, 1), []Site{site("A", 9, 3)}, "any:1,1,1"},
	} {
		got := told(parse(t, tt.policy).Grow(time.Time{}, tt.claimants, tt.sites), tt.claimants, tt.sites)
		if got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.policy, tt.name, got, tt.want)
		}
	}
}

// TestDominant has the example of Ghodsi et al., NSDI 2011, section 4.1: 9 cores
// and 18 GB; A's tasks take 1 core and 4 GB, B's 3 cores and 1 GB. A gets three
// tasks and B two, each two thirds of what it uses most of.
func TestDominant(t *testing.T) {
	nine := Site{Total: 20, Idle: 20, Capacity: Amount{9, 18}, Free: Amount{9, 18}}
	a := Claimant{ID: "a", Demand: Unbounded, Task: Amount{1, 4}}
	b := Claimant{ID: "b", Demand: Unbounded, Task: Amount{3, 1}}
	heavy := a
	heavy.Weight = 3
	for _, tt := range []struct {
		name string
		who  []Claimant
		want string
	}{
		{"as published", []Claimant{a, b}, "any:3,2"},
		{"in the other order", []Claimant{b, a}, "any:2,3"},
		{"one alone has all it can use", []Claimant{a}, "any:4"},
		{"three to one by weight", []Claimant{heavy, b}, "any:4,1"},
	} {
		sites := []Site{nine}
		if got := told(parse(t, "drf").Grow(time.Time{}, tt.who, sites), tt.who, sites); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	// Of slots alone it is the equal division.
	if got := told(parse(t, "drf").Grow(time.Time{}, jobs(3), []Site{site("A", 9, 9)}), jobs(3), nil); got != "any:3,3,3" {
		t.Errorf("got %s", got)
	}
}

// TestReasons asks for the reason of every grant, of nothing too.
func TestReasons(t *testing.T) {
	full, busy := site("A", 10, 0), site("A", 10, 2)
	waits := Site{Name: "A", Total: 4, Idle: 4, Queued: 2}
	one := []Site{site("A", 10, 1)}
	for _, tt := range []struct {
		policy string
		sites  []Site
		want   string // of the last grant
	}{
		{"fcfs", one, "idle slots to give: 1, among 2; others were to have them"},
		{"fcfs", []Site{full}, "no slot is idle"},
		{"gep:guard=gate", []Site{busy}, "8 of 10 slots are in use"},
		{"gep", []Site{waits}, "work of higher priority waits"},
		{"fcfs", []Site{site("A", 2, 2)}, "others were to have"},
		{"gep", []Site{site("A", 4, 4)}, "an equal part of all idle slots (4), among 2"},
		{"sep", []Site{site("A", 4, 4)}, "an equal part of the idle slots of this site (4), among 2"},
		{"equal", []Site{site("A", 4, 4)}, "it had 0 slots and comes to 2"},
		{"weighted", []Site{site("A", 4, 4)}, "comes to 2, at weight 1"},
		{"drf", []Site{site("A", 4, 4)}, "comes to 2, which is 0.5 of"},
	} {
		grants := parse(t, tt.policy).Grow(time.Time{}, jobs(2), tt.sites)
		if got := grants[len(grants)-1].Reason.String(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.policy, got, tt.want)
		}
	}
	if grants := parse(t, "fcfs").Grow(time.Time{}, jobs(1),
		[]Site{site("A", 2, 2)}); grants[0].Reason.String() != "first by priority and arrival, with 2 idle slots" {
		t.Errorf("got %q", grants[0].Reason)
	}
	if (Reason{}).String() != "" {
		t.Error("the zero reason says something")
	}
}
