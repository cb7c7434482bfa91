package chunk

import (
	"testing"
	"time"
)

// What a chunk costs its coordinator with 10,000 members: Done, then Size.
func BenchmarkChunk(b *testing.B) {
	for _, spec := range []string{"paced", "amra:rounds=100000", "samra:rounds=100000", "issse", "calibrated", "gss",
		"factoring", "awf"} {
		b.Run(spec, func(b *testing.B) {
			const members = 10_000
			p, err := Parse(spec, Job{Runs: 1e12})
			if err != nil {
				b.Fatal(err)
			}
			var held [members]int
			now := at(0)
			size := func(n Node) {
				held[n], _ = p.Size(now, n, Ask{Remaining: 1e12, Most: 1000})
			}
			for range members {
				size(p.Join(Member{Slots: 4}))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				n := Node(i % members)
				now = now.Add(time.Microsecond)
				if held[n] > 0 {
					p.Done(now, n, held[n], time.Duration(1+i%7)*time.Second)
				}
				size(n)
			}
		})
	}
}

// Looking for a chunk to copy goes through all members.
func BenchmarkCopy(b *testing.B) {
	const members = 10_000
	p, _ := Parse("issse", Job{Runs: 1e6})
	c := p.(*issse)
	for i := range members {
		n := p.Join(Member{})
		c.give(at(0), n, 1, Ask{Remaining: 2})
		p.Done(at(1), n, 1, time.Duration(1+i%7)*time.Second)
		if i > 0 {
			c.give(at(1), n, 10, Ask{Remaining: 10})
		}
	}
	for b.Loop() {
		if _, runs, _, ok := c.Copy(at(2), 0); ok {
			p.Back(at(2), 0, runs)
		}
	}
}
