package replay

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/lab/testbed/measure"
	"godwit/scheduler/message"
	"godwit/sim"
)

// measure.Run is the replay as it is measured: with the classes and servers of a
// test-bed, or those of the trace.
func (r *replay) measuredRun(jobs []message.JobStatus) *measure.Run {
	s := r.plan.Scenario
	m := &measure.Run{Policy: r.plan.Placement, Seed: s.Seed, From: r.clock.Begun, Until: r.clock.Real(s.End),
		Scale: r.plan.Speedup}
	for i, p := range r.players {
		server := measure.Server{Name: p.planned.Host, Peer: p.peer}
		for _, u := range p.ups {
			if !u.ready.IsZero() {
				server.Up = append(server.Up, measure.Span{From: u.ready, To: u.to})
			}
		}
		if b := r.plan.Bed; b != nil {
			server.Availability = b.Availability(i)
			for k := range b.Classes {
				server.Rates = append(server.Rates, b.Rates.Of[k][i])
			}
		}
		m.Servers = append(m.Servers, server)
	}
	if b := r.plan.Bed; b != nil {
		m.Unit = b.Unit
		for _, c := range b.Classes {
			m.Classes = append(m.Classes, measure.Class{Name: c.Name,
				Arrival: b.Arrival(&c, s.End.Sub(s.Start)) * b.Unit.Seconds(), Work: c.Work.Seconds()})
		}
	}
	planned := r.plannedByName()
	for _, j := range jobs {
		m.Jobs = append(m.Jobs, measure.Job{Class: planned[j.Name].Class, Work: planned[j.Name].Work, Status: j})
	}
	for i, h := range r.handed {
		if h.err != nil {
			m.Faults = append(m.Faults, measure.Fault{
				At: r.clock.Real(r.clock.Start.Add(h.planned.At)), What: fmt.Sprintf("handing in %s: %v", jobName(i), h.err)})
		}
	}
	return m
}

// measure fills in what a test-bed's run came to by class and by machine.
func (rep *report) measure(m *measure.Run, tasks []measure.TaskTimes) {
	rep.measured = m
	rep.UnitS = m.Unit.Seconds()
	rep.Classes, rep.Rates, rep.Servers = measure.Classes(m, tasks), measure.Rates(m, tasks), measure.Servers(m, tasks)
	for _, c := range rep.Classes[:len(m.Classes)] {
		rep.Swarm.Classes = append(rep.Swarm.Classes, sim.ClassReport{
			Class: c.Class, Arrived: uint64(c.Arrived), Succeeded: uint64(c.Done),
			Waiting: meanOrZero(c.Waiting), Communication: meanOrZero(c.Communication), Execution: meanOrZero(c.Execution),
			Response: meanOrZero(c.Response),
		})
	}
}

// meanOrZero is a mean, 0 where there is none.
func meanOrZero(m measure.BatchMean) float64 {
	if math.IsNaN(m.Mean) {
		return 0
	}
	return m.Mean
}

// printMeasured writes what a run came to; nothing of one that is no test-bed's.
func (rep *report) printMeasured(w io.Writer) {
	if rep.measured == nil {
		return
	}
	fmt.Fprintf(w, "\nTimes by class, in units of %v, with 95 %% intervals by batch means; lengths of tasks that are "+
		"done\n", rep.unit())
	measure.PrintClasses(w, rep.measured, rep.Classes)
	fmt.Fprintf(w, "\nRates, tasks in a unit: imposed/measured\n")
	measure.PrintRates(w, rep.measured, rep.Rates)
	fmt.Fprintln(w)
	measure.PrintServers(w, rep.measured, rep.Servers)
}

func (rep *report) unit() time.Duration {
	return time.Duration(rep.UnitS * float64(time.Second))
}

// printClasses writes the mean response of each class and of all, in units of the
// rates, beside what was published.
func (reps runs) printClasses(w io.Writer) {
	if reps[0].measured == nil {
		return
	}
	fmt.Fprintf(w, "\nMean response by class, in units of %v, of tasks that came to an end; what a task took beside "+
		"its work; the part of the machines' time that was used\n", reps[0].unit())
	header := []string{"POLICIES", "DEPTH"}
	for _, c := range reps[0].measured.Classes {
		header = append(header, strings.ReplaceAll(c.Name, " ", "_"))
	}
	var rows [][]string
	for _, rep := range reps {
		if len(rep.Published) > 0 {
			row := []string{rep.name, "published"}
			for _, x := range rep.Published {
				row = append(row, unitsText(x))
			}
			rows = append(rows, append(row, "", "", ""))
		}
		rows = append(rows, rep.classRow(rep.Swarm, unitsText(rep.OverheadS/rep.UnitS)))
		if rep.Simulator != nil {
			rows = append(rows, rep.classRow(rep.Simulator, ""))
		}
	}
	table.Print(w, strings.Join(append(header, "ALL", "OVERHEAD", "USED", "UNFINISHED"), " "), rows)
}

// measure.ClassRow is a line of a report.
func (rep *report) classRow(side *sim.Report, overhead string) []string {
	row := []string{rep.name, side.Depth}
	for _, c := range side.Classes {
		row = append(row, unitsText(c.Response/rep.UnitS))
	}
	used := "-"
	if side.Utilisation != nil {
		used = fmt.Sprintf("%.0f%%", *side.Utilisation)
	}
	return append(row, unitsText(side.Response.Mean/rep.UnitS), overhead, used, fmt.Sprint(side.Unfinished))
}

// unitsText writes a mean time; "-" where there is none.
func unitsText(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}
