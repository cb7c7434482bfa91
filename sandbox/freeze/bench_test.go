package freeze_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"godwit/sandbox/freeze"
)

// BenchmarkInstrument is the pass on a Go program of about 2.8 MB.
func BenchmarkInstrument(b *testing.B) {
	code := build(b, "go")
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		prog := instrument(b, code)
		b.ReportMetric(float64(len(prog.Wasm))/float64(len(code)), "size/original")
	}
}

// BenchmarkValidate is what asking wazero whether the original is valid takes.
func BenchmarkValidate(b *testing.B) {
	code := build(b, "go")
	for b.Loop() {
		if err := freeze.Validate(context.Background(), code); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStop measures how long after an order a guest stands still with its stack taken apart, at random times.
// cpu is how much of that this process ran: the rest is time in which others had the core.
func BenchmarkStop(b *testing.B) {
	for _, g := range guests {
		b.Run(g.name, func(b *testing.B) {
			s := newStopper(b, g)
			var took, cpu []time.Duration
			for n := 0; b.Loop(); n++ {
				<-time.After(time.Duration(8+n*7%13) * time.Millisecond) // by then it runs again
				t, c := s.stop()
				took, cpu = append(took, t), append(cpu, c)
			}
			s.m.Kill("measured")
			<-s.ended
			report(b, took, "")
			report(b, cpu, "-cpu")
		})
	}
}

// report gives the median, the 99th percentile and the worst of times.
func report(b *testing.B, took []time.Duration, what string) {
	slices.Sort(took)
	for _, q := range []struct {
		name string
		at   int
	}{{"p50", len(took) / 2}, {"p99", len(took) * 99 / 100}, {"max", len(took) - 1}} {
		b.ReportMetric(float64(took[q.at].Microseconds()), "µs-"+q.name+what)
	}
}

// stopper runs a guest again and again, and stops it.
type stopper struct {
	b     *testing.B
	next  func() *freeze.Machine
	m     *freeze.Machine
	ended chan struct{}
}

func newStopper(b *testing.B, g guest) *stopper {
	ctx := context.Background()
	prog := instrument(b, build(b, g.source))
	rt, host := guestRuntime(b)
	c, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		b.Fatal(err)
	}
	s := &stopper{b: b, next: func() *freeze.Machine {
		m, err := host.Instantiate(ctx, prog, c, freeze.Config{Module: newWorld().config(g.large)})
		if err != nil {
			b.Fatal(err)
		}
		return m
	}}
	s.start()
	return s
}

func (s *stopper) start() {
	m, ended := s.next(), make(chan struct{})
	s.m, s.ended = m, ended
	go func() {
		m.Call(context.Background(), "_start")
		m.Close(context.Background())
		close(ended)
	}()
}

// stop stops the guest, and gives how long that took and the time that this process ran meanwhile.
func (s *stopper) stop() (took, cpu time.Duration) {
	type now struct {
		t   time.Time
		cpu time.Duration
	}
	stopped := make(chan now, 1)
	for {
		before := now{time.Now(), processTime()}
		s.m.Checkpoint(func(context.Context, *freeze.Machine) error {
			stopped <- now{time.Now(), processTime()}
			return nil
		})
		select {
		case at := <-stopped:
			return at.t.Sub(before.t), at.cpu - before.cpu
		case <-s.ended:
			s.start()
		}
	}
}

// BenchmarkThaw measures from the state until the guest has passed its first poll in a new instance, with the
// instrumented module compiled and the resume functions not.
func BenchmarkThaw(b *testing.B) {
	ctx := context.Background()
	for _, g := range guests {
		b.Run(g.name, func(b *testing.B) {
			prog, m, w, _ := frozenGuest(b, g, 1_000)
			state, err := m.State(ctx)
			if err != nil {
				b.Fatal(err)
			}
			memory := slices.Clone(m.Memory())
			rt, host := guestRuntime(b)
			c, err := rt.CompileModule(ctx, prog.Wasm)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				m, err := host.Restore(ctx, prog, c, freeze.Config{Module: w.config(g.args)}, state,
					func(put func(uint64, []byte) error) error { return put(0, memory) })
				if err != nil {
					b.Fatal(err)
				}
				m.FreezeAt(state.Fuel + 1)
				if _, err := m.Resume(ctx); !errors.Is(err, freeze.ErrFrozen) {
					b.Fatal(err)
				}
				m.Close(ctx)
			}
		})
	}
}

// BenchmarkManifest encodes and decodes the manifest of 512 MiB.
func BenchmarkManifest(b *testing.B) {
	m := &freeze.Manifest{Format: freeze.CheckpointVersion, Pass: freeze.PassVersion, State: freeze.State{Pages: 8192}}
	for i := range m.State.Pages {
		m.Pages = append(m.Pages, freeze.Page{Number: i, Hash: freeze.Hash{byte(i), byte(i >> 8)}})
	}
	used := processTime()
	for b.Loop() {
		enc, err := m.Encode()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := freeze.DecodeManifest(enc); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processTime()-used).Seconds()*1e3/float64(b.N), "ms-cpu")
}
