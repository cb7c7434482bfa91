package main

import (
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/shirou/gopsutil/v4/process"
)

const (
	// shortWatch is how long a node is watched where nobody asks for a measurement: to try that it can be made.
	shortWatch = 2 * time.Second
	// mostCost is the share of a core that an open page may cost its node.
	mostCost = .02
)

// A use is what a node has used.
type use struct {
	processor time.Duration
	memory    uint64 // resident, in bytes
}

// used asks the system what a node has used since it began.
func (s *swarm) used(i int) (u use, err error) {
	p, err := process.NewProcess(int32(s.all[i].PID()))
	if err != nil {
		return u, fmt.Errorf("looking at node %d: %w", i, err)
	}
	t, err := p.Times()
	if err != nil {
		return u, fmt.Errorf("looking at the processor time of node %d: %w", i, err)
	}
	m, err := p.MemoryInfo()
	if err != nil {
		return u, fmt.Errorf("looking at the memory of node %d: %w", i, err)
	}
	return use{time.Duration((t.User + t.System) * float64(time.Second)), m.RSS}, nil
}

// share is the part of a core that node 0 uses over a time.
func (f *face) share(over time.Duration) (float64, error) {
	before, err := f.swarm.used(0)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	select {
	case <-time.After(over):
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	}
	took := time.Since(begun)
	after, err := f.swarm.used(0)
	return float64(after.processor-before.processor) / float64(took), err
}

// seeCost watches node 0 without a page, and with Home open. Only a measurement that was asked for is held to the
// target: on a machine that does much else a short one says nothing.
func seeCost(f *face) (string, error) {
	over := f.watch
	if over == 0 {
		over = shortWatch
	}
	if err := f.tab.do(chromedp.Navigate("about:blank")); err != nil {
		return "", err
	}
	f.tab.trouble() // the blank page is elsewhere
	shut, err := f.share(over)
	if err != nil {
		return "", err
	}
	if err := f.tab.visit(""); err != nil {
		return "", err
	}
	open, err := f.share(over)
	if err != nil {
		return "", err
	}
	u, err := f.swarm.used(0)
	if cost := open - shut; err == nil && f.watch > 0 && cost > mostCost {
		err = fmt.Errorf("an open page costs %.1f %% of a core", 100*cost)
	}
	return fmt.Sprintf("%.1f %% of a core with Home open, %.1f %% without, over %v each; the node holds %.0f MiB",
		100*open, 100*shut, over, mib(float64(u.memory))), err
}
