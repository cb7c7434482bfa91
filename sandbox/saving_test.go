package sandbox

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/sandbox/freeze"
)

// BenchmarkPause measures what a guest waits for at a checkpoint, but for its
// stack: the first of a memory full of random bytes, and one after a hundredth
// of the pages changed, with the kernel's help and without; and the first when
// most of it was taken ahead, while a hundredth changed in each round. cpu is the
// processor time of this process, on all cores; the rest is the whole checkpoint,
// sent nowhere.
func BenchmarkPause(b *testing.B) {
	for _, mib := range []int64{64, 512} {
		for _, kind := range []string{"first", "ahead", "later", "looking"} {
			b.Run(fmt.Sprintf("%dMiB/%s", mib, kind), func(b *testing.B) { benchmarkPause(b, mib<<20, kind) })
		}
	}
}

func benchmarkPause(b *testing.B, size int64, kind string) {
	m := memories{untraced: kind == "looking"}
	if err := m.begin(size); err != nil {
		b.Fatal(err)
	}
	defer unreserve(m.buf)
	fill := rand.NewChaCha8([32]byte{})
	fill.Read(m.buf)
	none := func(freeze.Hash, []byte) error { return nil }
	stored := 0
	store := func(_ freeze.Hash, p []byte) error { stored += len(freeze.Compress(p)); return nil }
	r := &freeze.Recorder{Unchanged: m.unchanged}
	known := kind == "later" || kind == "looking"
	if known {
		if _, err := r.Record(&freeze.State{}, m.buf, nil, false, none); err != nil {
			b.Fatal(err)
		}
	}
	pages := int(size / pageSize)
	var pause, cpu, whole time.Duration
	for turn := 0; b.Loop(); turn++ {
		ready := int64(spareCopies)
		if !known {
			r, m.traced = &freeze.Recorder{Unchanged: m.unchanged}, false
		}
		change := func() {
			for k := range pages / 100 {
				fill.Read(m.buf[(turn*37+k*99)%pages*pageSize:][:64])
			}
		}
		switch change(); kind {
		case "first":
			ready = size
		case "ahead":
			ready += size / 100
			for range 2 {
				if _, err := r.Ahead(m.buf, m.read, none, func(int) bool { return true }); err != nil {
					b.Fatal(err)
				}
				change()
			}
		}
		room := newArena(ready, min(size, copyMost))
		since, used := time.Now(), cpuTime()
		taken, err := r.Take(m.buf, room.page, none)
		pause, cpu = pause+time.Since(since), cpu+cpuTime()-used
		if err != nil {
			b.Fatal(err)
		}
		stored = 0
		if !known {
			store = none
		}
		if _, err := r.Finish(taken, &freeze.State{}, nil, false, store); err != nil {
			b.Fatal(err)
		}
		whole += time.Since(since)
		room.free()
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
	b.ReportMetric(ms(pause), "ms-pause")
	b.ReportMetric(ms(cpu), "ms-cpu")
	b.ReportMetric(ms(whole), "ms-whole")
	b.ReportMetric(100*float64(stored)/float64(size), "%-stored")
}
