// Package bags compares what policies make of the end of a finite bag of tasks: how long
// the whole takes, how often a deadline is met, and what owners upload for it. Every rival
// gets automatic checkpoints and copies of its last tasks, so that what is told is what
// the rest is worth.
package bags

import (
	"fmt"

	"godwit/reproduce"
	"godwit/sim"
)

// Options say what is run.
type Options struct {
	Sets                 []Set  // at least one
	Placement, Migration string // of the default
	Seed                 uint64 // the first
	Runs                 int    // seeds, at least one
	// Only runs these contenders beside the default, FCFS and the oracle; nil is all.
	Only func(*Contender) bool
	// Pair runs the default and FCFS alone, whatever Only says: what the targets are about.
	Pair bool
	// Sizes of bags; nil is 50, 150 and 500 tasks.
	Sizes []int
	// Each is as reproduce.Options has it.
	Each func(n int, run func(i int))
}

// MostTasks bounds the tasks of a bag.
const MostTasks = 500

// contenders are those that run.
func (o *Options) contenders() []Contender {
	var out []Contender
	for _, c := range Contenders(o.Placement, o.Migration) {
		pair := c.Part == Ours || c.Name == FCFSName
		needed := pair || c.Part == Bound || c.Name == FastestName
		if pair || !o.Pair && (needed || o.Only == nil || o.Only(&c)) {
			out = append(out, c)
		}
	}
	return out
}

// bags are those that run.
func (o *Options) bags() (out []bag) {
	sizes := o.Sizes
	if sizes == nil {
		sizes = bagSizes
	}
	for _, n := range sizes {
		out = append(out, bag{n, false}, bag{n, true})
	}
	return out
}

// Count is how many simulations Run does.
func (o *Options) Count() int {
	return len(o.Sets) * len(o.bags()) * o.Runs * len(o.contenders())
}

// Run runs all contenders on equal hosts and bags.
func Run(o *Options) (*Report, error) {
	if len(o.Sets) == 0 || o.Runs < 1 {
		return nil, fmt.Errorf("%d sets and %d runs: there must be one of each", len(o.Sets), o.Runs)
	}
	for _, n := range o.Sizes {
		if n < 1 || n > MostTasks {
			return nil, fmt.Errorf("a bag of %d tasks: there can be 1 to %d", n, MostTasks)
		}
	}
	all, bags := o.contenders(), o.bags()
	draws := make([]*draw, len(o.Sets)*o.Runs)
	for i := range draws {
		var err error
		s := &o.Sets[i/o.Runs]
		if draws[i], err = s.draw(o.Seed + uint64(i%o.Runs)); err != nil {
			return nil, fmt.Errorf("set %s: %w", s.Name, err)
		}
	}
	played := make([]Played, o.Count())
	errs := make([]error, len(played))
	at := func(set, b, run, c int) int { return ((set*o.Runs+run)*len(bags)+b)*len(all) + c }
	each := reproduce.Options{Each: o.Each}
	each.ForEach(len(played), func(i int) {
		d, b, c := draws[i/len(all)/len(bags)], &bags[i/len(all)%len(bags)], &all[i%len(all)]
		if played[i], errs[i] = d.play(b, c); errs[i] != nil {
			errs[i] = fmt.Errorf("%s, seed %d, %s: %w", b, d.seed, c.Name, errs[i])
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	r := &Report{Seed: o.Seed, Runs: o.Runs, Contenders: all}
	for s := range o.Sets {
		for b := range bags {
			cell := Cell{Set: o.Sets[s].Name, Synthetic: o.Sets[s].Measured == nil, Bag: bags[b].String()}
			for c := range all {
				var runs []Played
				for n := range o.Runs {
					runs = append(runs, played[at(s, b, n, c)])
				}
				cell.Figures = append(cell.Figures, figures(&all[c], runs))
			}
			r.Cells = append(r.Cells, cell)
		}
	}
	r.sum()
	return r, nil
}

// play runs a bag under a contender.
func (d *draw) play(b *bag, c *Contender) (Played, error) {
	s := d.scenario(b, c)
	p := Played{Seed: d.seed, IdealS: d.ideal(b).Seconds()}
	left, begin := b.size, d.from.Add(d.comes)
	s.Watch = func(e sim.Decision) {
		if e.Action == "completed" {
			if left--; left == 0 {
				p.MakespanS, p.Done = e.At.Sub(begin).Seconds(), true
			}
		}
	}
	r, err := sim.Run(s)
	if err != nil {
		return p, err
	}
	if !p.Done {
		p.MakespanS = (d.span - d.comes).Seconds()
	}
	p.Met = p.Done && p.MakespanS <= deadline*p.IdealS
	p.SentMiB = float64(r.BytesMoved) / mebi
	p.UploadMiB = p.SentMiB + float64(r.BytesFetched)/mebi
	p.Lost, p.Moves, p.Checkpoints, p.Copies = float64(r.Failed), float64(r.Migrations), float64(r.Checkpoints),
		float64(r.Copies)
	p.WastedS = r.WastedS
	return p, nil
}

// deadline is how many times as long as the ideal a bag may take.
const deadline = 1.5

const mebi = 1 << 20
