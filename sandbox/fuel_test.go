package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestFuelIsTold: a task that runs tells how much fuel it has used, growing, and
// one without anybody to tell does not.
func TestFuelIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tk := forever.task(t, "a")
	tk.FuelEvery = time.Millisecond
	var told []uint64
	tk.OnFuel = func(fuel uint64) {
		if told = append(told, fuel); len(told) == 5 {
			cancel()
		}
	}
	if _, err := newTestPool(t).Run(ctx, tk); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for i := 1; i < len(told); i++ {
		if told[i] <= told[i-1] {
			t.Errorf("told %d after %d", told[i], told[i-1])
		}
	}
}

// TestFuelIsNotToldTooOften: a child that sends more than was asked for, or
// takes back what it said, does not reach the task's owner with it.
func TestFuelIsNotToldTooOften(t *testing.T) {
	calls := 0
	v := &conversation{t: Task{OnFuel: func(uint64) { calls++ }}}
	for fuel := range uint64(1000) {
		if err := v.hear(event{Fuel: 1 + fuel%500}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if calls < 1 || calls > 5 {
		t.Errorf("told %d times in no time", calls)
	}
	v.t.OnFuel = nil
	if err := v.hear(event{Fuel: 1}, nil); err == nil {
		t.Error("fuel that no one asked for: no error")
	}
}
