package scheduler

import (
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Grid counts a job's tasks by state in at most so many bins. It takes a step for each row that the ledger
// has, and none for each task.
func Grid(c *Coordinator, id task.JobID, bins int) (*message.Grid, bool) {
	j := c.table.jobs[id]
	if j == nil || j.state == jobFetching {
		return nil, false
	}
	g := message.NewGrid(j.total, bins)
	facts := &j.ledger.Facts
	for _, r := range facts.Done {
		g.Do(r)
	}
	// A result that came after the submitter gave a task up stands for it: rows go first.
	var told []uint64
	for i := range j.ledger.Rows {
		if facts.Done.Contains(i) {
			continue
		}
		switch j.ledger.Verdict(i) {
		case ledger.Done:
			g.Do(ledger.Range{From: i, To: i + 1})
		case ledger.Failed:
			g.Fail(ledger.Range{From: i, To: i + 1})
		default:
			continue
		}
		if facts.Failed.Contains(i) {
			told = append(told, i)
		}
	}
	slices.Sort(told)
	var placed ledger.Set
	for _, i := range told {
		placed.AddRange(ledger.Range{From: i, To: i + 1})
	}
	for _, r := range facts.Failed.Minus(facts.Done).Minus(placed) {
		g.Fail(r)
	}
	if j.state == jobOver {
		g.FailRest()
		return g, true
	}
	for i, t := range j.live {
		if t.begun > 0 && j.ledger.Verdict(i) == ledger.Open {
			g.Run(i)
		}
	}
	return g, true
}
