//go:build unix

package exec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// cpuTime is what this process has used, in user and system time.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A keepBench keeps states of a guest's memory as a node does, beside its sandbox, on a real disk.
type keepBench struct {
	b      *testing.B
	c      *core
	s      *saving
	a      *attempt
	r      *keptRun
	rng    *rand.Rand
	man    freeze.Manifest
	hashes [][32]byte
	fuel   uint64
}

// blockBytes is what a page takes that is compressed.
const blockBytes = 8 << 10

func newKeepBench(b *testing.B, pages int) *keepBench {
	data, err := disk.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = data.Close() })
	h := newFakeHost()
	if h.blocks, err = blocks.New(b.Context(), data); err != nil {
		b.Fatal(err)
	}
	system, err := (&wasi.State{}).Save([32]byte{}, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Content: h, Host: h, Runner: &Sandboxed{}, Log: slog.New(slog.DiscardHandler)}
	k := &keepBench{b: b, a: &attempt{context: b.Context()}, rng: rand.New(rand.NewPCG(1, 2)),
		hashes: make([][32]byte, pages), c: &core{Config: cfg, ctx: b.Context()},
		man: freeze.Manifest{Format: freeze.CheckpointVersion, System: system}}
	k.man.State.Pages = uint32(pages)
	k.c.kept = keeping{most: keptMost}
	k.s = &saving{pages: k.c.newPages(b.Context(), nil)}
	k.r = k.c.kept.begin(keptRun{spacing: task.DefaultSpacing})
	for p := range pages {
		k.write(p)
	}
	return k
}

// write stores another block of a page.
func (k *keepBench) write(page int) {
	block := make([]byte, blockBytes)
	for i := 0; i < len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], k.rng.Uint64())
	}
	k.hashes[page] = sha256.Sum256(block)
	if err := k.s.pages.Put(k.hashes[page], block); err != nil {
		k.b.Fatal(err)
	}
}

// keep keeps the state at the next boundary, before which so many pages were written.
func (k *keepBench) keep(changed int) {
	for range changed {
		k.write(k.rng.IntN(len(k.hashes)))
	}
	k.man.Pages = k.man.Pages[:0]
	for p, h := range k.hashes {
		k.man.Pages = append(k.man.Pages, freeze.Page{Number: uint32(p), Hash: h})
	}
	m, err := k.man.Encode()
	if err != nil {
		k.b.Fatal(err)
	}
	k.fuel += task.DefaultSpacing
	if !k.c.keepAt(k.b.Context(), k.a, k.s, k.r, task.Boundary{Fuel: k.fuel, State: sha256.Sum256(m)}, m) {
		k.b.Fatal("it is not kept")
	}
}

// BenchmarkKeep is what it takes a node to keep a state of 64 MiB, of which the sandbox sent what changed.
func BenchmarkKeep(b *testing.B) {
	const pages = 1024
	for _, percent := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%d%%", percent), func(b *testing.B) {
			k := newKeepBench(b, pages)
			k.keep(0)
			before := cpuTime()
			for b.Loop() {
				k.keep(pages * percent / 100)
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
