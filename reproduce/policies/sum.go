package policies

import (
	"fmt"
	"math"
)

// A Report is what came of a Grid.
type Report struct {
	Setup   []string // a line a set
	Ours    Contender
	Auto    bool // the rivals make automatic checkpoints
	Seed    uint64
	Runs    int
	Cells   []Cell // by set, job size, workload
	Rivals  []RivalRow
	Notes   []string // on rivals that do not behave as their names say
	Summary []Target
}

// A Target is one figure that the default policies are held to.
type Target struct {
	Name     string `json:"target"`
	Wanted   string `json:"wanted"` // "" of what is only told
	Obtained string `json:"obtained"`
	Holds    bool   `json:"holds"`
	Worst    string `json:"worst"` // cell, or ""
}

// The targets.
const (
	overFCFS   = 1.15
	overOracle = 0.90
	mostWasted = 3.  // percent
	leastDone  = 99. // percent
)

// summarise compares the cells with the targets.
func summarise(cells []Cell) []Target {
	won := map[Standing]int{}
	for i := range cells {
		won[cells[i].Verdict]++
	}
	return []Target{
		{"useful work at least the best rival's, within its interval", "every cell",
			fmt.Sprintf("%d won, %d within, %d LOST of %d", won[Won], won[WithinIt], won[Lost], len(cells)), won[Lost] == 0,
			worstGain(cells)},
		geometric(cells, "useful work over FCFS's, geometric mean", overFCFS,
			func(c *Cell) float64 { return c.FCFS.UsefulS }),
		geometric(cells, "useful work over the oracle's, geometric mean", overOracle,
			func(c *Cell) float64 { return c.Oracle.UsefulS }),
		wasted(cells),
		completed(cells),
		attempts(cells),
		quick(cells),
	}
}

// worstGain names the cell with the greatest loss by the rival's useful work.
func worstGain(cells []Cell) string {
	at, least := "", 0.
	for i := range cells {
		if c := &cells[i]; c.Verdict != Won && c.Gain.Mean/c.Best.UsefulS < least {
			at, least = fmt.Sprintf("%s: %+.1f %%", c, 100*c.Gain.Mean/c.Best.UsefulS), c.Gain.Mean/c.Best.UsefulS
		}
	}
	return at
}

// geometric has the mean of the default's useful work over another's, of cells
// where the other has any.
func geometric(cells []Cell, name string, wanted float64, of func(*Cell) float64) Target {
	sum, n, without := 0., 0, 0
	worst, at := math.Inf(1), ""
	for i := range cells {
		c := &cells[i]
		base := of(c)
		if !(base > 0) {
			without++
			continue
		}
		ratio := c.Ours.UsefulS / base
		sum += math.Log(ratio)
		n++
		if ratio < worst {
			worst, at = ratio, fmt.Sprintf("%s: %.3f", c, ratio)
		}
	}
	mean := math.Exp(sum / math.Max(1, float64(n)))
	t := Target{name, fmt.Sprintf(">= %.2f", wanted), fmt.Sprintf("%.3f", mean), mean >= wanted, at}
	if without > 0 {
		t.Obtained += fmt.Sprintf(" (of %d cells; in %d it has none)", n, without)
	}
	return t
}

func wasted(cells []Cell) Target {
	lost, all, worst, at := 0., 0., -1., ""
	for i := range cells {
		c := &cells[i]
		lost, all = lost+c.Ours.WastedS, all+c.Ours.WastedS+c.Ours.UsefulS
		if c.Ours.WastedPct > worst {
			worst, at = c.Ours.WastedPct, fmt.Sprintf("%s: %.2f %%", c, c.Ours.WastedPct)
		}
	}
	p := percentOf(lost, all)
	return Target{"host time wasted, of useful and wasted", fmt.Sprintf("<= %.0f %%", mostWasted),
		fmt.Sprintf("%.2f %%", p), p <= mostWasted, at}
}

// completed is of the workloads that end a day before the run does.
func completed(cells []Cell) Target {
	return portion(cells, "tasks completed, of those that came (low and medium)", func(c *Cell) (float64, float64, bool) {
		return c.Ours.Done, c.Ours.Tasks, c.level.Load > 0
	})
}

// attempts is Zhang's success. It is no target: a run that is lost with its host
// counts as a failure though the task goes on from a checkpoint.
func attempts(cells []Cell) Target {
	t := portion(cells, "runs of tasks that ended in a result, S/(S+F)", func(c *Cell) (float64, float64, bool) {
		return c.Ours.Done, c.Ours.Done + c.Ours.Lost, true
	})
	t.Wanted, t.Holds = "", true
	return t
}

func portion(cells []Cell, name string, of func(*Cell) (part, whole float64, counts bool)) Target {
	parts, wholes, worst, at := 0., 0., math.Inf(1), ""
	for i := range cells {
		part, whole, counts := of(&cells[i])
		if !counts || !(whole > 0) {
			continue
		}
		parts, wholes = parts+part, wholes+whole
		if p := percentOf(part, whole); p < worst {
			worst, at = p, fmt.Sprintf("%s: %.2f %%", &cells[i], p)
		}
	}
	p := percentOf(parts, wholes)
	return Target{name, fmt.Sprintf(">= %.0f %%", leastDone), fmt.Sprintf("%.2f %%", p), p >= leastDone, at}
}

func quick(cells []Cell) Target {
	n, counts := 0, map[Standing]int{}
	worst, at := 1., ""
	for i := range cells {
		c := &cells[i]
		if c.Workload != Levels[0].Name {
			continue
		}
		n++
		counts[c.Response]++
		if ratio := c.Ours.ResponseS / c.Quickest.ResponseS; ratio > worst && c.Response != Won {
			worst, at = ratio, fmt.Sprintf("%s: %.3f times that of %s", c, ratio, c.Quickest.Name)
		}
	}
	return Target{"mean response at low workload no longer than the quickest rival's", "every cell",
		fmt.Sprintf("%d won, %d within, %d LOST of %d", counts[Won], counts[WithinIt], counts[Lost], n), counts[Lost] == 0,
		at}
}
