package sensor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MemoryPressure reads /proc/pressure/memory (PSI): for how long some process
// stood still because memory was short.
type MemoryPressure struct {
	Proc string // root of procfs; "" for /proc
}

// Name returns "psi".
func (MemoryPressure) Name() string { return "psi" }

// Kinds returns Pressure.
func (MemoryPressure) Kinds() []Kind { return []Kind{Pressure} }

// Run watches until ctx ends.
func (m MemoryPressure) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, m, report, func(ctx context.Context) error {
		var before, last time.Duration
		var at time.Time
		return Poll(ctx, loadEvery, func() error {
			stalled, err := m.stalled()
			if err != nil {
				return blind(err.Error(), "use a kernel with CONFIG_PSI, started without psi=0")
			}
			now := time.Now()
			r := Reading{Sensor: m.Name(), Kind: Pressure, At: now, Detail: "/proc/pressure/memory"}
			if !at.IsZero() && now.After(at) {
				r.Value = min(max(float64(stalled-before)/float64(now.Sub(at)), 0), 1)
			}
			if at.IsZero() || stalled != before || last != 0 {
				report(r)
			}
			last = stalled - before
			before, at = stalled, now
			return nil
		})
	})
}

// stalled reads the total of "some" in microseconds.
func (m MemoryPressure) stalled() (time.Duration, error) {
	b, err := os.ReadFile(filepath.Join(orRoot(m.Proc, "/proc"), "pressure", "memory"))
	if err != nil {
		return 0, fmt.Errorf("the kernel tells no memory pressure: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	_, total, ok := strings.Cut(line, "total=")
	us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	if !ok || !strings.HasPrefix(line, "some ") || err != nil {
		return 0, fmt.Errorf("the kernel's memory pressure is not understood: %q", line)
	}
	return time.Duration(us) * time.Microsecond, nil
}
