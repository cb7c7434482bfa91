package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// Limits of one run's description.
const (
	maxSlots   = 1 << 16
	maxSites   = 1000
	maxClasses = 1000
	maxTimes   = 100_000
	maxTasks   = 1 << 30 // points of one sweep
)

// readTrace reads a file's name, or `{file: NAME, first: N}`.
func (r *reader) readTrace(where string, node ast.Node) *task.Error {
	if _, ok := node.(ast.MapNode); !ok {
		if e := r.stringTo(&r.Source.File)(where, node); e != nil {
			return e
		}
	} else if e := r.mapping(where, node, []field{
		{"file", r.stringTo(&r.Source.File)},
		{"first", r.count(&r.Source.First, 1, trace.MaxHosts)},
	}); e != nil {
		return e
	}
	if strings.TrimSpace(r.Source.File) == "" {
		return r.errorAt(yamlfile.First(node), "name a file that `godwit trace info` reads", "the trace has no name")
	}
	return nil
}

// readSynth reads a kind, or a mapping of what it makes.
func (r *reader) readSynth(where string, node ast.Node) *task.Error {
	src := &r.Source
	kind := r.scalar("it is one of "+strings.Join(synthKinds(), ", ")+", and "+trace.RhythmUsage+" may stand behind it",
		func(text string) error {
			if name, _, _ := strings.Cut(text, ":"); !slices.Contains(synthKinds(), name) {
				return fmt.Errorf("there is no %s", yamlfile.Quote(name))
			}
			src.Kind = text
			return trace.CheckSynth(text)
		})
	if _, ok := node.(ast.MapNode); !ok {
		return kind(where, node)
	}
	e := r.mapping(where, node, []field{
		{"kind", kind},
		{"hosts", r.count(&src.Config.Hosts, 1, trace.MaxHosts)},
		{"days", r.count(&src.Config.Days, 1, mostDays)},
		{"seed", r.seed(&src.Config.Seed)},
		{"resample", r.boolean(&src.Resample)},
	})
	if e != nil {
		return e
	}
	_, seeded := r.source.places["synth.seed"]
	switch {
	case src.Kind == "":
		return r.errorAt(yamlfile.First(node), "the kinds are "+strings.Join(synthKinds(), ", "), "synth names no kind")
	case src.Resample && seeded:
		return r.at("synth.seed", "leave out one of them", "with resample each run's own seed makes its hosts")
	}
	return nil
}

func synthKinds() (names []string) {
	for _, k := range trace.SynthKinds() {
		names = append(names, k[0])
	}
	return names
}

func (r *reader) readAssume(where string, node ast.Node) *task.Error {
	states := []string{trace.Unobserved.String()}
	for s := trace.Available; s.Valid(); s++ {
		states = append(states, s.String())
	}
	return r.scalar("it is one of "+strings.Join(states, ", "), func(text string) error {
		if text == trace.Unobserved.String() {
			r.Source.Assume = trace.Unobserved
			return nil
		}
		return r.Source.Assume.UnmarshalText([]byte(text))
	})(where, node)
}

func (r *reader) readHosts(where string, node ast.Node) *task.Error {
	h := &r.Base.Hosts
	return r.mapping(where, node, []field{
		{"slots", r.count(&h.Slots, 1, maxSlots)},
		{"memory", r.size(&h.Memory)},
		{"ahead", r.count(&h.Ahead, 0, maxSlots)},
		{"sharing", choice(r.source, &h.Sharing, "queue", "share")},
		{"speeds", choice(r.source, &h.Speeds, "uniform", "traced")},
		{"owner", choice(r.source, &h.Owner, "suspend", "kill")},
		{"grace", r.duration(&h.Grace, 0)},
		{"sites", func(where string, node ast.Node) *task.Error {
			return r.each(where, node, maxSites, r.scalar("",
				func(text string) error { h.Sites = append(h.Sites, text); return nil }))
		}},
	})
}

func (r *reader) readWorkload(where string, node ast.Node) *task.Error {
	w := &r.Base.Workload
	return r.mapping(where, node, []field{
		{"classes", func(where string, node ast.Node) *task.Error {
			return r.each(where, node, maxClasses, r.readClass)
		}},
		{"log", r.stringTo(&r.log)},
		{"log_from", r.seconds(&w.LogFrom)},
		{"requeue", r.boolean(&w.Requeue)},
		{"in_order", r.boolean(&w.InOrder)},
		{"redraw", r.boolean(&w.Redraw)},
	})
}

// readClass reads one stream of jobs. Which keys its arrival needs, and which it
// has no use for, is checked here, where the place is known.
func (r *reader) readClass(where string, node ast.Node) *task.Error {
	c := sim.Class{Name: fmt.Sprint(len(r.Base.Workload.Classes) + 1)}
	e := r.mapping(where, node, []field{
		{"name", r.stringTo(&c.Name)},
		{"arrival", choice(r.source, &c.Arrival, "saturated", "every", "poisson", "times", "renewal")},
		{"interval", r.duration(&c.Interval, 1)},
		{"gaps", r.law(&c.Gaps)},
		{"times", func(where string, node ast.Node) *task.Error {
			return r.each(where, node, maxTimes, r.timeOf(&c))
		}},
		{"from", r.duration(&c.From, 0)},
		{"to", r.duration(&c.To, 0)},
		{"tasks", r.count(&c.Tasks, 1, maxTasks)},
		{"work", r.duration(&c.Work, 1)},
		{"law", r.law(&c.WorkLaw)},
		{"weight", r.count(&c.Weight, 1, task.MaxWeight)},
		{"slots", r.count(&c.Slots, 1, task.MaxSlots)},
		{"memory", r.size(&c.Memory)},
		{"state", r.size(&c.State)},
	})
	if e != nil {
		return e
	}
	repeated := c.Arrival == sim.Every || c.Arrival == sim.Poisson || c.Arrival == sim.Renewal
	switch {
	case c.Work == 0:
		return r.errorAt(yamlfile.First(node), "add `work: 10m`, a task's time on the reference core", "%s has no work",
			where)
	case repeated && c.Interval == 0:
		return r.errorAt(yamlfile.First(node), "add `interval: 1m`", "%s has no interval between its jobs", where)
	case !repeated && c.Interval != 0:
		return r.at(where+".interval", "write `arrival: every`, `arrival: poisson` or `arrival: renewal`",
			"this arrival of %s has no interval", where)
	case c.Arrival == sim.AtTimes && len(c.Times) == 0:
		return r.errorAt(yamlfile.First(node), "add `times: [0s, 1h]`", "%s has no times", where)
	case c.Arrival != sim.AtTimes && len(c.Times) > 0:
		return r.at(where+".times", "write `arrival: times`", "this arrival of %s has no times", where)
	case c.Arrival == sim.Renewal && c.Gaps == "":
		return r.errorAt(yamlfile.First(node), "add `gaps: weibull`, or write `arrival: poisson`",
			"%s has no law of the times between its jobs", where)
	case c.Arrival != sim.Renewal && c.Gaps != "":
		return r.at(where+".gaps", "write `arrival: renewal`", "this arrival of %s has no law of the times between jobs",
			where)
	case c.To != 0 && c.To <= c.From:
		return r.at(where+".to", "make it later than `from`", "%s ends before it begins", where)
	}
	r.Base.Workload.Classes = append(r.Base.Workload.Classes, c)
	return nil
}

// law reads a law.
func (r *reader) law(to *sim.Law) func(string, ast.Node) *task.Error {
	return r.scalar("quote laws with parameters: \"weibull:shape=0.5\"", func(text string) error {
		*to = sim.Law(text)
		_, err := to.Draw()
		return err
	})
}

func (r *reader) timeOf(c *sim.Class) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		var d time.Duration
		if e := r.duration(&d, 0)(where, node); e != nil {
			return e
		}
		if n := len(c.Times); n > 0 && d < c.Times[n-1] {
			return r.errorAt(yamlfile.First(node), "sort them", "%s: %v comes before %v", where, d, c.Times[n-1])
		}
		c.Times = append(c.Times, d)
		return nil
	}
}
