package freeze_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"godwit/sandbox/freeze"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano())
}

func TestMeasure(t *testing.T) {
	want := os.Getenv("MEASURE")
	if want == "" {
		t.Skip()
	}
	ctx := context.Background()
	for _, g := range guests {
		if want != "all" && !strings.Contains(g.name, want) {
			continue
		}
		code := build(t, g.source)
		rt, host := guestRuntime(t)
		best := map[string]time.Duration{}
		progs := map[string]*freeze.Program{}
		modes := []string{"plain", "ours", "nan"}
		for _, m := range modes[1:] {
			p, err := freeze.Instrument(code, freeze.Options{KeepNaNs: m == "nan"})
			if err != nil {
				t.Fatal(err)
			}
			progs[m] = p
		}
		pc, _ := rt.CompileModule(ctx, code)
		oc, _ := rt.CompileModule(ctx, progs["ours"].Wasm)
		nc, _ := rt.CompileModule(ctx, progs["nan"].Wasm)
		for range 5 {
			for _, mode := range modes {
				w := newWorld()
				c0 := cpu()
				if mode == "plain" {
					mod, err := rt.InstantiateModule(ctx, pc, w.config(g.large).WithStartFunctions())
					if err != nil {
						t.Fatal(err)
					}
					mod.ExportedFunction("_start").Call(ctx)
					mod.Close(ctx)
				} else {
					c := oc
					if mode == "nan" {
						c = nc
					}
					m, err := host.Instantiate(ctx, progs[mode], c, freeze.Config{Module: w.config(g.large)})
					if err != nil {
						t.Fatal(err)
					}
					m.Call(ctx, "_start")
					m.Close(ctx)
				}
				d := cpu() - c0
				if b, ok := best[mode]; !ok || d < b {
					best[mode] = d
				}
			}
		}
		for _, mode := range modes {
			fmt.Printf("BenchmarkGuests/%s/%s 1 %d ns\n", g.name, mode, best[mode])
		}
	}
}
