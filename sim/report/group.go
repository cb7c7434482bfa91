package report

import (
	"math"

	"godwit/sim"
)

// A Group is the runs of one placement, one migration, one fairness and one chunking
// policy, over seeds.
type Group struct {
	Policy, Migration  string
	Fairness, Chunking string        // "" is the usual
	Runs               []*sim.Report // at least one
}

// Groups sorts reports into groups, in the order in which they first come.
// Reports of other traces, predictors, depths or rules are other groups.
func Groups(reports []*sim.Report) []Group {
	type key struct {
		policy, migration, fairness, chunking, predictor, trace, depth string
		paper                                                          bool
	}
	index := map[key]int{}
	var groups []Group
	for _, r := range reports {
		k := key{r.Policy, r.Migration, r.Fairness, r.Chunking, r.Predictor, r.Trace, r.Depth, r.Paper}
		i, found := index[k]
		if !found {
			i = len(groups)
			index[k] = i
			groups = append(groups, Group{Policy: r.Policy, Migration: r.Migration, Fairness: r.Fairness, Chunking: r.Chunking})
		}
		groups[i].Runs = append(groups[i].Runs, r)
	}
	return groups
}

// name tells a group from the others: migration is left out where there is none, and
// what is usual.
func (g *Group) name() string {
	name := g.Policy
	for _, other := range []string{g.Migration, g.Fairness, g.Chunking} {
		if other != "" && other != "none" {
			name += " + " + other
		}
	}
	return name
}

// over estimates a figure over the group's runs.
func (g *Group) over(m measure) Estimate {
	values := make([]float64, len(g.Runs))
	for i, r := range g.Runs {
		values[i] = m.of(r)
	}
	return NewEstimate(values)
}

// A measure is one figure of a report; NaN where it is not defined.
type measure struct {
	title string
	of    func(*sim.Report) float64
	form  form
}

// The measures, each under the title of its column.
var (
	arrived    = count("arrived", func(r *sim.Report) uint64 { return r.Arrived })
	allocated  = count("A", func(r *sim.Report) uint64 { return r.Allocated })
	succeeded  = count("S", func(r *sim.Report) uint64 { return r.Succeeded })
	failed     = count("F", func(r *sim.Report) uint64 { return r.Failed })
	returned   = count("returned", func(r *sim.Report) uint64 { return r.Returned })
	unfinished = count("unfinished", func(r *sim.Report) uint64 { return r.Unfinished })
	impossible = count("impossible", func(r *sim.Report) uint64 { return r.Impossible })
	migrations = count("moves", func(r *sim.Report) uint64 { return r.Migrations })
	saved      = count("checkpoints", func(r *sim.Report) uint64 { return r.Checkpoints })

	success     = percent("success-%", func(r *sim.Report) *float64 { return r.SuccessPct })
	process     = percent("process-%", func(r *sim.Report) *float64 { return r.ProcessPct })
	utilisation = percent("utilisation-%", func(r *sim.Report) *float64 { return r.Utilisation })
	ofOracle    = measure{"of-oracle-%", func(r *sim.Report) float64 { return 100 * r.UsefulS / orNaN(r.OracleUsefulS) },
		decimal}

	useful  = hours("useful-h", func(r *sim.Report) float64 { return r.UsefulS })
	wasted  = hours("wasted-h", func(r *sim.Report) float64 { return r.WastedS })
	idle    = hours("idle-h", func(r *sim.Report) float64 { return r.IdleS })
	pending = hours("pending-h", func(r *sim.Report) float64 { return r.PendingS })

	response    = spread("response", func(r *sim.Report) (sim.Spread, float64) { return r.Response, r.Response.Mean })
	response50  = spread("p50", func(r *sim.Report) (sim.Spread, float64) { return r.Response, r.Response.P50 })
	response95  = spread("p95", func(r *sim.Report) (sim.Spread, float64) { return r.Response, r.Response.P95 })
	response99  = spread("p99", func(r *sim.Report) (sim.Spread, float64) { return r.Response, r.Response.P99 })
	responseMax = spread("max", func(r *sim.Report) (sim.Spread, float64) { return r.Response, r.Response.Max })
	makespan    = spread("makespan", func(r *sim.Report) (sim.Spread, float64) { return r.Makespan, r.Makespan.Mean })

	moved = measure{"bytes", func(r *sim.Report) float64 { return float64(r.BytesMoved) }, volume}

	cp1       = predicted("CP1", func(p *sim.Prediction) int { return p.CP1 })
	cp2       = predicted("CP2", func(p *sim.Prediction) int { return p.CP2 })
	falseCall = predicted("FA", func(p *sim.Prediction) int { return p.FA })
	missedOne = predicted("MD", func(p *sim.Prediction) int { return p.MD })
	exits     = predicted("exits", func(p *sim.Prediction) int { return p.Exits })
	missed    = predicted("missed", func(p *sim.Prediction) int { return p.Missed })
	detection = scored("D-%", func(p *sim.Prediction) *float64 { return p.Detection })
	correct   = scored("C-%", func(p *sim.Prediction) *float64 { return p.Correct })
)

func count(title string, of func(*sim.Report) uint64) measure {
	return measure{title, func(r *sim.Report) float64 { return float64(of(r)) }, whole}
}

func percent(title string, of func(*sim.Report) *float64) measure {
	return measure{title, func(r *sim.Report) float64 { return orNaN(of(r)) }, decimal}
}

func hours(title string, of func(*sim.Report) float64) measure {
	return measure{title, func(r *sim.Report) float64 { return of(r) / 3600 }, decimal}
}

// spread measures one figure of a spread, which is not defined without any.
func spread(title string, of func(*sim.Report) (sim.Spread, float64)) measure {
	return measure{title, func(r *sim.Report) float64 {
		s, x := of(r)
		if s.N == 0 {
			return math.NaN()
		}
		return x
	}, seconds}
}

func predicted(title string, of func(*sim.Prediction) int) measure {
	return measure{title, func(r *sim.Report) float64 {
		if r.Prediction == nil {
			return math.NaN()
		}
		return float64(of(r.Prediction))
	}, whole}
}

func scored(title string, of func(*sim.Prediction) *float64) measure {
	return measure{title, func(r *sim.Report) float64 {
		if r.Prediction == nil {
			return math.NaN()
		}
		return orNaN(of(r.Prediction))
	}, decimal}
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
