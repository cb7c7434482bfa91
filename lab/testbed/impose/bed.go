// Package impose has the rates and speeds of execution that nodes are made to have, and their files.
package impose

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/node"
	"godwit/overlay"
	"godwit/scheduler/place"
	"godwit/sim"
	"godwit/task"
)

// A Bed is what a test-bed imposes on its nodes, and tells their coordinator of
// that: rates of execution by class and machine, as the McMaster testbed did it
// (Kokaly 2008, sections 5.2.1 and 7.1).
//
// A node that has the part a_j of its processor works at the effective rate mu_ij
// a_j, and that is what the coordinator is told, with a whole processor for each
// node: the linear program of LPAS_DG has the same solution as with the raw rates
// and capacities a_j, and the same zeros.
type Bed struct {
	Classes []sim.Class
	Rates   *sim.Rates
	Unit    time.Duration // of the rates, in the trace's time
}

// New is nil for a scenario that imposes nothing.
func New(s *sim.Scenario) *Bed {
	if s.Rates == nil {
		return nil
	}
	b := &Bed{Classes: slices.Clone(s.Workload.Classes), Rates: s.Rates, Unit: s.Rates.Unit}
	if b.Unit == 0 {
		b.Unit = time.Second
	}
	return b
}

// rate is the effective rate of a class on a machine, in tasks a second of the
// trace.
func (b *Bed) rate(class, machine int) float64 {
	return b.Rates.Of[class][machine] * b.Availability(machine) / b.Unit.Seconds()
}

// Availability is the part of its processor that a machine has for tasks.
func (b *Bed) Availability(machine int) float64 {
	if b.Rates.Availability == nil {
		return 1
	}
	return b.Rates.Availability[machine]
}

// Arrival is the rate at which a class's tasks come in a window, in tasks a second of
// the trace.
func (b *Bed) Arrival(c *sim.Class, window time.Duration) float64 {
	tasks := float64(max(1, c.Tasks))
	if c.Arrival == sim.AtTimes {
		n := 0
		for _, at := range c.Times {
			if at < window {
				n++
			}
		}
		return tasks * float64(n) / window.Seconds()
	}
	return tasks / c.Interval.Seconds()
}

// Speed is by what a machine divides the work of a class's tasks, so that tasks of
// the class's mean work come to an end at its rate.
func (b *Bed) Speed(class, machine int) float64 {
	return b.rate(class, machine) * b.Classes[class].Work.Seconds()
}

// SpeedOf is the speed of a class by its name; 1 where it has none.
func (b *Bed) SpeedOf(class string, machine int) float64 {
	i := slices.IndexFunc(b.Classes, func(c sim.Class) bool { return c.Name == class })
	if i < 0 || b.Speed(i, machine) == 0 {
		return 1
	}
	return b.Speed(i, machine)
}

// Check says what of the rates no node can take on, with a placement policy.
func (b *Bed) Check(placement string) error {
	policy, err := place.Parse(placement)
	if err != nil {
		return err
	}
	rated := policy.Traits().Rate != nil
	names := map[string]bool{}
	for i, c := range b.Classes {
		switch {
		case c.Name == "" || len(c.Name) > task.MaxClass || strings.ContainsAny(c.Name, "=,*"):
			return fmt.Errorf("class %q: a class of imposed rates has a name of 1 to %d bytes, without = , *", c.Name,
				task.MaxClass)
		case names[c.Name]:
			return fmt.Errorf("class %q is there twice: its rates would be one's", c.Name)
		case c.Tasks > 1 && c.WorkLaw != "" && c.WorkLaw != sim.Fixed:
			return fmt.Errorf("class %q: tasks of one job take alike on nodes: give jobs of one task, or the law fixed", c.Name)
		}
		names[c.Name] = true
		for j := range b.Rates.Of[i] {
			switch v := b.Speed(i, j); {
			case v == 0 && !rated:
				return fmt.Errorf("class %q cannot run on machine %d, and policy %s does not go by rates: use one of gcmu, "+
					"lpas, met, mct, kpb, fcfs:order=idle", c.Name, j+1, placement)
			case v > overlay.MaxSpeed:
				return fmt.Errorf("class %q on machine %d goes at %v times the work that it has: at most %v", c.Name, j+1, v,
					float64(overlay.MaxSpeed))
			}
		}
	}
	return nil
}

// Speeds is the --impose of a machine's node: a speed for each class, and their
// mean for what asks for one speed. A class that the machine cannot run has none:
// no policy that goes by rates gives it there.
func (b *Bed) Speeds(machine int) string {
	var parts []string
	mean := 0.
	for i, c := range b.Classes {
		v := b.Speed(i, machine)
		mean += v / float64(len(b.Classes))
		if v > 0 {
			parts = append(parts, c.Name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	if mean > 0 {
		parts = append(parts, node.AnyClass+"="+strconv.FormatFloat(mean, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// RatesFile is the --rates of every node, whichever leads: what is imposed on all of
// them, and at which rates tasks are to come in a window, in tasks a second of the
// nodes' own time.
func (b *Bed) RatesFile(peers []task.PeerID, window time.Duration, speedup float64) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	line := func(class, of string, rate float64) {
		_ = w.Write([]string{class, of, strconv.FormatFloat(rate*speedup, 'g', -1, 64)}) // to memory
	}
	_ = w.Write([]string{"class", "peer", "rate"})
	for i, c := range b.Classes {
		line(c.Name, arrivalsName, b.Arrival(&c, window))
		for j, p := range peers {
			line(c.Name, string(p), b.rate(i, j))
		}
	}
	w.Flush()
	return out.Bytes()
}
