package node

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/owner/sensor"
	"godwit/scheduler/ledger"
	"godwit/trace"
)

// A cell is the sensor of a battery that falls by a point each while until it is
// put on mains.
type cell struct {
	points atomic.Int64
	mains  atomic.Bool
	each   time.Duration
}

func (*cell) Name() string         { return "cell" }
func (*cell) Kinds() []sensor.Kind { return []sensor.Kind{sensor.Power} }

func (c *cell) Run(ctx context.Context, report func(sensor.Reading)) {
	t := time.NewTicker(c.each)
	defer t.Stop()
	for {
		report(sensor.Reading{Sensor: c.Name(), Kind: sensor.Power, At: time.Now(), On: !c.mains.Load(), Gauged: true,
			Value: float64(c.points.Load()) / 100})
		select {
		case <-t.C:
			if !c.mains.Load() {
				c.points.Add(-1)
			}
		case <-ctx.Done():
			return
		}
	}
}

// onCell is an owner who lends a machine on a battery down to so much.
func onCell(t *testing.T, n *Node, p *peer, c *cell, least int) *owner.Monitor {
	t.Helper()
	rules, err := owner.Parse("", fmt.Appendf(nil,
		"run_if_user_active: true\nmax_cores_busy: 100%%\nrun_on_batteries: true\nmin_battery_charge: %d%%\n", least))
	if err != nil {
		t.Fatal(err)
	}
	m, err := owner.NewMonitor(owner.Config{
		Rules: rules, Sensors: []sensor.Sensor{c},
		Machine: owner.Machine{Cores: n.cfg.Cores, Memory: totalMemory(), Lent: n.cfg.Memory},
		Stop:    p.runner.Pause, Continue: p.runner.Resume,
		Changed: func(d owner.Decision) { n.post(post{call: func() { n.decided(d) }}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What runs on a battery leaves before it is down to what its owner wants left:
// for another member, or saved where there is none. The machine then stays empty
// until it is on mains.
func TestWorkLeavesAFallingBattery(t *testing.T) {
	const (
		work  = 4 * time.Minute
		least = 40
	)
	for name, taken := range map[string]bool{"another member takes it": true, "nobody takes it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				s := newSwarm(t, 3)
				for _, p := range s.peers {
					p.runner.saves, p.runner.rounds, p.cfg.Cores = true, true, 1
				}
				founder, laptop, other := s.peers[0], s.peers[1], s.peers[2]
				c := &cell{each: 15 * time.Second}
				c.points.Store(least + 10) // low after two minutes and a half
				laptop.before = func(n *Node) { n.monitor = onCell(t, n, laptop, c, least) }
				_, lab := s.founderAlone()
				s.joinTo(lab, laptop, founder, laptop)
				id := founder.submitSaving(lab, 1, work, 20*time.Second)
				if at := s.runsAt(id); at != laptop {
					t.Fatal("it does not run on the battery")
				}
				if taken {
					s.joinTo(lab, other, s.peers...)
				}
				s.until("its end is foretold", func() bool { return !laptop.status().Until.IsZero() })
				if st := laptop.status(); st.Tasks != 1 || st.State != trace.Available {
					t.Fatalf("it left when the end was foretold: %+v", st)
				}
				<-time.After(time.Until(laptop.status().Until) - time.Minute)
				if n := laptop.status().Tasks; n != 1 {
					t.Fatal("it left long before")
				}
				s.until("it has left", func() bool { return laptop.status().Tasks == 0 })
				st := laptop.status()
				if left := c.points.Load() - least; st.State != trace.Available || st.Stopped || left < 1 || left > 3 {
					t.Errorf("it left with %d points to go: %+v", left, st)
				}
				if taken {
					if at := s.runsAt(id); at != other {
						t.Error("it runs where it was")
					}
				}
				for c.points.Load() > least-3 {
					<-time.After(5 * time.Second)
					st := laptop.status()
					if st.Tasks != 0 {
						t.Fatalf("with %d points it is back: %+v", c.points.Load(), st)
					}
					if low := c.points.Load() <= least; low &&
						(st.State != trace.Unavailable || !st.Stopped || st.Rule != "min_battery_charge") {
						t.Fatalf("with %d points: %+v", c.points.Load(), st)
					}
				}
				c.mains.Store(true)
				s.until("it takes work again", func() bool { return laptop.status().State == overlay.Available })
				got := founder.finish(id, 1)[0]
				log := got.Attempts
				first, last := log[0], log[len(log)-1]
				if taken && (len(log) != 2 || first.Outcome != ledger.Moved || last.Worker != other.ID()) {
					t.Errorf("its attempts are %+v", log)
				}
				if !taken && (last.Worker != laptop.ID() || last.Saved < 100*time.Second || last.Saved != first.CPU) {
					t.Errorf("it did not go on from what was saved: %+v", log)
				}
				most := work + time.Minute
				if !taken { // it waited for the mains
					most += 2 * time.Minute
				}
				if took := time.Since(begun); took > most {
					t.Errorf("%v of work took %v", work, took)
				}
			})
		})
	}
}
