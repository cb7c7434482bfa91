package chunk

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// near reports whether two numbers are equal except for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(a)+math.Abs(b)) }

// chunkOf returns the runs of worker k's installment j.
func chunkOf(d division, k, j int) float64 { return d.through(k, j) - d.through(k, j-1) }

func drawWorkers(t *rapid.T) []worker {
	workers := make([]worker, rapid.IntRange(1, 12).Draw(t, "workers"))
	for i := range workers {
		workers[i] = worker{Node(i), float64(rapid.IntRange(1, 40).Draw(t, "speed")) / 4}
	}
	return workers
}

// star simulates the model of divisible-load theory, in which a source sends one chunk at a time. It
// returns the workers' end times and the sum of their idle times between chunks.
func star(d division, workers []worker, c costs) (ends []float64, idle float64) {
	ends = make([]float64, len(workers))
	begun := make([]bool, len(workers))
	sent := 0.0
	for j := 1; j <= d.rounds(); j++ {
		for k, w := range workers {
			x := chunkOf(d, k, j)
			if x <= 0 {
				continue
			}
			sent += c.latency + c.transfer*x
			if wait := sent - ends[k]; begun[k] && wait > 0 {
				idle += wait
			}
			ends[k] = max(ends[k], sent) + c.start + x/w.speed
			begun[k] = true
		}
	}
	return ends, idle
}

// Chunks computed by hand for members of one slot. MI's chunks for two members and 1/B = 1/2 are
// proportional to 1.375, 1.25, 1.5, 1. UMR's rounds are 10, 20, 40, MRRS's 20, 50, and RUMR's 25, 50
// with batches of half of 25 after them.
func TestDivisibleLoadChunks(t *testing.T) {
	for _, tt := range []struct {
		spec    string
		members int
		runs    int64
		want    string
	}{
		{"mi:rounds=2,transfer=0.5", 2, 41, "11 10 12 8"},
		{"mi:rounds=1,transfer=1", 3, 70, "40 20 10"},
		{"umr:rounds=3,transfer=0.25,latency=0,start=0", 2, 70, "5 5 10 10 21 19"},
		{"mrrs:rounds=2,transfer=0.25,latency=0,start=0", 2, 70, "10 10 25 25"},
		{"rumr:error=0.25,rounds=2,transfer=0.125,latency=0,start=0", 4, 100,
			"6 6 6 6 14 13 12 12 4 4 4 4 2 2 2 2 1"},
		{"rumr:error=1,latency=0,start=0", 4, 100, "13 13 13 13 6 6 6 6 3 3 3 3 2 2 2 2 1 1 1 1"},
		// The overhead of a round, 1, is as long as the error of 10 runs.
		{"rumr:error=0.1,rounds=1,transfer=0.125,latency=0,start=1", 2, 400, "191 169 10 10 10 10"},
	} {
		p, err := Parse(tt.spec, Job{Runs: tt.runs})
		if err != nil {
			t.Fatal(err)
		}
		for range tt.members {
			p.Join(Member{Slots: 1})
		}
		var got []string
		left := tt.runs
		for i := 0; left > 0; i++ {
			n, _ := p.Size(at(0), Node(i%tt.members), Ask{Remaining: left})
			if left -= int64(n); n > 0 {
				got = append(got, fmt.Sprint(n))
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s of %d: got %s, want %s", tt.spec, tt.runs, s, tt.want)
		}
	}
}

// MI's chunks satisfy both published conditions.
func TestInstallmentsOverlapSending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers, rounds := drawWorkers(t), rapid.IntRange(1, 8).Draw(t, "rounds")
		transfer := rapid.Float64Range(1e-4, 2).Draw(t, "transfer")
		d := installments(workers, rounds, transfer)
		n := len(workers)
		c := make([]float64, n*rounds)
		for l := range c {
			c[l] = chunkOf(d, l%n, l/n+1)
		}
		compute := func(l int) float64 { return c[l] / workers[l%n].speed }
		ends, idle := star(d, workers, costs{transfer: transfer})
		for l := range c {
			want := 0.0
			for i := l + 1; i < len(c) && i <= l+n; i++ {
				want += c[i] * transfer
			}
			if l >= len(c)-n {
				want += compute(len(c) - 1)
			}
			if !near(compute(l)/ends[0], want/ends[0]) {
				t.Fatalf("chunk %d of %v takes %v, want %v", l, c, compute(l), want)
			}
		}
		for k, e := range ends {
			if !near(e/ends[0], 1) {
				t.Fatalf("worker %d ends at %v, the first at %v", k, e, ends[0])
			}
		}
		if idle > 1e-6*ends[0] {
			t.Fatalf("workers wait for %v of %v", idle, ends[0])
		}
	})
}

// UMR's rounds follow the published recursion, and their number has the lowest estimate. Equal
// workers never wait between chunks and end together.
func TestUniformRoundsOverlapSending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers, alike := drawWorkers(t), rapid.Bool().Draw(t, "alike")
		for i := range workers {
			if alike {
				workers[i].speed = workers[0].speed
			}
		}
		c := costs{rapid.Float64Range(1e-4, 0.02).Draw(t, "transfer"), rapid.Float64Range(0, 0.5).Draw(t, "latency"),
			rapid.Float64Range(0, 2).Draw(t, "start")}
		runs := float64(rapid.IntRange(100, 100_000).Draw(t, "runs"))
		d := uniformRounds(workers, runs, c, 0)
		chosen, speed := 0.0, 0.0
		for k, w := range workers {
			if d.share[k] > 0 {
				chosen, speed = chosen+1, speed+w.speed
			}
		}
		if c.transfer*speed >= 1 {
			t.Fatalf("sending to the workers takes longer than computing: %v", c.transfer*speed)
		}
		estimate := func(u *uniform) float64 {
			return runs/speed + float64(u.rounds())*c.start + (chosen*c.latency+c.transfer*u.upTo[0])/2
		}
		for _, m := range []int{d.rounds() - 1, d.rounds() + 1} {
			if m < 1 {
				continue
			}
			if other := uniformRounds(workers, runs, c, m); estimate(other) < estimate(d)*(1-2*worthwhile) {
				t.Fatalf("%d rounds take %v, and %d take %v", d.rounds(), estimate(d), other.rounds(), estimate(other))
			}
		}
		round := func(j int) float64 {
			if j == 0 {
				return d.upTo[0]
			}
			return d.upTo[j] - d.upTo[j-1]
		}
		for j := 1; j < d.rounds(); j++ {
			if !near(chosen*c.latency+c.transfer*round(j), c.start+round(j-1)/speed) {
				t.Fatalf("round %d of %v is not sent while the one before is computed", j, d.upTo)
			}
		}
		ends, _ := star(d, workers, c)
		level := uniform{upTo: d.upTo, share: d.share}
		_, idle := star(&level, workers, c)
		first, last := math.Inf(1), 0.0
		for k, e := range ends {
			if d.share[k] > 0 {
				first, last = min(first, e), max(last, e)
			}
		}
		if alike && (d.rounds() == 1 || round(1) >= round(0)) && idle > 1e-6*last {
			t.Fatalf("workers wait for %v of %v", idle, last)
		}
		// The correction of the last round is exact only if all chunks remain positive and the plan has
		// several rounds.
		if sending := chosen*c.latency + c.transfer*d.upTo[0]; round(d.rounds()-1)/speed > sending && d.rounds() > 1 {
			if alike && idle == 0 && math.Abs(first-last) > sending/10 || last > estimate(d)+sending {
				t.Fatalf("workers end from %v to %v, estimated %v", first, last, estimate(d))
			}
		}
	})
}

// MRRS's workers receive and compute a round in the same time, and its estimate is an upper bound of
// the simulated time.
func TestSelectedRoundsEndByEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers := drawWorkers(t)
		c := costs{rapid.Float64Range(1e-4, 0.2).Draw(t, "transfer"), rapid.Float64Range(0, 0.5).Draw(t, "latency"),
			rapid.Float64Range(0, 2).Draw(t, "start")}
		runs := float64(rapid.IntRange(100, 100_000).Draw(t, "runs"))
		d := selectedRounds(workers, runs, c, 0)
		n, g, slowest := 0.0, 0.0, math.Inf(1)
		for k, w := range workers {
			if d.share[k] > 0 {
				n, g, slowest = n+1, g+w.speed/(1+c.transfer*w.speed), min(slowest, w.speed)
			}
		}
		for k, w := range workers {
			if d.share[k] == 0 && w.speed > slowest && c.transfer*(g+w.speed/(1+c.transfer*w.speed)) < 1 {
				t.Fatalf("a worker of speed %v is left out, and one of %v is not", w.speed, slowest)
			}
			if x := d.share[k] * d.upTo[0]; x > 0 && !near(c.transfer*x+x/w.speed, d.upTo[0]/g) {
				t.Fatalf("worker %d takes %v for its part of the first round, all take %v", k, c.transfer*x+x/w.speed,
					d.upTo[0]/g)
			}
		}
		last := runs
		if m := d.rounds(); m > 1 {
			last -= d.upTo[m-2]
		}
		ends, _ := star(d, workers, c)
		estimate := float64(d.rounds())*n*c.latency + c.transfer*runs + c.start + last/g
		for k, e := range ends {
			if e > estimate*(1+1e-9) {
				t.Fatalf("worker %d ends at %v, estimated %v", k, e, estimate)
			}
		}
	})
}

// MRRS does not use a slow member for few runs and expensive messages. UMR does.
func TestSlowMemberLeftOut(t *testing.T) {
	for spec, want := range map[string]int{"mrrs:latency=10": 0, "umr": 5} {
		p, err := Parse(spec, Job{Runs: 25})
		if err != nil {
			t.Fatal(err)
		}
		p.Join(Member{Slots: 4})
		slow := p.Join(Member{Slots: 1})
		if got, why := p.Size(at(0), 0, Ask{Remaining: 25}); got+want < 20 {
			t.Errorf("%s: the fast member gets %d: %v", spec, got, why)
		}
		got, why := p.Size(at(0), slow, Ask{Remaining: 5})
		if got > want || want > 0 && got == 0 {
			t.Errorf("%s: the slow member gets %d, want up to %d: %v", spec, got, want, why)
		}
	}
	p, err := Parse("mrrs:latency=10,rounds=1", Job{Runs: 20})
	if err != nil {
		t.Fatal(err)
	}
	p.Join(Member{Slots: 4})
	slow := p.Join(Member{Slots: 1, Speed: 0.5})
	p.Size(at(0), 0, Ask{Remaining: 20, Most: 15})
	if got, why := p.Size(at(0), slow, Ask{Remaining: 5}); got != 0 ||
		why.String() != "the current plan does not use this member: 5 runs are planned for other members" {
		t.Errorf("got %d: %v", got, why)
	}
	p.Done(at(4), 0, 15, 4*time.Second)
	p.Leave(0)
	if got, why := p.Size(at(5), slow, Ask{Remaining: 5}); got != 5 {
		t.Errorf("the only member that is left gets %d of 5: %v", got, why)
	}
}

// Refused runs return to the same member. The remaining runs are planned again after a member
// leaves, and when the members of the plan send no requests.
func TestPlanFollowsMembers(t *testing.T) {
	p, err := Parse("mi:rounds=1,transfer=1", Job{Runs: 70}) // 40 20 10
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := p.Join(Member{}), p.Join(Member{}), p.Join(Member{})
	size := func(n Node, remaining int64, most, want int, why string) {
		t.Helper()
		got, reason := p.Size(at(0), n, Ask{Remaining: remaining, Most: most})
		if got != want || !strings.HasPrefix(reason.String(), why) {
			t.Errorf("node %d of %d: got %d (%v), want %d (%s)", n, remaining, got, reason, want, why)
		}
	}
	const installment = "installment 1 of 1; this member has"
	size(a, 70, 0, 40, installment)
	p.Back(at(0), a, 15)
	size(a, 45, 5, 5, installment)
	size(a, 40, 0, 10, installment)
	size(a, 30, 0, 0, "all 1 installments of this member are given, and the remaining 30 runs are planned for other members")
	p.Done(at(40), a, 40, 40*time.Second)
	// All given runs have returned, so the new plan is for a alone.
	size(a, 30, 0, 30, installment)
	p.Back(at(40), a, 30)
	size(b, 30, 0, 10, installment) // 20 10
	p.Leave(a)
	size(c, 20, 0, 7, installment) // 13 7
}

// A member's second phase starts after its installments of the first phase.
func TestRobustPhases(t *testing.T) {
	p, err := Parse("rumr:rounds=1,latency=0", Job{Runs: 100})
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.Join(Member{Slots: 2}), p.Join(Member{Slots: 2})
	for i, tt := range []struct {
		n         Node
		remaining int64
		want      int
		why       string
	}{
		{a, 100, 40, "installment 1 of 1; this member has 40 runs in the plan"},
		{a, 60, 5, "its weight of 2, of a batch of the second phase made when 20 remained"},
		{b, 55, 40, "installment 1 of 1; this member has 40 runs in the plan"},
		{b, 15, 5, "its weight of 2, of a batch of the second phase made when 20 remained"},
		{b, 10, 3, "its weight of 2, of a batch of the second phase made when 10 remained"},
	} {
		if got, why := p.Size(at(0), tt.n, Ask{Remaining: tt.remaining}); got != tt.want || why.String() != tt.why {
			t.Errorf("%d: got %d (%v), want %d (%s)", i, got, why, tt.want, tt.why)
		}
	}
}
