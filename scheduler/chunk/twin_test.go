package chunk

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPartAgrees: a part of runs, rounded up, in integers of any size.
func TestPartAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs, of, all := rapid.Int64Range(-2, math.MaxInt64).Draw(t, "runs"), rapid.Int64Range(-2, 1<<40).Draw(t, "of"),
			rapid.Int64Range(1, 1<<40).Draw(t, "all")
		want := big.NewInt(0)
		if runs > 0 && of > 0 {
			n := new(big.Int).Mul(big.NewInt(runs), big.NewInt(of))
			d := big.NewInt(max(all, of))
			want = n.Add(n, d).Sub(n, big.NewInt(1)).Quo(n, d)
		}
		if got := part(runs, of, all); !want.IsInt64() || got != want.Int64() {
			t.Fatalf("part(%d, %d, %d) = %d, want %v", runs, of, all, got, want)
		}
	})
}

// A farm is members that ask in any order, with what they have told of themselves, and
// what a formula says that each should get.
type farm struct {
	runs, left int64
	slots      []int64
	speed      []float64
	all        int64   // slots
	sum        float64 // of slots by speed
	time       []float64
	weight     []float64 // sums of j t and of j n, of AWF
	done       []float64
	chunks     []float64
}

func drawFarm(t *rapid.T) *farm {
	f := &farm{runs: rapid.Int64Range(1, 5000).Draw(t, "runs")}
	f.left = f.runs
	for range rapid.IntRange(1, 6).Draw(t, "members") {
		s, v := rapid.Int64Range(1, 8).Draw(t, "slots"), float64(rapid.IntRange(1, 8).Draw(t, "speed"))/2
		f.slots, f.speed = append(f.slots, s), append(f.speed, v)
		f.all += s
		f.sum += float64(s) * v
	}
	n := len(f.slots)
	f.time, f.weight, f.done, f.chunks = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	return f
}

// share is a member's part of what all do, by AWF's weighted means; of who has not been
// measured, what its slots would do as the others' do in the mean.
func (f *farm) share(i int) float64 {
	power, known := 0.0, 0.0
	for k := range f.slots {
		if f.chunks[k] > 0 {
			power += f.done[k] / f.time[k]
			known += float64(f.slots[k]) * f.speed[k]
		}
	}
	mine := float64(f.slots[i]) * f.speed[i]
	if known == 0 {
		return mine / f.sum
	}
	total := power + power/known*(f.sum-known)
	if f.chunks[i] > 0 {
		return f.done[i] / f.time[i] / total
	}
	return mine * power / known / total
}

// TestPoliciesAgreeWithTheirFormulas: the chunk of whoever asks is the one that the
// published formula gives, whatever the members, until all runs are out.
func TestPoliciesAgreeWithTheirFormulas(t *testing.T) {
	up := func(x float64) int64 { return int64(math.Ceil(x - 1e-9)) }
	for spec, formula := range map[string]func(f *farm, i int, state *[3]float64) int64{
		"one:k=3": func(f *farm, i int, _ *[3]float64) int64 { return 3 * f.slots[i] },
		"gss": func(f *farm, i int, _ *[3]float64) int64 {
			return max(up(float64(f.left*f.slots[i])/float64(f.all)), f.slots[i])
		},
		"gss:least=4": func(f *farm, i int, _ *[3]float64) int64 {
			return max(up(float64(f.left*f.slots[i])/float64(f.all)), 4*f.slots[i])
		},
		"factoring": func(f *farm, i int, s *[3]float64) int64 { // s: slots left of the batch, runs a slot
			if s[0] <= 0 {
				s[0], s[1] = float64(f.all), float64(f.left)/2/float64(f.all)
			}
			s[0] -= float64(f.slots[i])
			return max(1, up(s[1]*float64(f.slots[i])))
		},
		"wf": func(f *farm, i int, s *[3]float64) int64 {
			if s[0] <= 0 {
				s[0], s[1] = float64(f.all), float64(f.left)/2/f.sum
			}
			s[0] -= float64(f.slots[i])
			return max(1, up(s[1]*float64(f.slots[i])*f.speed[i]))
		},
		"awf": func(f *farm, i int, _ *[3]float64) int64 { return max(1, up(float64(f.left)*f.share(i)/2)) },
		"awf:x=5": func(f *farm, i int, _ *[3]float64) int64 {
			return max(1, up(float64(f.left)*f.share(i)/5))
		},
		"fsc:ratio=2": func(f *farm, i int, _ *[3]float64) int64 {
			n, p := float64(f.runs), float64(f.all)
			k := n
			if p >= 2 {
				k = min(math.Pow(math.Sqrt2*n*2/(p*math.Sqrt(math.Log(p))), 2./3), math.Ceil(n/p))
			}
			return int64(max(1, k)+1e-9) * f.slots[i]
		},
	} {
		t.Run(spec, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				f := drawFarm(t)
				p, err := Parse(spec, Job{Runs: f.runs})
				if err != nil {
					t.Fatal(err)
				}
				for i := range f.slots {
					p.Join(Member{Slots: int(f.slots[i]), Speed: f.speed[i]})
				}
				var state [3]float64
				for asks := 0; f.left > 0 && asks < 60; asks++ {
					i := rapid.IntRange(0, len(f.slots)-1).Draw(t, "member")
					want := min(formula(f, i, &state), f.left)
					got, why := p.Size(at(float64(asks)), Node(i), Ask{Remaining: f.left})
					if d := int64(got) - want; d > 1 || d < -1 || d != 0 && !strings.HasPrefix(spec, "awf") &&
						!strings.HasPrefix(spec, "wf") {
						t.Fatalf("ask %d, of member %d of %d slots: %d of %d, want %d (%v)", asks, i, f.slots[i], got,
							f.left, want, why)
					}
					f.left -= int64(got)
					took := float64(rapid.IntRange(1, 50).Draw(t, "seconds"))
					p.Done(at(float64(asks)), Node(i), got, time.Duration(took*1e9))
					f.chunks[i]++
					f.time[i] += f.chunks[i] * took
					f.done[i] += f.chunks[i] * float64(got)
				}
			})
		})
	}
}

// TestShrinkingPolicies: what is to shrink does: for members of one slot that ask in
// turn no chunk is larger than the one before, and all runs go out.
func TestShrinkingPolicies(t *testing.T) {
	for _, spec := range []string{"gss", "gss:least=3", "tss", "tss:first=50,last=2", "factoring", "factoring:cv=0.7"} {
		rapid.Check(t, func(t *rapid.T) {
			runs := rapid.Int64Range(1, 20_000).Draw(t, "runs")
			members := rapid.IntRange(1, 12).Draw(t, "members")
			p, err := Parse(spec, Job{Runs: runs})
			if err != nil {
				t.Fatal(err)
			}
			for range members {
				p.Join(Member{Slots: 1})
			}
			left, last := runs, runs
			for i := 0; left > 0; i++ {
				n, _ := p.Size(at(0), Node(i%members), Ask{Remaining: left})
				// Rounding of a trapezoid's steps may make a chunk one larger.
				if int64(n) > last+1 || n < 1 {
					t.Fatalf("%s: chunk %d of %d after %d", spec, i, n, last)
				}
				left, last = left-int64(n), int64(n)
			}
		})
	}
}

// TestTrapezoidBeginsOnce: 72 runs on 6 slots leave some after the last chunk, when the
// size has come to nothing; they go in chunks of one.
func TestTrapezoidBeginsOnce(t *testing.T) {
	p, err := Parse("tss", Job{Runs: 72})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		p.Join(Member{Slots: 1})
	}
	left, last := int64(72), 0
	for i := 0; left > 0; i++ {
		last, _ = p.Size(at(0), Node(i%6), Ask{Remaining: left})
		left -= int64(last)
	}
	if last != 1 {
		t.Errorf("the last chunk has %d runs", last)
	}
}

// TestPacedKeepsItsBounds: no chunk is more than twice the last, longer than the longest
// or shorter than the shortest, and who is too slow for what is left gets none.
func TestPacedKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Parse("paced:rate=2,longest=10", Job{Runs: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		members := rapid.IntRange(1, 8).Draw(t, "members")
		var last, rate []float64
		for range members {
			p.Join(Member{Slots: rapid.IntRange(1, 4).Draw(t, "slots")})
			last, rate = append(last, 0), append(rate,
				math.Exp2(float64(rapid.IntRange(-2, 8).Draw(t, "runs a second"))))
		}
		left := int64(1 << 40)
		for i := range 60 {
			n := i % members
			got, why := p.Size(at(float64(i)), Node(n), Ask{Remaining: left})
			if got == 0 {
				t.Fatalf("member %d gets nothing of very many: %v", n, why)
			}
			slots := float64(p.(*paced).members[n].slots)
			if last[n] == 0 && float64(got) != slots {
				t.Fatalf("a probe of %d for %v slots", got, slots)
			}
			shortest := float64(members) / 2
			if last[n] > 0 && float64(got) > max(2*last[n], 1) ||
				float64(got) > max(10*rate[n], slots, shortest*rate[n])+1 {
				t.Fatalf("member %d, of %v runs a second, gets %d after %v: %v", n, rate[n], got, last[n], why)
			}
			last[n] = float64(got)
			p.Done(at(float64(i)), Node(n), got, time.Duration(float64(got)/rate[n]*1e9))
			left -= int64(got)
		}
		slow := p.Join(Member{Slots: 1})
		p.Size(at(60), slow, Ask{Remaining: left})
		p.Done(at(60), slow, 1, 1000*time.Hour)
		p.Size(at(60), 0, Ask{Remaining: left}) // with nothing out somebody has to do the rest
		if got, why := p.Size(at(61), slow, Ask{Remaining: 3}); got != 0 ||
			!strings.HasPrefix(why.String(), "the least it can be given takes it 3.6e+06 s") {
			t.Fatalf("one that takes six weeks for a run gets %d of the last three: %v", got, why)
		}
	})
}

// TestReasonsInWords: what each policy says of a chunk.
func TestReasonsInWords(t *testing.T) {
	for spec, want := range map[string]string{
		"one:k=2":   "2 for each of its slots, whatever remains",
		"static":    "its slots' part of the 100 runs that remain, among those not served yet",
		"gss":       "its slots' part of the 100 runs that remain",
		"tss":       "chunks for 2 slots from 17 runs each, 1.45 fewer each time",
		"factoring": "16.67 for each slot, of a batch made when 100 remained",
		"wf":        "its weight of 2, of a batch made when 100 remained",
		"awf":       "it does 0.667 of what all do, of 1/2 of the 100 runs that remain",
		"paced":     "a probe: 2 that fill its slots",
		"samra":     "a probe: the first 2 that fill its slots",
	} {
		p, err := Parse(spec, Job{Runs: 100})
		if err != nil {
			t.Fatal(err)
		}
		n := p.Join(Member{Slots: 2})
		p.Join(Member{Slots: 1})
		if _, why := p.Size(at(0), n, Ask{Remaining: 100}); why.String() != want {
			t.Errorf("%s: %q, want %q", spec, why, want)
		}
	}
	if (Reason{}).String() != "" || Because("so").String() != "so" || because("%g and %g", 1, 2).String() != "1 and 2" {
		t.Error("reasons of no values, of none given and of two")
	}
}

// TestMembersThatAreGone: a name is given again when its member has left, and what is
// asked of one that is not there panics.
func TestMembersThatAreGone(t *testing.T) {
	for _, spec := range specs {
		p, err := Parse(spec, Job{Runs: 100})
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := p.Join(Member{}), p.Join(Member{}), p.Join(Member{})
		p.Leave(b)
		p.Leave(a)
		if again := p.Join(Member{}); again != a {
			t.Errorf("%s: %d is free last and %d is given", spec, a, again)
		}
		for what, call := range map[string]func(){
			"Size": func() { p.Size(at(0), b, Ask{Remaining: 1}) }, "Leave": func() { p.Leave(b) },
			"Done": func() { p.Done(at(0), b, 1, 1) }, "a number too high": func() { p.Leave(c + 9) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: %s of one that left: no panic", spec, what)
					}
				}()
				call()
			}()
		}
	}
	for problem, j := range map[string]Job{"no runs": {}, "fewer trials than none": {Runs: 1, Trials: -1}} {
		if _, err := New("one", nil, j); err == nil ||
			fmt.Sprint(err) != "chunk: a job has at least 1 run, and trials are not negative" {
			t.Errorf("%s: got %v", problem, err)
		}
	}
}
