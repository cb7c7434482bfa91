package main

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

// A bed is what a test-bed imposes on its nodes, and tells their coordinator of
// that: rates of execution by class and machine, as the McMaster testbed did it
// (Kokaly 2008, sections 5.2.1 and 7.1).
//
// A node that has the part a_j of its processor works at the effective rate mu_ij
// a_j, and that is what the coordinator is told, with a whole processor for each
// node: the linear program of LPAS_DG has the same solution as with the raw rates
// and capacities a_j, and the same zeros.
type bed struct {
	classes []sim.Class
	rates   *sim.Rates
	unit    time.Duration // of the rates, in the trace's time
}

// newBed is nil for a scenario that imposes nothing.
func newBed(s *sim.Scenario) *bed {
	if s.Rates == nil {
		return nil
	}
	b := &bed{classes: slices.Clone(s.Workload.Classes), rates: s.Rates, unit: s.Rates.Unit}
	if b.unit == 0 {
		b.unit = time.Second
	}
	return b
}

// rate is the effective rate of a class on a machine, in tasks a second of the
// trace.
func (b *bed) rate(class, machine int) float64 {
	return b.rates.Of[class][machine] * b.availability(machine) / b.unit.Seconds()
}

// availability is the part of its processor that a machine has for tasks.
func (b *bed) availability(machine int) float64 {
	if b.rates.Availability == nil {
		return 1
	}
	return b.rates.Availability[machine]
}

// arrival is the rate at which a class's tasks come in a window, in tasks a second of
// the trace.
func (b *bed) arrival(c *sim.Class, window time.Duration) float64 {
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

// speed is by what a machine divides the work of a class's tasks, so that tasks of
// the class's mean work come to an end at its rate.
func (b *bed) speed(class, machine int) float64 {
	return b.rate(class, machine) * b.classes[class].Work.Seconds()
}

// speedOf is the speed of a class by its name; 1 where it has none.
func (b *bed) speedOf(class string, machine int) float64 {
	i := slices.IndexFunc(b.classes, func(c sim.Class) bool { return c.Name == class })
	if i < 0 || b.speed(i, machine) == 0 {
		return 1
	}
	return b.speed(i, machine)
}

// check says what of the rates no node can take on, with a placement policy.
func (b *bed) check(placement string) error {
	policy, err := place.Parse(placement)
	if err != nil {
		return err
	}
	_, rated := policy.(place.Rated)
	names := map[string]bool{}
	for i, c := range b.classes {
		switch {
		case c.Name == "" || len(c.Name) > task.MaxClass || strings.ContainsAny(c.Name, "=,*"):
			return fmt.Errorf("class %q: a class of imposed rates has a name of 1 to %d bytes, without = , *", c.Name, task.MaxClass)
		case names[c.Name]:
			return fmt.Errorf("class %q is there twice: its rates would be one's", c.Name)
		case c.Tasks > 1 && c.WorkLaw != "" && c.WorkLaw != sim.Fixed:
			return fmt.Errorf("class %q: tasks of one job take alike on nodes: give jobs of one task, or the law fixed", c.Name)
		}
		names[c.Name] = true
		for j := range b.rates.Of[i] {
			switch v := b.speed(i, j); {
			case v == 0 && !rated:
				return fmt.Errorf("class %q cannot run on machine %d, and policy %s does not go by rates: use one of gcmu, lpas, met, mct, kpb, fcfs:order=idle", c.Name, j+1, placement)
			case v > overlay.MaxSpeed:
				return fmt.Errorf("class %q on machine %d goes at %v times the work that it has: at most %v", c.Name, j+1, v, float64(overlay.MaxSpeed))
			}
		}
	}
	return nil
}

// imposed is the --impose of a machine's node: a speed for each class, and their
// mean for what asks for one speed. A class that the machine cannot run has none:
// no policy that goes by rates gives it there.
func (b *bed) imposed(machine int) string {
	var parts []string
	mean := 0.
	for i, c := range b.classes {
		v := b.speed(i, machine)
		mean += v / float64(len(b.classes))
		if v > 0 {
			parts = append(parts, c.Name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	if mean > 0 {
		parts = append(parts, node.AnyClass+"="+strconv.FormatFloat(mean, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// known is the --rates of every node, whichever leads: what is imposed on all of
// them, and at which rates tasks are to come in a window, in tasks a second of the
// nodes' own time.
func (b *bed) known(peers []task.PeerID, window time.Duration, speedup float64) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	line := func(class, of string, rate float64) {
		_ = w.Write([]string{class, of, strconv.FormatFloat(rate*speedup, 'g', -1, 64)}) // to memory
	}
	_ = w.Write([]string{"class", "peer", "rate"})
	for i, c := range b.classes {
		line(c.Name, arrivalsName, b.arrival(&c, window))
		for j, p := range peers {
			line(c.Name, string(p), b.rate(i, j))
		}
	}
	w.Flush()
	return out.Bytes()
}
