package scenario

import (
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// Limits of what a file says of sites.
const (
	maxLoads   = 100
	maxFigures = 1000
	// maxCoordinators is overlay.MaxGroup.
	maxCoordinators = 7
	// maxSpeedup is how many times as fast a file may have real nodes play: what takes a
	// day is then a second.
	maxSpeedup = 100_000
)

// readSites reads the sites, a mapping of their names, in its order.
func (r *reader) readSites(where string, node ast.Node) *task.Error {
	return r.named(where, node, maxSites, func(name, where string, node ast.Node) *task.Error {
		s := sim.Site{Name: name}
		e := r.mapping(where, node, []field{
			{"hosts", r.count(&s.Hosts, 1, trace.MaxHosts)},
			{"busy", r.number(&s.Busy, 0, sim.MaxBusy)},
		})
		r.Owners.Sites = append(r.Owners.Sites, s)
		return e
	})
}

// readUsers reads how local users are.
func (r *reader) readUsers(where string, node ast.Node) *task.Error {
	return r.mapping(where, node, []field{
		{"stay", r.duration(&r.Owners.Stay, time.Millisecond)},
		{"most", r.count(&r.Owners.Most, 1, trace.MaxHosts)},
	})
}

// readLoads reads the loads, of which each makes runs of its own.
func (r *reader) readLoads(where string, node ast.Node) *task.Error {
	r.Loads = nil
	return r.each(where, node, maxLoads, func(where string, node ast.Node) *task.Error {
		l := Load{}
		e := r.mapping(where, node, []field{
			{"name", r.stringTo(&l.Name)},
			{"each", r.duration(&l.Each, time.Millisecond)},
			{"hosts", r.count(&l.Hosts, 1, trace.MaxHosts)},
			{"run", r.duration(&l.Run, time.Millisecond)},
			{"published", r.published(&l)},
		})
		r.Loads = append(r.Loads, l)
		return e
	})
}

func (r *reader) published(l *Load) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		l.Published = map[string]PublishedJobs{}
		return r.named(where, node, MaxSpecs, func(name, where string, node ast.Node) *task.Error {
			var p PublishedJobs
			figures := func(to *[]float64) func(string, ast.Node) *task.Error {
				return func(where string, node ast.Node) (e *task.Error) {
					const most = 1e12
					*to, e = r.numbers(where, node, maxFigures, most)
					return e
				}
			}
			e := r.mapping(where, node, []field{{"throughput", figures(&p.Throughput)}, {"preempted", figures(&p.Preempted)}})
			l.Published[name] = p
			return e
		})
	}
}

// named reads a mapping whose keys are names that the file gives, each once.
func (r *reader) named(where string, node ast.Node, most int,
	read func(name, where string, node ast.Node) *task.Error) *task.Error {
	m, ok := node.(ast.MapNode)
	if !ok {
		return r.errorAt(yamlfile.First(node), "write `NAME: {...}`, a line each", "%s is a mapping of names, this is %s",
			where, yamlfile.Kind(node))
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		t, value := it.Key().GetToken(), it.Value()
		name := t.Value
		switch {
		case seen[name]:
			return r.errorAt(t, "keep one of the two", "%s is given twice", yamlfile.Quote(name))
		case strings.TrimSpace(name) == "" || len(name) > maxName:
			return r.errorAt(t, "", "%s: the name %s has %d bytes: write 1 to %d", where, yamlfile.Quote(name), len(name),
				maxName)
		case yamlfile.Nothing(value):
			return r.errorAt(t, "give it a value, or leave it out", "%s has no value", yamlfile.Quote(name))
		case len(seen) == most:
			return r.errorAt(t, "", "%s has more than %d names", where, most)
		}
		seen[name] = true
		path := where + "." + name
		r.source.places[path] = yamlfile.At(yamlfile.First(value))
		if e := read(name, path, value); e != nil {
			return e
		}
	}
	return nil
}

// maxName bounds the name of a site, as a member's advert does.
const maxName = 64

// loadSites makes the hosts of the first load, and looks at those of the others.
func (r *reader) loadSites() *task.Error {
	o := &r.Owners
	switch {
	case len(o.Sites) == 0 && (len(r.Loads) > 0 || o.Stay != 0):
		where := "loads"
		if o.Stay != 0 {
			where = "users"
		}
		return r.at(where, "add `sites: {VU: {hosts: 6, busy: 0.2}}`", "%s are of sites, and there are none", where)
	case len(o.Sites) == 0:
		return nil
	case r.Source.File != "" || r.Source.Kind != "" || r.machines.given:
		return r.at("sites", "leave out one of them", "sites are given beside other hosts")
	case r.end.after == 0 || r.start.given():
		return r.at("sites", "write `end: 1h`, and no start", "owners of sites are made for the time up to the end")
	}
	if len(r.Loads) == 0 {
		r.Loads = []Load{{}}
	}
	for i := range r.Loads {
		t, err := r.OwnersOf(i, r.Seeds[0], r.end.after)
		if err != nil {
			where := "sites"
			if i > 0 || r.Loads[i].Each > 0 {
				where = "loads[" + strconv.Itoa(i) + "]"
			}
			return r.wrap(where, err)
		}
		if i == 0 {
			r.Use(t)
		}
	}
	return nil
}
