package ending

import (
	"testing"
	"time"
)

// BenchmarkAhead is what a forecast costs, by the job and the members, who come and go in every hour.
func BenchmarkAhead(b *testing.B) {
	for _, c := range []struct {
		name    string
		members int
		tasks   uint64
	}{{"100 members, 2000 tasks", 100, 2000}, {"3000 members, 1000000 tasks", 3000, 1_000_000},
		{"10000 members, 1000000 tasks", 10_000, 1_000_000}} {
		b.Run(c.name, func(b *testing.B) {
			swarm := &Swarm{Members: hourly(c.members, 40*time.Minute)}
			job := &Job{Waiting: c.tasks, Ended: ended(30, 10*time.Minute)}
			for b.Loop() {
				ahead(b, job, swarm)
			}
		})
	}
}
