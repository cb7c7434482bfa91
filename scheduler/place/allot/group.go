package allot

import (
	"encoding/binary"
	"math"
	"slices"
)

// A group is machines that execute all classes alike.
type group struct {
	machines []int // the last first
	capacity float64
	rates    []float64 // by class
}

// groups takes machines with capacity together by their rates, in the order of
// the first of each. What does not fit MaxGroups is told apart less finely: the
// logarithms of rates are rounded, to coarser steps until they fit; in the end
// machines are alike that execute the same class fastest.
func (p *Problem) groups() []group {
	for step := 0.0; ; step = max(2*step, finest) {
		if out, ok := p.groupBy(step); ok {
			return out
		}
	}
}

const (
	// finest is the finest rounding of rates: by the hundredth.
	finest = 0.01
	// coarsest is from where on rounding would tell nothing.
	coarsest = 4
)

// groupBy groups with rates rounded to steps of their logarithm, 0 for not at
// all. ok is false if there are too many.
func (p *Problem) groupBy(step float64) (out []group, ok bool) {
	place := map[string]int{}
	key := make([]byte, 8*len(p.Rates))
	for j, a := range p.Capacities {
		if a == 0 {
			continue
		}
		p.name(key, j, step)
		g, seen := place[string(key)]
		if !seen {
			if len(out) == MaxGroups {
				return nil, false
			}
			g = len(out)
			place[string(key)] = g
			out = append(out, group{rates: make([]float64, len(p.Rates))})
		}
		out[g].machines = append(out[g].machines, j)
		out[g].capacity += a
		for i := range p.Rates {
			out[g].rates[i] += a * p.Rates[i][j]
		}
	}
	for g := range out {
		out[g].settle(p, step == 0)
	}
	return out, true
}

// name writes what tells a machine from others.
func (p *Problem) name(key []byte, j int, step float64) {
	clear(key)
	fastest := 0
	for i := range p.Rates {
		mu := p.Rates[i][j]
		if mu > p.Rates[fastest][j] {
			fastest = i
		}
		if step > 0 && mu > 0 {
			mu = math.Round(math.Log(mu)/step)*step + 2*math.Log(most) // above 0, apart from it
		}
		binary.LittleEndian.PutUint64(key[8*i:], math.Float64bits(mu))
	}
	if step > coarsest {
		clear(key)
		key[0] = byte(fastest)
	}
}

// settle makes sums means, and has the machines' order turned round: so the split
// ones are those with which Kokaly's experiments 5 to 8 come out as printed. The
// program does not tell twins apart.
func (g *group) settle(p *Problem, alike bool) {
	for i := range g.rates {
		g.rates[i] /= g.capacity
		if alike {
			g.rates[i] = p.Rates[i][g.machines[0]]
		}
	}
	slices.Reverse(g.machines)
}

// divide gives a group's machines to the classes that have shares of it, machine
// after machine, so that no more are split than there are classes but one: the
// shares of all machines are a vertex as those of the groups are.
func (g *group) divide(p *Problem, classes []int, shares []float64, out [][]float64) {
	at, left := 0, p.Capacities[g.machines[0]]
	for k, share := range shares {
		for share > dust*g.capacity {
			part := min(share, left)
			if rest := left - part; rest < dust*g.capacity {
				part = left
			}
			out[classes[k]][g.machines[at]] = part
			share -= part
			if left -= part; left > 0 {
				continue
			}
			if at++; at == len(g.machines) {
				return
			}
			left = p.Capacities[g.machines[at]]
		}
	}
}

// dust is the part of a whole below which a share is a rounding error.
const dust = 1e-9
