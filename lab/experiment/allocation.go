package experiment

import (
	"errors"
	"fmt"

	"godwit/scheduler/place/allot"
)

// An Allocation is how the linear program of LPAS_DG divides the servers among the classes: docs/spec/mgst.md, (4.2) to
// (4.4). Rates are in tasks of a unit.
type Allocation struct {
	// Lambda is the factor of all arrivals that the servers could carry, and Load its inverse, the ideal load: 1 and more
	// is too much.
	Lambda float64 `json:"lambda"`
	Load   float64 `json:"load"`
	// Classes and Servers are in the order of the definition.
	Classes []ClassCapacity `json:"classes"`
	Servers []ServerPart    `json:"servers"`
	// Share is delta_ij, by class and then by server: parts of a server up to its availability.
	Share [][]float64 `json:"share"`
}

// A ClassCapacity is what a class is given.
type ClassCapacity struct {
	Class    string  `json:"class"`
	Arrival  float64 `json:"arrival"`
	Capacity float64 `json:"capacity"` // tasks that the servers' parts for it execute: Lambda times Arrival or more
}

// A ServerPart is how much of a server is given to classes.
type ServerPart struct {
	Server       string  `json:"server"`
	Availability float64 `json:"availability"`
	Given        float64 `json:"given"` // at most Availability
}

// ErrNoSolution is wrapped by what Solve returns of a program without a solution.
var ErrNoSolution = errors.New("the linear program has no solution")

// Solve solves the linear program, with all servers up. It fails if the program has no solution, or a class no server.
func (d *Definition) Solve() (*Allocation, error) {
	p := &allot.Problem{}
	for k, c := range d.Classes {
		p.Arrivals = append(p.Arrivals, c.Arrival)
		row := make([]float64, len(d.Servers))
		for j, s := range d.Servers {
			row[j] = s.Rates[k]
		}
		p.Rates = append(p.Rates, row)
	}
	for _, s := range d.Servers {
		p.Capacities = append(p.Capacities, s.Availability)
	}
	s, err := allot.Solve(p)
	switch {
	case errors.Is(err, allot.ErrNothing):
		return nil, fmt.Errorf("%w: no task of any class arrives that a server executes", ErrNoSolution)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoSolution, err)
	case len(s.Idle) > 0:
		return nil, fmt.Errorf("%w: no server executes class %q", ErrNoSolution, d.Classes[s.Idle[0]].Class)
	}
	out := &Allocation{Lambda: s.Lambda, Load: 1 / s.Lambda, Share: s.Share}
	for _, server := range d.Servers {
		out.Servers = append(out.Servers, ServerPart{Server: server.Server, Availability: server.Availability})
	}
	for k, c := range d.Classes {
		capacity := 0.
		for j, part := range s.Share[k] {
			capacity += part * p.Rates[k][j]
			out.Servers[j].Given += part
		}
		out.Classes = append(out.Classes, ClassCapacity{Class: c.Class, Arrival: c.Arrival, Capacity: capacity})
	}
	return out, nil
}
