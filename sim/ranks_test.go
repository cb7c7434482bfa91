package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// A run that offers only the first idle hosts decides as one that offers all.
func TestRanksDecideNothing(outer *testing.T) {
	many := unsettled(outer, 30, 2, 5)
	rapid.Check(outer, func(t *rapid.T) {
		s := drawScenario(t)
		if rapid.Bool().Draw(t, "many hosts") {
			s.Trace, s.Start = many, time.Time{}
		}
		s.Placement = rapid.SampledFrom([]string{"fcfs", "fcfs:order=turn", "fcfs:order=turn,ahead=yes"}).Draw(t,
			"ranked placement")
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		run := func(ranked bool) (out []Decision) {
			s.Watch = func(d Decision) { out = append(out, d) }
			w, err := newWorld(s)
			if err != nil {
				t.Fatal(err)
			}
			w.ranks.order = nil
			if ranked {
				w.ranks.order = w.traits.Rank
			}
			w.run()
			if _, err := w.finish(); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if with, without := run(true), run(false); !slices.Equal(with, without) {
			t.Fatalf("with ranks:\n%v\nwithout:\n%v", with, without)
		}
	})
}

// BenchmarkLight is a task a second among hosts that are mostly idle.
func BenchmarkLight(b *testing.B) {
	for _, placement := range []string{"fcfs", "fcfs:order=turn"} {
		for _, hosts := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/hosts=%d", placement, hosts), func(b *testing.B) {
				tr, err := trace.Synthesize("deug-like", trace.SynthConfig{Hosts: hosts, Days: 1, Seed: 1})
				if err != nil {
					b.Fatal(err)
				}
				s := &Scenario{Trace: tr, Placement: placement, End: tr.Start.Add(6 * time.Hour),
					Workload: Workload{Classes: []Class{{Arrival: Poisson, Interval: time.Second, Work: 10 * time.Minute}}}}
				events := uint64(0)
				for b.Loop() {
					events += mustRun(b, s).Events
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			})
		}
	}
}

// A set's next is the first at or after a place, across words that are empty.
func TestHostSetNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const hosts = 3 * 64 * 64
		s := newHostSet(hosts)
		in := rapid.SliceOfDistinct(rapid.Int32Range(0, hosts-1), func(i int32) int32 { return i }).Draw(t, "in")
		for _, i := range in {
			s.set(i)
		}
		slices.Sort(in)
		for _, from := range append(rapid.SliceOfN(rapid.Int32Range(0, hosts), 1, 9).Draw(t, "from"), in...) {
			want := none
			if k, _ := slices.BinarySearch(in, from); k < len(in) {
				want = in[k]
			}
			if got := s.next(from); got != want {
				t.Fatalf("next of %d in %v is %d, want %d", from, in, got, want)
			}
		}
	})
}
