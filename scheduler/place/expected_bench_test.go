package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkExpected is one round of 10,000 members and as many tasks, of which a
// tenth go on from checkpoints, with a forecast that costs next to nothing.
func BenchmarkExpected(b *testing.B) {
	const n = 10000
	rng := rand.New(rand.NewPCG(1, 1))
	f, queue := leaving{}, &list{}
	var hosts []Host
	for i := range n {
		hosts = append(hosts, member(fmt.Sprintf("%05d", i), 1, 2, rng.Float64()))
		f[hosts[i].Peer] = rng.ExpFloat64()
		hours := 6.0
		if i%10 == 0 {
			hours = math.Ceil(6 * rng.Float64())
		}
		queue.tasks = append(queue.tasks, long(hours).tasks...)
	}
	p, q := &Expected{unknown: time.Hour}, &list{}
	p.situate(slowUplink)
	b.ReportAllocs()
	for b.Loop() {
		*q = *queue
		p.Place(time.Time{}, q, hosts, f, nil)
	}
}
