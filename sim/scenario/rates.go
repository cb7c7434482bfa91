package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// readMachines reads hosts that are always there, or that fail by turns.
func (r *reader) readMachines(where string, node ast.Node) *task.Error {
	m := &r.machines
	m.given = true
	return r.mapping(where, node, []field{
		{"count", r.count(&m.count, 1, trace.MaxHosts)},
		{"file", r.stringTo(&m.file)},
		{"up", r.readTimes(&m.up, &m.upLaw)},
		{"down", r.readTimes(&m.down, &m.downLaw)},
		{"trace", r.stringTo(&m.trace)},
		{"days", r.count(&r.Source.Config.Days, 1, mostDays)},
		{"seed", r.seed(&r.Source.Config.Seed)},
		{"resample", r.boolean(&r.Source.Resample)},
	})
}

// readTimes reads a mean time such as 50h, or a mapping such as `{mean: 50h, law: weibull}`.
func (r *reader) readTimes(mean *time.Duration, law *sim.Law) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		read := r.duration(mean, time.Millisecond)
		if _, ok := node.(ast.MapNode); !ok {
			return read(where, node)
		}
		if e := r.mapping(where, node, []field{{"mean", read}, {"law", r.law(law)}}); e != nil {
			return e
		}
		if *mean == 0 {
			return r.errorAt(yamlfile.First(node), "add `mean: 50h`", "%s has no mean", where)
		}
		return nil
	}
}

// readRates reads the rates that are imposed.
func (r *reader) readRates(where string, node ast.Node) *task.Error {
	rates := &sim.Rates{}
	r.Base.Rates = rates
	return r.mapping(where, node, []field{
		{"unit", r.duration(&rates.Unit, 1)},
		{"file", r.stringTo(&r.machines.ratesFile)},
		{"of", func(where string, node ast.Node) *task.Error {
			return r.each(where, node, maxClasses, func(where string, node ast.Node) *task.Error {
				row, e := r.numbers(where, node, trace.MaxHosts, mostRate)
				rates.Of = append(rates.Of, row)
				return e
			})
		}},
		{"iterations", func(where string, node ast.Node) (e *task.Error) {
			r.machines.iterations, e = r.numbers(where, node, maxClasses, mostIterations)
			return e
		}},
		{"availability", func(where string, node ast.Node) (e *task.Error) {
			rates.Availability, e = r.numbers(where, node, trace.MaxHosts, 1)
			return e
		}},
		{"overhead", r.duration(&rates.Overhead, 0)},
		{"known", r.unless(&rates.Measured)},
		{"timeout", r.scalar("write how many times as long as expected a task may take, such as 3", func(text string) error {
			x, ok := within(text, 1, mostTimeout)
			if !ok {
				return fmt.Errorf("%s is not a number from 1 to %v", yamlfile.Quote(text), mostTimeout)
			}
			rates.Timeout = x
			return nil
		})},
	})
}

// mostTimeout is that of sim.Rates.
const mostTimeout = 1000.0

// unless reads true or false, of which it keeps the opposite.
func (r *reader) unless(to *bool) func(string, ast.Node) *task.Error {
	var is bool
	read := r.boolean(&is)
	return func(where string, node ast.Node) *task.Error {
		e := read(where, node)
		*to = !is
		return e
	}
}

// numbers reads a list of numbers from 0 to most.
func (r *reader) numbers(where string, node ast.Node, mostOf int, most float64) (out []float64, e *task.Error) {
	e = r.each(where, node, mostOf, r.scalar("write a number", func(text string) error {
		x, ok := within(text, 0, most)
		if !ok {
			return fmt.Errorf("%s is not a number from 0 to %v", yamlfile.Quote(text), most)
		}
		out = append(out, x)
		return nil
	}))
	return out, e
}

// mostResponse bounds what was published, in units.
const mostResponse = 1e9

// readPublished reads the figures of a publication, by policy.
func (r *reader) readPublished(where string, node ast.Node) *task.Error {
	return r.each(where, node, MaxSpecs, func(where string, node ast.Node) *task.Error {
		p := Published{}
		e := r.mapping(where, node, []field{
			{"placement", r.stringTo(&p.Placement)},
			{"response", func(where string, node ast.Node) (e *task.Error) {
				p.Response, e = r.numbers(where, node, maxClasses+1, mostResponse)
				return e
			}},
		})
		r.Published = append(r.Published, p)
		return e
	})
}

// checkPublished says what of the figures belongs to nothing that is run.
func (r *reader) checkPublished() *task.Error {
	if len(r.Published) > 0 && r.Base.Rates == nil {
		return r.at("published", "leave it out", "figures are published of runs with rates, and there are none")
	}
	for i, p := range r.Published {
		where := fmt.Sprintf("published[%d]", i)
		if !slices.Contains(r.Placements, p.Placement) {
			return r.at(where, "write it as under `placement`", "figures of %s, which is not run", yamlfile.Quote(p.Placement))
		}
		if n := len(r.Base.Workload.Classes) + 1; len(p.Response) != n {
			return r.at(where, "give one to each class and one of all, 0 for none", "%d figures of %s: there are %d",
				len(p.Response), yamlfile.Quote(p.Placement), n)
		}
	}
	return nil
}

// loadMachines reads the files that machines and rates name, and makes the machines.
func (r *reader) loadMachines(openText func(file string) ([]byte, error)) *task.Error {
	m := &r.machines
	if !m.given {
		return nil
	}
	for _, key := range []string{"up", "down", "days", "seed", "resample"} {
		if _, given := r.source.places["machines."+key]; given && m.trace != "" {
			return r.at("machines."+key, "leave it out", "the times up and down are those of `trace`")
		}
	}
	switch {
	case (m.file == "") == (m.count == 0):
		return r.at("machines", "write `machines: {count: 6}` or `machines: {file: lab.srs}`",
			"machines have either a count or a file")
	case (m.up == 0) != (m.down == 0):
		return r.at("machines", "give both `up` and `down`, or neither", "machines that fail are repaired")
	}
	var names []string
	for i := range m.count {
		names = append(names, fmt.Sprint("M", i+1))
	}
	if m.file != "" {
		text, err := openText(m.file)
		if err == nil {
			m.servers, err = ReadServers(m.file, text)
		}
		if err != nil {
			return r.wrap("machines.file", err)
		}
		for _, s := range m.servers {
			names = append(names, s.Host)
		}
	}
	r.Source.Machines = &sim.Machines{Names: names, Up: m.up, Down: m.down, UpLaw: m.upLaw, DownLaw: m.downLaw}
	return nil
}

// useMachines generates the machines, or reads their up and down times from a trace.
func (r *reader) useMachines(open func(file string) (*trace.Trace, error)) *task.Error {
	if r.machines.trace == "" {
		if err := r.Synthesize(); err != nil {
			return r.wrap("machines", err)
		}
		return nil
	}
	t, err := open(r.machines.trace)
	if err == nil {
		t, err = named(t, r.Source.Machines.Names)
	}
	if err != nil {
		return r.wrap("machines.trace", err)
	}
	r.Source.Machines, r.Source.File = nil, r.machines.trace
	r.Use(t)
	return nil
}

// named returns the trace with its hosts in the order of names. It fails if a host is missing or unknown.
func named(t *trace.Trace, names []string) (*trace.Trace, error) {
	hosts := make(map[string]trace.Host, len(t.Hosts))
	for _, h := range t.Hosts {
		hosts[h.History.Host] = h
	}
	out := *t
	out.Hosts = make([]trace.Host, 0, len(names))
	for _, name := range names {
		h, ok := hosts[name]
		if !ok {
			return nil, fmt.Errorf("it has no host %s: a machine without a failure has a row, too", yamlfile.Quote(name))
		}
		delete(hosts, name)
		out.Hosts = append(out.Hosts, h)
	}
	for _, h := range t.Hosts {
		if _, other := hosts[h.History.Host]; other {
			return nil, fmt.Errorf("host %s is none of the machines, which are %s to %s", yamlfile.Quote(h.History.Host),
				names[0], names[len(names)-1])
		}
	}
	return &out, nil
}

// loadRates makes the rates of the file that names them, or of what is measured of
// the machines.
func (r *reader) loadRates(openText func(file string) ([]byte, error)) *task.Error {
	rates, m := r.Base.Rates, &r.machines
	if rates == nil {
		return nil
	}
	ways := 0
	for _, given := range []bool{rates.Of != nil, m.ratesFile != "", m.iterations != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return r.at("rates", "give one of `of`, `file` and `iterations`", "the rates are given in %d ways", ways)
	case m.iterations != nil && m.servers == nil:
		return r.at("rates.iterations", "name a .srs file with `machines: {file: lab.srs}`",
			"iterations need machines that were measured")
	case m.iterations != nil:
		unit := rates.Unit
		if unit == 0 {
			unit = time.Second
		}
		for k, n := range m.iterations {
			if n < 1 {
				return r.at("rates.iterations", "a job has one iteration or more", "class %d has %v iterations", k+1, n)
			}
			var row []float64
			for _, s := range m.servers {
				row = append(row, min(mostRate, unit.Minutes()*s.Rate(n)))
			}
			rates.Of = append(rates.Of, row)
		}
	case m.ratesFile != "":
		text, err := openText(m.ratesFile)
		if err == nil {
			rates.Of, err = ReadRates(m.ratesFile, text)
		}
		if err != nil {
			return r.wrap("rates.file", err)
		}
	}
	return nil
}
