package share

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGrow divides what is idle of 10,000 members of four slots among 1,000
// jobs: members one by one, and in 100 sites.
func BenchmarkGrow(b *testing.B) {
	for _, name := range []string{"fcfs", "edf", "gep", "sep", "sep:of=holdings", "equal", "weighted", "drf"} {
		for _, count := range []int{10_000, 100} {
			if name == "sep:of=holdings" && count > 1000 {
				continue // it is not made for single members: see levelEachSite
			}
			b.Run(fmt.Sprintf("%s/sites=%d", name, count), func(b *testing.B) {
				sites := make([]Site, count)
				for k := range sites {
					n := 40_000 / count
					sites[k] = site("s", n, n/4)
					sites[k].Capacity = Amount{int64(n), int64(n) << 30}
					sites[k].Free = Amount{int64(n / 4), int64(n/4) << 30}
				}
				claimants := jobs(1000)
				for i := range claimants {
					claimants[i].Weight = float64(1 + i%5)
					claimants[i].Held = []Holding{{i % count, i % 40}}
					claimants[i].Task = Amount{1, int64(i%7) << 28}
				}
				p := parse(b, name)
				b.ReportAllocs()
				for b.Loop() {
					p.Grow(time.Time{}, claimants, sites)
				}
			})
		}
	}
}
