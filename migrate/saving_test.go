package migrate

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSaveAfter is what is chosen at the bounds and between.
func TestSaveAfter(t *testing.T) {
	const ms = time.Millisecond
	hourly := exponential(time.Hour)
	for _, tt := range []struct {
		name                  string
		left, pause, transfer time.Duration
		stay                  func(time.Duration) float64
		least, most           time.Duration
		says                  string
	}{
		{"nobody knows its length", 0, 0, 0, hourly, leastSave, leastSave, "unknown length"},
		{"Young's", 0, time.Second, 2 * time.Second, hourly, 85 * time.Second, 95 * time.Second, "probability 0.368"},
		{"a short task", 20 * time.Second, 28 * ms, time.Minute, hourly, mostSave, mostSave, "no checkpoint pays"},
		{"a host that stays", 10 * time.Hour, time.Second, time.Second, exponential(24 * 365 * time.Hour), mostSave,
			mostSave, "no forecast sees"},
		{"a host that never left", 0, 28 * ms, time.Second, func(time.Duration) float64 { return 1 }, mostSave, mostSave,
			"no checkpoint pays"},
		{"a slow uplink", 10 * time.Hour, 28 * ms, 20 * time.Second, hourly, 2 * time.Minute, 130 * time.Second,
			"travels for 20s"},
		{"a very slow one", 100 * time.Hour, 28 * ms, time.Hour, hourly, mostSave, mostSave, ""},
	} {
		got, why := SaveAfter(tt.left, tt.pause, tt.transfer, tt.stay)
		if got < tt.least || got > tt.most || !strings.Contains(why, tt.says) {
			t.Errorf("%s: %v (%s), want %v to %v, %q", tt.name, got, why, tt.least, tt.most, tt.says)
		}
	}
}

// TestSaveAfterIsBounded, whatever it is asked.
func TestSaveAfterIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := rapid.Int64Range(0, int64(1000*time.Hour))
		d := func(name string) time.Duration { return time.Duration(long.Draw(t, name)) }
		life := d("life") + 1
		got, why := SaveAfter(d("left"), d("pause"), d("transfer"), exponential(life))
		if got < leastSave || got > mostSave || why == "" {
			t.Fatalf("%v, %q", got, why)
		}
	})
}

// TestRemaining is what is left of what was told, at the bounds and between.
func TestRemaining(t *testing.T) {
	for _, tt := range []struct{ told, done, want time.Duration }{
		{0, 0, 0},
		{0, time.Hour, 0},
		{-1, 0, 0},
		{time.Hour, 0, time.Hour},
		{time.Hour, 20 * time.Minute, 40 * time.Minute},
		{time.Hour, time.Hour, 6 * time.Minute},
		{time.Minute, 10 * time.Hour, time.Hour},
		{time.Hour, -20 * time.Minute, 80 * time.Minute},
		{1, 1, 1},
	} {
		if got := Remaining(tt.told, tt.done); got != tt.want {
			t.Errorf("%v of %v done: %v left, want %v", tt.done, tt.told, got, tt.want)
		}
	}
}

// TestThrifty: what travels for long is sent seldom, and never more than a quarter of the
// time; without a transfer it is Young's interval.
func TestThrifty(t *testing.T) {
	hourly := exponential(time.Hour)
	const left, pause = 10 * time.Hour, time.Second
	if got, want := Thrifty(left, pause, 0, hourly), Interval(left, pause, 0, hourly); got != want {
		t.Errorf("without a transfer: %v, Interval %v", got, want)
	}
	last := time.Duration(0)
	for _, transfer := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute} {
		got := Thrifty(left, pause, transfer, hourly)
		if got < last || got < saveRest*transfer {
			t.Errorf("%v for a transfer of %v, after %v for a shorter one", got, transfer, last)
		}
		last = got
	}
	if got := Thrifty(left, pause, time.Minute, exponential(10000*time.Hour)); got != 0 && got < time.Hour {
		t.Errorf("a host that hardly ever leaves: %v", got)
	}
	if got := Thrifty(time.Minute, pause, time.Hour, hourly); got != 0 {
		t.Errorf("it ends before a checkpoint would be there: %v", got)
	}
}
