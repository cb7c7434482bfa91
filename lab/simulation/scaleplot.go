package simulation

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"godwit/lab/plot"
	"godwit/overlay"
)

// Where the model is drawn: from an overlay that has just divided to one of the most cells, so many
// points for each doubling.
const (
	leastDrawn, mostDrawn = 1_000, 500_000
	pointsByDoubling      = 4
)

// cellsPicture is where the picture of an overlay in cells goes, beside that of the results.
func cellsPicture(path string) string {
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-cells" + ext
}

// saveScale draws what an overlay in cells costs by its members: the runs that the model is fitted to,
// this command's, and the model.
func saveScale(path string, results []result) error {
	m := fitModel(fittedRuns)
	runs := slices.Clone(fittedRuns)
	for _, r := range results {
		runs = append(runs, r.cells.run)
	}
	slices.SortStableFunc(runs, func(a, b cellRun) int { return int(a.members) - int(b.members) })
	var seen, model []scale
	for i := range runs {
		seen = append(seen, runs[i].scale())
	}
	mostInCell := float64(overlay.DefaultCellRule().Most)
	for n := float64(leastDrawn); n <= mostDrawn; n *= math.Pow(2, 1./pointsByDoubling) {
		model = append(model, m.lasting(n, math.Exp2(math.Ceil(math.Log2(n/mostInCell)))))
	}
	chart := func(title, y string, of func(*scale) float64) plot.Chart {
		return plot.Chart{Title: title, X: "members that are up", Y: y, LogX: true, FromZero: true,
			Curves: []plot.Curve{curveOf("runs", seen, of), curveOf("model, of long runs", model, of)}}
	}
	return plot.Save(cellsPicture(path),
		chart("What adverts cost a member", "MB a day", func(s *scale) float64 { return s.MB }),
		chart("What a member's machines say", "messages a second", func(s *scale) float64 { return s.Messages }),
		chart("What a leader hears of other cells", "summaries an hour", func(s *scale) float64 { return s.Summaries }),
		chart("Tasks that are placed", "a second", func(s *scale) float64 { return s.Placed }))
}

func curveOf(name string, scales []scale, of func(*scale) float64) plot.Curve {
	c := plot.Curve{Name: name, As: plot.Line}
	for i := range scales {
		if y := of(&scales[i]); plot.Finite(y) {
			c.X, c.Y = append(c.X, scales[i].Members), append(c.Y, y)
		}
	}
	return c
}
