package thanks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/task"
)

// A Row is what one worker gave, by what it was thanked for.
type Row struct {
	Worker     task.PeerID   `json:"worker"`
	Name       string        `json:"name,omitempty"` // that its owner chose
	Tasks      uint64        `json:"tasks"`
	CPU        time.Duration `json:"cpu_ns"`
	Fuel       uint64        `json:"fuel"`
	Days       int           `json:"days"`       // on which it gave something
	Submitters int           `json:"submitters"` // that thank it: a machine that one alone thanks may be that one's own
}

// Table sums up thanks, whose signatures were checked, by worker: who gave most first. Of thanks of one
// submitter to one worker of one day the latest count. cores says how many cores a worker can have given at
// once: nobody gave more on a day than these, however many thank it.
func Table(all []*task.Thanks, cores func(task.PeerID) int) []Row {
	type name struct {
		Page
		worker task.PeerID
	}
	latest := map[name]*task.Thanks{}
	for _, t := range all {
		n := name{fromSubmitter(t), t.Worker}
		if old := latest[n]; old == nil || old.Issued < t.Issued {
			latest[n] = t
		}
	}
	type of struct {
		worker task.PeerID
		day    int64
	}
	days, by := map[of]*Amount{}, map[task.PeerID]map[task.PeerID]bool{}
	for n, t := range latest {
		d := of{n.worker, n.Day}
		if days[d] == nil {
			days[d] = &Amount{}
		}
		for _, g := range t.Given {
			days[d].add(amountOf(g))
		}
		if by[n.worker] == nil {
			by[n.worker] = map[task.PeerID]bool{}
		}
		by[n.worker][n.Peer] = true
	}
	rows, sums := map[task.PeerID]*Row{}, map[task.PeerID]*Amount{}
	for d, g := range days {
		r := rows[d.worker]
		if r == nil {
			r = &Row{Worker: d.worker, Submitters: len(by[d.worker])}
			rows[d.worker], sums[d.worker] = r, &Amount{}
		}
		r.Days++
		g.CPU = min(g.CPU, dayOf(cores(d.worker)))
		sums[d.worker].add(*g)
	}
	out := make([]Row, 0, len(rows))
	for _, worker := range slices.Sorted(maps.Keys(rows)) {
		r, sum := rows[worker], sums[worker]
		r.Tasks, r.CPU, r.Fuel = sum.Tasks, sum.CPU, sum.Fuel
		out = append(out, *r)
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		return cmp.Or(-cmp.Compare(a.CPU, b.CPU), -cmp.Compare(a.Tasks, b.Tasks))
	})
	return out
}

// A ByProject is what was given to one project of one submitter.
type ByProject struct {
	Overlay   string        `json:"overlay"`
	Submitter task.PeerID   `json:"submitter"`
	Project   string        `json:"project"` // "" where its jobs have no name
	Tasks     uint64        `json:"tasks"`
	CPU       time.Duration `json:"cpu_ns"`
	Fuel      uint64        `json:"fuel"`
}

// Projects sums up thanks by project: to which most was given first.
func Projects(notes []Note) []ByProject {
	type name struct {
		overlay   string
		submitter task.PeerID
		project   string
	}
	sums := map[name]*Amount{}
	for _, n := range notes {
		for _, g := range n.Given {
			key := name{n.Overlay, n.Submitter, g.Project}
			if sums[key] == nil {
				sums[key] = &Amount{}
			}
			sums[key].add(amountOf(g))
		}
	}
	out := make([]ByProject, 0, len(sums))
	for n, s := range sums {
		out = append(out, ByProject{n.overlay, n.submitter, n.project, s.Tasks, s.CPU, s.Fuel})
	}
	slices.SortFunc(out, func(a, b ByProject) int {
		return cmp.Or(-cmp.Compare(a.CPU, b.CPU), -cmp.Compare(a.Tasks, b.Tasks), strings.Compare(a.Project, b.Project),
			strings.Compare(string(a.Submitter), string(b.Submitter)), strings.Compare(a.Overlay, b.Overlay))
	})
	return out
}

// Sum is what thanks come to altogether.
func Sum(notes []Note) Amount {
	var sum Amount
	for _, n := range notes {
		for _, g := range n.Given {
			sum.add(amountOf(g))
		}
	}
	return sum
}
