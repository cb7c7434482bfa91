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
func BenchmarkStop(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, g := range guests {
		b.Run(g.name, func(b *testing.B) {
			prog := instrument(b, build(b, g.source))
			rt, host := guestRuntime(b)
			c, err := rt.CompileModule(ctx, prog.Wasm)
			if err != nil {
				b.Fatal(err)
			}
			m, err := host.Instantiate(ctx, prog, c, freeze.Config{Module: newWorld().config(g.large)})
			if err != nil {
				b.Fatal(err)
			}
			stopped, ended := make(chan time.Time), make(chan struct{})
			go func() {
				m.Call(ctx, "_start")
				close(ended)
			}()
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				<-time.After(time.Duration(8+n*7%13) * time.Millisecond) // by then it runs again
				asked := time.Now()
				m.Checkpoint(func(context.Context, *freeze.Machine) error { stopped <- time.Now(); return nil })
				select {
				case at := <-stopped:
					took = append(took, at.Sub(asked))
				case <-ended:
					b.Skip("it ended before it was stopped often enough")
				}
			}
			m.Kill("measured")
			<-ended
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
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
				m, err := host.Restore(ctx, prog, c, freeze.Config{Module: w.config(g.args)}, state, func(put func(uint64, []byte) error) error { return put(0, memory) })
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
