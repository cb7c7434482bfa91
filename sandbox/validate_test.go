package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// A module is validated in a child as it is in this process, also while tasks are suspended.
func TestCheckInChild(t *testing.T) {
	p := newTestPool(t)
	p.Pause()
	for name, wasm := range map[string][]byte{
		"good": printer.bytes(), "no module": []byte("#!"), "ill typed": guest{code: drop1}.bytes(),
		"library": guest{library: true}.bytes(), "heavy": manyIfs(int(heaviest.blocks) + 1),
		"2^32-1 names": cat(printer.bytes(), oddCustoms()["2^32-1 functions"]), "unfreezable": unfreezable(t),
	} {
		whyNot, err := p.Check(t.Context(), wasm, true)
		want := CheckModule(wasm)
		var got, bad *ModuleError
		if errors.As(err, &got) != errors.As(want, &bad) || got != nil && *got != *bad {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
		if (whyNot != "") != (name == "unfreezable") {
			t.Errorf("%s: cannot be frozen: %q", name, whyNot)
		}
	}
	if n := len(p.children); n != 0 {
		t.Errorf("%d children remain", n)
	}
}

// A child that a module ends, or that gives no sensible answer, ends neither the caller nor the pool.
func TestCheckSurvivesItsChild(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.Started = killAtOnce(t) })
	if _, err := p.Check(t.Context(), printer.bytes(), false); err == nil || errors.As(err, new(*ModuleError)) {
		t.Errorf("killed: got %v, want an error that does not blame the module", err)
	}
	p = newTestPool(t, func(c *Config) { c.LoadFor = 1 })
	_, err := p.Check(t.Context(), manyIfs(20_000), false)
	var bad *ModuleError
	if !errors.As(err, &bad) || bad.Kind != TooLarge || !strings.Contains(bad.Reason, "processor time") {
		t.Errorf("beyond its time: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Check(ctx, printer.bytes(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %v", err)
	}
	if _, err := p.Check(t.Context(), bytes.Repeat([]byte{0}, 100), false); !errors.As(err, &bad) {
		t.Errorf("the next module: got %v", err)
	}
}

// killAtOnce kills each child as it starts.
func killAtOnce(t *testing.T) func(pid int) {
	return func(pid int) {
		child, err := os.FindProcess(pid)
		if err != nil || child.Kill() != nil {
			t.Error("the child was not killed")
		}
	}
}
