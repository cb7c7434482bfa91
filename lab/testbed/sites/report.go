package sites

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/measure"
	"godwit/scheduler/message"
	"godwit/sim/scenario"
	"godwit/task"
)

// A report is the JSON of `godwit swarm sites`.
type report struct {
	Scenario string      `json:"scenario"`
	Nodes    int         `json:"nodes"`
	Slots    int         `json:"slots"` // of all nodes
	Sites    []site      `json:"sites"`
	Speedup  float64     `json:"speedup"`
	LengthS  float64     `json:"length_s"` // of a run, in the scenario's time
	Runs     []runReport `json:"runs"`
}

type site struct {
	Name  string  `json:"name"`
	Nodes int     `json:"nodes"`
	Busy  float64 `json:"busy"` // asked for by local users
}

// A runReport is one run. Times and rates are the scenario's.
type runReport struct {
	Fairness string  `json:"fairness"`
	Load     string  `json:"load"`
	Seed     uint64  `json:"seed"`
	Owned    float64 `json:"owned"` // part of the nodes' time that owners had
	// CountedS is for how long all jobs were there, after the warm-up.
	CountedS float64     `json:"counted_s"`
	Jobs     []jobReport `json:"jobs"`
	fairness
	Usage usage `json:"usage"` // of slots over time
	// Published is what the file says was published of this load under this policy.
	Published *publishedFairness `json:"published,omitempty"`
}

// A jobReport is a job in the time that is counted.
type jobReport struct {
	Name       string  `json:"name"`
	Completed  int     `json:"completed"`  // tasks
	Throughput float64 `json:"throughput"` // of these a second
	// Preempted are runs that ended otherwise, for owners or to move.
	Preempted int `json:"preempted"`
	// Sites are the tasks completed, by site.
	Sites map[string]int `json:"sites"`
}

// A fairness says how fairly throughputs are divided.
type fairness struct {
	Throughput float64 `json:"throughput"` // of all jobs
	// Spread is the largest less the smallest throughput, over the smallest; -1 where
	// that is 0. Jain is (sum x)^2 / (n sum x^2), 1 where all are equal (Jain, Chiu and
	// Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984).
	Spread    float64 `json:"spread"`
	Jain      float64 `json:"jain"`
	Preempted int     `json:"preempted"` // in all
	Apart     int     `json:"apart"`     // the most of a job less the least
}

// publishedFairness is a fairness of published figures; Preempted is -1 where they are not
// known.
type publishedFairness struct {
	Jobs []float64 `json:"throughputs"`
	fairness
}

// fairnessOf sums up jobs by throughput; preempted is nil where it is not known.
func fairnessOf(throughput, preempted []float64) (f fairness) {
	var squares float64
	for _, x := range throughput {
		f.Throughput += x
		squares += x * x
	}
	if f.Jain = 1; squares > 0 {
		f.Jain = f.Throughput * f.Throughput / (float64(len(throughput)) * squares)
	}
	if f.Spread = -1; len(throughput) > 0 && slices.Min(throughput) > 0 {
		f.Spread = slices.Max(throughput)/slices.Min(throughput) - 1
	}
	if f.Preempted, f.Apart = -1, -1; len(preempted) > 0 {
		f.Preempted, f.Apart = 0, int(slices.Max(preempted)-slices.Min(preempted))
		for _, x := range preempted {
			f.Preempted += int(x)
		}
	}
	return f
}

// report is what is known before the first run.
func (p *program) report() *report {
	rep := &report{Scenario: p.name, Nodes: len(p.sites), Slots: len(p.sites) * p.slots, Speedup: p.speedup,
		LengthS: p.length.Seconds()}
	for _, s := range p.e.Owners.Sites {
		rep.Sites = append(rep.Sites, site{s.Name, s.Hosts, s.Busy})
	}
	return rep
}

// count counts what the jobs of a run did from the end of the warm-up, or when the last
// was taken, until the end, or until the first was over.
func (b *player) count(i int, bags []*bag, jobs []message.JobStatus, end time.Time) *runReport {
	r := b.runs[i]
	begin := b.begin[i].Add(b.real(b.e.Base.Warmup))
	for k, g := range bags {
		begin = clock.Later(begin, g.taken)
		if done := overAt(&jobs[k]); !done.IsZero() && done.Before(end) {
			end = done
		}
	}
	rep := &runReport{Fairness: r.policy, Load: b.loadName(r.load), Seed: r.seed, Owned: b.owned[i],
		CountedS: end.Sub(begin).Seconds() * b.speedup}
	sites := map[task.PeerID]string{}
	for k, n := range b.sw.Nodes {
		sites[n.Ready.PeerID] = b.sites[k]
	}
	var throughput, preempted []float64
	for k, g := range bags {
		d := jobReport{Name: g.job.name, Sites: map[string]int{}}
		for _, t := range jobs[k].TasksList {
			for _, a := range t.Attempts {
				if a.End.Before(begin) || a.End.After(end) || a.Outcome == measure.OutcomeRefused ||
					a.Outcome == measure.OutcomeSuperseded {
					continue
				}
				if a.Outcome == task.Completed.String() {
					d.Completed++
					d.Sites[sites[a.Worker]]++
				} else {
					d.Preempted++
				}
			}
		}
		d.Throughput = float64(d.Completed) / rep.CountedS
		throughput, preempted = append(throughput, d.Throughput), append(preempted, float64(d.Preempted))
		rep.Jobs = append(rep.Jobs, d)
	}
	rep.fairness = fairnessOf(throughput, preempted)
	rep.Usage = *b.usage(i, bags, jobs)
	if p, ok := b.e.Loads[r.load].Published[r.policy]; ok {
		rep.Published = publishedOf(&p)
	}
	return rep
}

// overAt is when the last task of a job that has ended was done; zero for another.
func overAt(j *message.JobStatus) (at time.Time) {
	if !message.FinalState(j.State) {
		return at
	}
	for _, t := range j.TasksList {
		for _, a := range t.Attempts {
			at = clock.Later(a.End, at)
		}
	}
	return at
}

func publishedOf(p *scenario.PublishedJobs) *publishedFairness {
	return &publishedFairness{Jobs: p.Throughput, fairness: fairnessOf(p.Throughput, p.Preempted)}
}

// print writes the report for people.
func (rep *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%d nodes with %d slots, %g times as fast; runs of %s\n", rep.Nodes, rep.Slots, rep.Speedup,
		table.Seconds(rep.LengthS))
	fmt.Fprint(w, "sites ")
	for _, s := range rep.Sites {
		fmt.Fprintf(w, " %s %d (local users ask for %.0f %%)", s.Name, s.Nodes, 100*s.Busy)
	}
	fmt.Fprint(w, "\n\n")
	var rows [][]string
	for i := range rep.Runs {
		r := &rep.Runs[i]
		var each, gone []string
		for _, j := range r.Jobs {
			each, gone = append(each, fmt.Sprintf("%.4f", j.Throughput)), append(gone, fmt.Sprint(j.Preempted))
		}
		row := []string{r.Load, r.Fairness, fmt.Sprint(r.Seed), fmt.Sprintf("%.0f%%", 100*r.Owned), strings.Join(each, " "),
			spreadText(r.Spread), fmt.Sprintf("%.3f", r.Jain), strings.Join(gone, " ")}
		if p := r.Published; p != nil {
			row = append(row, spreadText(p.Spread), fmt.Sprintf("%.3f", p.Jain), countText(p.Preempted)+" ±"+countText(p.Apart))
		} else {
			row = append(row, "-", "-", "-")
		}
		rows = append(rows, row)
	}
	table.Print(w, "LOAD FAIRNESS SEED OWNERS TASKS/S SPREAD JAIN PREEMPTED PUB.SPREAD PUB.JAIN PUB.PREEMPTED", rows)
	rep.printMeans(w)
	return nil
}

// printMeans writes the means of each policy, and how far seeds and loads differ.
func (rep *report) printMeans(w io.Writer) {
	var names []string
	spreads, jains := map[string][]float64{}, map[string][]float64{}
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if !slices.Contains(names, r.Fairness) {
			names = append(names, r.Fairness)
		}
		if r.Spread >= 0 {
			spreads[r.Fairness] = append(spreads[r.Fairness], r.Spread)
		}
		jains[r.Fairness] = append(jains[r.Fairness], r.Jain)
	}
	fmt.Fprintln(w)
	for _, n := range names {
		if x := spreads[n]; len(x) > 0 {
			fmt.Fprintf(w, "%s: spread %s in the mean of %d runs, %s to %s; Jain %.3f at the least\n", n,
				spreadText(measure.Average(x)), len(x), spreadText(slices.Min(x)), spreadText(slices.Max(x)), slices.Min(jains[n]))
		}
	}
	fmt.Fprintln(w, "spread: the largest throughput less the smallest, over the smallest; preempted: runs that owners "+
		"ended, by job (published: of all, and most less least)")
}

func spreadText(x float64) string {
	if x < 0 || math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

func countText(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
