package place

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkPlace is one round with as many tasks as idle members.
func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		var hosts []Host
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			hosts = append(hosts, member(fmt.Sprintf("%05d", i), 1, 2, rng.Float64()))
		}
		queue := tasks("j", n, func(t *Task) { t.Work = time.Hour })
		for _, name := range Names() {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				p, _ := Parse(name)
				for b.Loop() {
					p.Place(time.Time{}, &list{tasks: queue}, hosts, Unknown{}, rng)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
			})
		}
	}
}
