// Package policies compares the default policies with the published ones and with an
// oracle, on equal hosts and arrivals, and holds them to the targets in its summary.
package policies

import (
	"fmt"
	"time"

	"godwit/reproduce"
	"godwit/sim"
)

// A Contender is a placement policy with a migration policy.
type Contender struct {
	Placement string `json:"policy"`    // as place.Parse reads it, or "oracle"
	Migration string `json:"migration"` // as migrate.Parse reads it
	// Auto: its tasks make automatic checkpoints, which are sent away; without it
	// they make none but what a move takes along.
	Auto bool   `json:"auto_checkpoints"`
	name string // for tables; "" is the specifications
}

// String is what tables call the contender.
func (c Contender) String() string {
	if c.name != "" {
		return c.name
	}
	return pairName(c.Placement, c.Migration)
}

func pairName(placement, migration string) string {
	if migration == "none" {
		return placement
	}
	return placement + " + " + migration
}

// The published policies, by the names that tables have. FCFS goes through the
// hosts in turn, as published; PSPP and CBR have the thesis's parameters, which
// are their defaults.
var (
	rivalPlacements = [][2]string{
		{"random", "random"}, {"fcfs", reproduce.FCFS}, {"fcfspp:n=1", "fcfspp:n=1"}, {"fcfspp:n=6", "fcfspp:n=6"},
		{"flp", "flp"}, {"psopp", "psopp"}, {"uptime", "uptime"},
	}
	rivalMigrations = []string{"none", "reactive", "pspp", "cbr"}
)

// Rivals are the 28 published pairs that the default is compared with. As they
// were published they make no automatic checkpoints.
func Rivals(auto bool) []Contender {
	var out []Contender
	for _, m := range rivalMigrations {
		for _, p := range rivalPlacements {
			out = append(out, Contender{p[1], m, auto, pairName(p[0], m)})
		}
	}
	return out
}

// A Level is how much work comes, as a share of the time that the hosts are
// available in the mean. The shares are the project's own: at the first hosts
// are mostly idle, at the second they are busy and the queue still empties.
type Level struct {
	Name string
	Load float64 // 0: a task always waits
}

// The grid's job sizes and workloads.
var (
	Sizes  = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour}
	Levels = []Level{{"low", 0.3}, {"medium", 0.7}, {"saturated", 0}}
)

// The costs of the grid.
const (
	gridPause  = time.Second           // of a checkpoint, for each 64 MiB
	gridState  = 64 << 20              // bytes of a task's state
	gridUpload = 10e6 / 8              // bytes a second
	gridDelay  = 25 * time.Millisecond // one way, as scenario.Default has it
	gridDetect = 10 * time.Second      // scheduler.Config's lease
)

// Nothing comes in the first day, in which hosts are watched and forecasts learn,
// and but for the saturated workload in the last one, so that a task that can
// be completed has the time.
const (
	gridWarmup = reproduce.Day
	gridSettle = reproduce.Day
)

// A Grid is the comparison of the default policies with published ones.
type Grid struct {
	Sets []Set // at least one
	// Hosts and Days are the size of each set, as far as a measured one has so
	// much. Days are at least 3: those of warm-up and end are among them.
	Hosts, Days int
	Seed        uint64 // the first
	Runs        int    // seeds, at least one
	Ours        Contender
	// Auto gives every rival automatic checkpoints too.
	Auto bool
	// Each is as Options.Each.
	Each func(n int, run func(i int))
}

// A gridRun is one run of a grid: of cell, draw and contender.
type gridRun struct {
	cell, run, contender int
}

// contenders are the default, the oracle, which makes a checkpoint at the last
// moment, then the rivals.
func (g *Grid) contenders() []Contender {
	return append([]Contender{g.Ours, {Placement: sim.Oracle, Migration: "none", Auto: true}}, Rivals(g.Auto)...)
}

// The first places among the contenders.
const (
	oursAt = iota
	oracleAt
	rivalsAt
)

// Count is how many simulations Run does.
func (g *Grid) Count() int {
	return len(g.Sets) * len(Sizes) * len(Levels) * g.Runs * len(g.contenders())
}

// Run runs all contenders on equal hosts and arrivals, and judges each cell. A
// cell that is lost is no error.
func (g *Grid) Run() (*Report, error) {
	r := &Report{Ours: g.Ours, Auto: g.Auto, Seed: g.Seed, Runs: g.Runs}
	all := g.contenders()
	var draws []*draw // a cell's set's, by seed
	for k := range g.Sets {
		s := &g.Sets[k]
		var of []*draw
		for n := range g.Runs {
			d, err := s.draw(g.Hosts, g.Days, g.Seed+uint64(n))
			if err != nil {
				return nil, fmt.Errorf("set %s: %w", s.Name, err)
			}
			of = append(of, d)
		}
		r.Setup = append(r.Setup, s.describe(of))
		for _, size := range Sizes {
			for _, level := range Levels {
				draws = append(draws, of...)
				r.Cells = append(r.Cells, Cell{Set: s.Name, Synthetic: s.Measured == nil, JobSizeS: size.Seconds(),
					Workload: level.Name, level: level, size: size})
			}
		}
	}
	outcomes, err := g.simulate(r.Cells, draws, all)
	if err != nil {
		return nil, err
	}
	for i := range r.Cells {
		r.Cells[i].judge(all, outcomes[i])
	}
	r.Rivals, r.Notes = rivalRows(r.Cells), gridNotes(r.Cells)
	r.Summary = summarise(r.Cells)
	return r, nil
}

// simulate returns each cell's outcomes by contender and seed.
func (g *Grid) simulate(cells []Cell, draws []*draw, all []Contender) ([][][]played, error) {
	out := make([][][]played, len(cells))
	var jobs []gridRun
	for i := range cells {
		out[i] = make([][]played, len(all))
		for k := range all {
			out[i][k] = make([]played, g.Runs)
		}
	}
	for n := range g.Runs { // outermost, so that what is done tells how long the rest takes
		for i := range cells {
			for k := range all {
				jobs = append(jobs, gridRun{i, n, k})
			}
		}
	}
	errs := make([]error, len(jobs))
	o := reproduce.Options{Each: g.Each}
	o.ForEach(len(jobs), func(i int) {
		j := jobs[i]
		c, d := &cells[j.cell], draws[j.cell*g.Runs+j.run]
		out[j.cell][j.contender][j.run], errs[i] = play(d.scenario(c.size, c.level, all[j.contender]))
	})
	for i, err := range errs {
		if err != nil {
			j := jobs[i]
			return nil, fmt.Errorf("%s, %s, seed %d: %w", cells[j.cell].String(), all[j.contender], g.Seed+uint64(j.run), err)
		}
	}
	return out, nil
}
