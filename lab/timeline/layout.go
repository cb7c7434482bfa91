//go:build plot

package timeline

import (
	"slices"
	"time"

	"godwit/task"
)

// A chart is where things go in a picture of a job: a row for each peer, from the
// one that began first on, and in it a lane for each task that ran at once.
type chart struct {
	rows   []peerRow
	bars   []bar
	arrows []arrow
	left   int // attempts beyond mostBars, which are not drawn
}

type peerRow struct {
	peer  task.PeerID
	lanes int
}

// A bar is an attempt. Times are since the job's submission.
type bar struct {
	task      uint64
	row, lane int
	from, to  time.Duration
	kind      barKind
}

// An arrow is a move, from one bar to another: places in bars.
type arrow struct{ from, to int }

// A barKind is how an attempt ended, as far as a picture tells it.
type barKind int

const (
	barCompleted barKind = iota
	barMoved
	barLost
	barRunning
	barOther
	barKinds
)

// barNames are told in the legend.
var barNames = [barKinds]string{"completed", "moved away", "lost", "running", "ended otherwise"}

func kindOf(outcome string) barKind {
	switch outcome {
	case "completed":
		return barCompleted
	case "moved":
		return barMoved
	case "lost":
		return barLost
	case outcomeRunning, outcomeWaiting:
		return barRunning
	}
	return barOther
}

// mostBars bounds a picture: with more attempts it would be a single blot, and an
// SVG of many megabytes.
const mostBars = 20_000

// layOut places stints, which are task by task. What runs is drawn until now.
func layOut(stints []stint, submitted, now time.Time) chart {
	var g chart
	if len(stints) > mostBars {
		g.left = len(stints) - mostBars
		stints = stints[:mostBars]
	}
	order := make([]int, len(stints)) // by time, for rows and lanes
	for k, s := range stints {
		order[k] = k
		end := s.End
		if end.IsZero() {
			end = now
		}
		from := s.Start.Sub(submitted)
		g.bars = append(g.bars, bar{task: s.Task, from: from, to: max(from, end.Sub(submitted)), kind: kindOf(s.Outcome)})
		if k > 0 && stints[k-1].Task == s.Task && stints[k-1].MovedTo == s.Peer && s.Peer != "" {
			g.arrows = append(g.arrows, arrow{k - 1, k})
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return stints[a].Start.Compare(stints[b].Start) })
	at := map[task.PeerID]int{}
	var free [][]time.Duration // of each row, when each lane is free
	for _, k := range order {
		b, peer := &g.bars[k], stints[k].Peer
		row, ok := at[peer]
		if !ok {
			row = len(g.rows)
			at[peer] = row
			g.rows, free = append(g.rows, peerRow{peer: peer}), append(free, nil)
		}
		b.row = row
		b.lane = slices.IndexFunc(free[row], func(until time.Duration) bool { return until <= b.from })
		if b.lane < 0 {
			b.lane = len(free[row])
			free[row] = append(free[row], 0)
			g.rows[row].lanes++
		}
		free[row][b.lane] = b.to
	}
	return g
}
