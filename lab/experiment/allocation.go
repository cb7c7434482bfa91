package experiment

import (
	"errors"
	"fmt"

	"godwit/scheduler/place/allot"
)

// Allocation is a solution of the linear program of LPAS_DG, which divides the servers among the classes: equations
// (4.2) to (4.4) in docs/spec/mgst.md. Rates are in tasks per unit.
type Allocation struct {
	// Lambda is the largest factor by which all arrival rates could grow. Load is 1/Lambda, the ideal load. Servers are
	// overloaded if Load is 1 or more.
	Lambda float64 `json:"lambda"`
	Load   float64 `json:"load"`
	// Classes and Servers have the order of the definition.
	Classes []ClassCapacity `json:"classes"`
	Servers []ServerPart    `json:"servers"`
	// Share is delta_ij, indexed by class and server. A server's shares add up to its availability at most.
	Share [][]float64 `json:"share"`
}

// ClassCapacity is the capacity allocated to a class.
type ClassCapacity struct {
	Class    string  `json:"class"`
	Arrival  float64 `json:"arrival"`
	Capacity float64 `json:"capacity"` // execution rate of all its shares, at least Lambda times Arrival
}

// ServerPart is the allocated part of a server.
type ServerPart struct {
	Server       string  `json:"server"`
	Availability float64 `json:"availability"`
	Given        float64 `json:"given"` // sum of its shares, at most Availability
}

// ErrNoSolution is wrapped by the errors of Solve for a program without a solution.
var ErrNoSolution = errors.New("the linear program has no solution")

// Solve solves the linear program with all servers up. It returns ErrNoSolution if no task arrives, or if no server can
// execute a class.
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
