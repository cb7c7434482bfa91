package policies

import (
	"fmt"
	"math"
	"strings"
)

// A RivalRow is a contender over all cells.
type RivalRow struct {
	Name       string  `json:"name"`
	BestIn     int     `json:"best_in"`     // cells in which no rival has more useful work
	OfBestPct  float64 `json:"of_best_pct"` // mean over the cells of its useful work by the best rival's
	WorstPct   float64 `json:"worst_pct"`   // and the least of them
	WastedPct  float64 `json:"wasted_pct"`
	SuccessPct float64 `json:"success_pct"`
	Moves      float64 `json:"moves"` // a seed, in all cells
}

// rivalRows sums up each rival, and at the end the default and the oracle.
func rivalRows(cells []Cell) []RivalRow {
	var out []RivalRow
	for k := range cells[0].Rivals {
		out = append(out, contenderRow(cells, func(c *Cell) *Figures { return &c.Rivals[k] }))
	}
	return append(out, contenderRow(cells, func(c *Cell) *Figures { return &c.Ours }),
		contenderRow(cells, func(c *Cell) *Figures { return &c.Oracle }))
}

func contenderRow(cells []Cell, of func(*Cell) *Figures) RivalRow {
	r := RivalRow{WorstPct: math.Inf(1)}
	lost, spent, done, failed := 0., 0., 0., 0.
	for i := range cells {
		c := &cells[i]
		f := of(c)
		r.Name = f.Name
		if f.UsefulS >= c.Best.UsefulS*(1-slightly) {
			r.BestIn++
		}
		p := 100.
		if c.Best.UsefulS > 0 {
			p = percentOf(f.UsefulS, c.Best.UsefulS)
		}
		r.OfBestPct += p / float64(len(cells))
		r.WorstPct = min(r.WorstPct, p)
		r.Moves += f.Moves
		lost, spent = lost+f.WastedS, spent+f.WastedS+f.UsefulS
		done, failed = done+f.Done, failed+f.Lost
	}
	r.WastedPct, r.SuccessPct = percentOf(lost, spent), percentOf(done, done+failed)
	return r
}

// degenerate is of FCFS's useful work: a policy that has less is said to fail in
// a cell.
const degenerate = 0.5

// gridNotes says which rivals do not do what their names say in these settings.
func gridNotes(cells []Cell) []string {
	var notes []string
	placements := len(rivalPlacements)
	for m, name := range rivalMigrations[1:] {
		same, all := 0, 0
		for i := range cells {
			for p := range placements {
				all++
				if cells[i].Rivals[(m+1)*placements+p].sameAs(&cells[i].Rivals[p]) {
					same++
				}
			}
		}
		if 2*same > all {
			notes = append(notes, fmt.Sprintf("%s is the same as none in %d of %d: %s", name, same, all, idleMovers[name]))
		}
	}
	for p, name := range rivalPlacements {
		n, idle := 0, 0.
		for i := range cells {
			f := &cells[i].Rivals[p]
			if f.UsefulS < degenerate*cells[i].FCFS.UsefulS {
				n++
				idle += percentOf(f.IdleS, f.UsefulS+f.WastedS+f.IdleS+f.PendingS)
			}
		}
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s has less than half of FCFS's useful work in %d of %d cells, where its hosts "+
				"are idle %.0f %% of the time: %s", name[0], n, len(cells), idle/float64(n), whyIdle(name[0])))
		}
	}
	return notes
}

// idleMovers says why a migration policy may have nothing to do.
var idleMovers = map[string]string{
	"reactive": "no host gives notice",
	"cbr":      "hosts of these sets give guests all of the CPU or none",
	"pspp":     "it seldom foresees a host's going",
}

// whyIdle says why a placement policy leaves hosts idle.
func whyIdle(name string) string {
	if strings.HasPrefix(name, "fcfspp") {
		return "as published, T is 100 %, so that a host qualifies which was there at that time of all n days, a day " +
			"before it came counting as one on which it was away; a host that does not keeps all behind the first task waiting"
	}
	return "tasks wait for hosts that it trusts"
}

// sameAs says whether two contenders did the same.
func (f *Figures) sameAs(g *Figures) bool {
	return f.UsefulS == g.UsefulS && f.WastedS == g.WastedS && f.Done == g.Done && f.Moves == g.Moves
}
