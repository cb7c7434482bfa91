package policies

import (
	"fmt"
	"math"
	"strings"
)

// why says which part of the hosts' time a rival turned into useful work and the
// default did not. The hosts are the same, so that useful, wasted, idle and
// pending time sum to the same: what the default has less of the first it has
// more of the others, and the greatest of those is named first.
func why(ours, best *Figures) string {
	saved := ours.Checkpoints*gridPause.Seconds() - best.Checkpoints*gridPause.Seconds()
	parts := []struct {
		more  float64
		words string
	}{
		{ours.WastedS - best.WastedS - saved, fmt.Sprintf("more work lost or done twice (%.0f running tasks lost, the "+
			"rival %.0f)", ours.Lost, best.Lost)},
		{saved, fmt.Sprintf("more in checkpoints (%.0f of them, %.2g %% of its host time)", ours.Checkpoints,
			percentOf(ours.Checkpoints*gridPause.Seconds(), ours.UsefulS+ours.WastedS+ours.PendingS))},
		{ours.IdleS - best.IdleS, fmt.Sprintf("more idle (%.0f moves on the way, the rival %.0f)", ours.Moves, best.Moves)},
		{ours.PendingS - best.PendingS, fmt.Sprintf("more in tasks not completed at the end (%.0f, the rival %.0f)",
			ours.Tasks-ours.Done, best.Tasks-best.Done)},
	}
	short := best.UsefulS - ours.UsefulS
	var out []string
	for len(out) < mostReasons {
		most := 0
		for k := range parts {
			if parts[k].more > parts[most].more {
				most = k
			}
		}
		if parts[most].more < leastReason*short {
			break
		}
		out = append(out, fmt.Sprintf("%s %s", hoursOf(parts[most].more), parts[most].words))
		parts[most].more = math.Inf(-1)
	}
	return fmt.Sprintf("%s less useful (%.2g %%): %s", hoursOf(short), percentOf(short, best.UsefulS),
		strings.Join(out, "; "))
}

// How many parts of a difference are named, and from which share of it on.
const (
	mostReasons = 2
	leastReason = 0.2
)

// hoursOf writes host time.
func hoursOf(s float64) string { return fmt.Sprintf("%.1f h", s/3600) }
