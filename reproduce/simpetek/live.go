package simpetek

import (
	"fmt"
	"time"

	"godwit/reproduce"
	"godwit/reproduce/simpetek/sweep"
	"godwit/scheduler/chunk"
)

// The sweep of the live experiment: as a swarm of a few machines meets it.
const (
	liveRuns     = 100_000
	liveTask     = 5 * time.Millisecond
	liveMessage  = time.Millisecond       // a chunk's, to its node
	liveServe    = 100 * time.Microsecond // the coordinator's, of each message
	liveSpread   = 0.5
	liveMark     = 0.95 // efficiency that the default is to have
	liveNearBest = 0.01 // by which it may be behind the best
)

var liveSpeeds = []float64{1, 1, 1, 0.8, 0.6, 0.5, 0.3, 0.25}

// livePolicies are all, with other parameters where these matter.
var livePolicies = []string{
	chunk.Default, "paced:longest=2", "awf", "wf", "factoring", "fsc", "tss", "gss", "static", "one", "one:k=20",
	"calibrated", "issse", "issse:peak=5,k=50", "ssse", "samra:rounds=20", "samra:rounds=100", "amra:rounds=20",
	"amra:rounds=100", "amrs:rounds=20", "mi", "umr", "mrrs", "rumr",
}

// liveWorlds are what may befall nodes.
var liveWorlds = []struct {
	name   string
	change func(nodes []sweep.Node)
}{
	{"quiet", func([]sweep.Node) {}},
	{"slowed", func(nodes []sweep.Node) { // every other does half of the time half
		for i := 0; i < len(nodes); i += 2 {
			nodes[i].Slowed = sweep.Slowed{Every: 40 * time.Second, For: 20 * time.Second, Speed: 0.5}
		}
	}},
	{"churn", func(nodes []sweep.Node) { // two come late, two leave with what they have
		nodes[1].Joins, nodes[4].Joins = 20*time.Second, 50*time.Second
		nodes[0].Leaves, nodes[2].Leaves = 30*time.Second, 60*time.Second
	}},
}

func live(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("%d tasks of %v (coefficient of variation %g) on a core of speed 1; nodes of one slot, of speeds %v, which "+
		"nobody is told", liveRuns, liveTask, liveSpread, liveSpeeds)
	b.Say("a chunk costs its node %v, each message the coordinator %v; every result is a message", liveMessage, liveServe)
	b.Say("efficiency is the time of work that could be divided at will, over the makespan; mean of %d runs, seeds %d "+
		"to %d", b.seeds, b.Seed, b.Seed+uint64(b.seeds)-1)
	var ss []*sweep.Scenario
	for _, p := range livePolicies {
		for _, w := range liveWorlds {
			for k := range b.seeds {
				var nodes []sweep.Node
				for i, v := range liveSpeeds {
					nodes = append(nodes, sweep.Node{Name: fmt.Sprint(i + 1), Slots: 1, Time: time.Duration(float64(liveTask) / v)})
				}
				w.change(nodes)
				ss = append(ss, &sweep.Scenario{Policy: p, Runs: liveRuns, Nodes: nodes, Chunk: liveMessage, Serve: liveServe,
					Each: true, Spread: liveSpread, Seed: b.Seed + uint64(k)})
			}
		}
	}
	reports, err := reproduce.RunAll(&b.Options, ss, sweep.Run)
	if err != nil {
		return err
	}
	table := reproduce.Table{Experiment: "live", Title: "efficiency (its least), chunks and tasks lost with nodes",
		Header: []string{"POLICY"}}
	for _, w := range liveWorlds {
		table.Header = append(table.Header, w.name, "CHUNKS", "LOST")
	}
	best := make([]float64, len(liveWorlds))
	ours := make([]float64, len(liveWorlds))
	for i, p := range livePolicies {
		row := []string{p}
		for k := range liveWorlds {
			at := (i*len(liveWorlds) + k) * b.seeds
			mean, least, chunks, lost := efficiency(reports[at : at+b.seeds])
			row = append(row, fmt.Sprintf("%.4f (%.4f)", mean, least), fmt.Sprintf("%.0f", chunks), fmt.Sprintf("%.0f", lost))
			best[k] = max(best[k], mean)
			if i == 0 {
				ours[k] = least
			}
		}
		table.Rows = append(table.Rows, row)
	}
	b.Tables = append(b.Tables, table)
	for k, w := range liveWorlds {
		b.Own("default ("+chunk.Default+"), "+w.name, fmt.Sprintf("the project's mark: %g", liveMark),
			fmt.Sprintf("%.4f", ours[k]), ours[k] >= liveMark, "the least over seeds", "")
		b.Own("default beside the best, "+w.name, fmt.Sprintf("at most %g less", liveNearBest),
			fmt.Sprintf("%.4f, best %.4f", ours[k], best[k]), ours[k] >= best[k]-liveNearBest, "", "")
	}
	return nil
}

func efficiency(rs []*sweep.Report) (mean, least, chunks, lost float64) {
	least = 1
	for _, r := range rs {
		n := float64(len(rs))
		mean += r.Efficiency() / n
		least = min(least, r.Efficiency())
		chunks += float64(r.Chunks) / n
		lost += float64(r.Lost) / n
	}
	return mean, least, chunks, lost
}
