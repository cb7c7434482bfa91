//go:build !linux

package sensor

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

// loadEvery is how often load is read: the rules average over ten seconds, and
// finding this program's processes costs more here than on Linux.
const loadEvery = 2 * time.Second

// Processors asks the system for the share of the machine's CPU time that is
// used by others: all that is used, less what this process and the processes
// below it use.
type Processors struct{}

// Name returns "cpu".
func (Processors) Name() string { return "cpu" }

// Kinds returns Load.
func (Processors) Kinds() []Kind { return []Kind{Load} }

// Run watches until ctx ends.
func (p Processors) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, p, report, func(ctx context.Context) error {
		before, err := sampleCPU(ctx)
		if err != nil {
			return err
		}
		report(Reading{Sensor: p.Name(), Kind: Load, At: time.Now(), Detail: "CPU times"})
		pause(ctx, loadEvery)
		return Poll(ctx, loadEvery, func() error {
			now, err := sampleCPU(ctx)
			if err != nil {
				return err
			}
			if all := now.all - before.all; all > 0 {
				used := now.busy - before.busy - max(now.own-before.own, 0)
				report(Reading{Sensor: p.Name(), Kind: Load, At: time.Now(), Value: min(max(used/all, 0), 1), Detail: "CPU times"})
			}
			before = now
			return nil
		})
	})
}

// cpuSeconds are sums of CPU time since the start.
type cpuSeconds struct{ all, busy, own float64 }

func sampleCPU(ctx context.Context) (s cpuSeconds, err error) {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(times) == 0 {
		return s, fmt.Errorf("the CPU's use cannot be read: %w", err)
	}
	t := times[0]
	s.busy = t.User + t.System + t.Nice + t.Irq + t.Softirq
	s.all = s.busy + t.Idle + t.Iowait
	self, err := process.NewProcessWithContext(ctx, int32(os.Getpid()))
	if err != nil {
		return s, fmt.Errorf("this process cannot be found: %w", err)
	}
	s.own = ownSeconds(ctx, self)
	return s, nil
}

func ownSeconds(ctx context.Context, p *process.Process) (sum float64) {
	if t, err := p.TimesWithContext(ctx); err == nil {
		sum = t.User + t.System
	}
	children, _ := p.ChildrenWithContext(ctx)
	for _, c := range children {
		sum += ownSeconds(ctx, c)
	}
	return sum
}
