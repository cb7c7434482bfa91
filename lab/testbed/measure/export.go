package measure

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"godwit/lab/files"
	"godwit/lab/table"
	"godwit/task"
)

// The files that a run is written to. The first five open in a spreadsheet (RFC
// 4180); the last two are what the McMaster testbed calls its rates and servers, and
// scenarios read (sim/scenario).
const (
	exportJobs    = "jobs.csv"    // a line a task
	exportClasses = "classes.csv" // a line a class
	exportRates   = "rates.csv"   // a line a server and class
	exportSystem  = "system.csv"  // a line a figure of the whole run
	exportServers = "servers.csv" // a line a server
	exportEvents  = "events.csv"  // a line a thing that happened
	exportMue     = "measured.mue"
	exportSrs     = "measured.srs"
)

// Export writes what a run came to into dir, which is there; tasks are
// Tasks's. Times are seconds of the scenario's time since the run's From, with
// six decimals, and empty where there is none.
func Export(dir string, r *Run, tasks []TaskTimes) error {
	classes, rates, ups := Classes(r, tasks), Rates(r, tasks), Servers(r, tasks)
	for _, f := range []struct {
		name string
		rows [][]string
	}{
		{exportJobs, r.jobLines(tasks)},
		{exportClasses, classLines(classes)},
		{exportRates, rateLines(rates)},
		{exportSystem, r.systemLines(classes, ups)},
		{exportServers, upLines(ups)},
		{exportEvents, r.eventLines(eventsOf(r, tasks))},
	} {
		if err := files.Write(filepath.Join(dir, f.name), func(w io.Writer) error {
			return writeCSV(w,
				f.rows)
		}); err != nil {
			return fmt.Errorf("writing %s: %w", f.name, err)
		}
	}
	for name, text := range map[string]string{exportMue: mueOf(r, rates), exportSrs: srsOf(r, tasks)} {
		if text == "" {
			continue
		}
		if err := files.Write(filepath.Join(dir, name), func(w io.Writer) error {
			_,
				err := io.WriteString(w, text)
			return err
		}); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// writeCSV writes rows with the line ends of RFC 4180, section 2.
func writeCSV(w io.Writer, rows [][]string) error {
	out := table.NewCSV(w, true)
	for _, row := range rows {
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// decimals is a number of a cell; empty if it is none.
func decimals(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', 6, 64)
}

// micros is an instant of the scenario's time since From, in whole microseconds, of
// which jobs.csv has both the instants and their differences: these add up to the
// last decimal.
func (r *Run) micros(at time.Time) int64 {
	return int64(math.Round(at.Sub(r.From).Seconds() * r.Scale * 1e6))
}

// microsText writes whole microseconds as seconds.
func microsText(us int64) string {
	sign := ""
	if us < 0 {
		sign, us = "-", -us
	}
	return fmt.Sprintf("%s%d.%06d", sign, us/1e6, us%1e6)
}

// instant is a cell of a time; empty if it is none.
func (r *Run) instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return microsText(r.micros(at))
}

// part is a cell of the time between two; empty if one of them is not known.
func (r *Run) part(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return microsText(r.micros(to) - r.micros(from))
}

// jobLines are those of jobs.csv.
func (r *Run) jobLines(tasks []TaskTimes) [][]string {
	names := r.serverNames()
	rows := [][]string{{"job", "task", "name", "class", "server", "submitted_s", "sent_s", "started_s", "done_s",
		"waiting_s", "communication_s", "execution_s", "response_s", "work_s", "status", "attempts", "timed_out", "moves",
		"lost_s"}}
	for i := range tasks {
		t := &tasks[i]
		rows = append(rows, []string{
			string(t.Job), strconv.FormatUint(t.Task, 10), t.Name, t.Class,
			names(t.Server),
			r.instant(t.Submitted), r.instant(t.Sent), r.instant(t.Started), r.instant(t.Done),
			r.part(t.Submitted, t.Sent), r.part(t.Sent, t.Started), r.part(t.Started, t.Done), r.part(t.Submitted, t.Done),
			decimals(t.Work.Seconds()), t.State, strconv.Itoa(t.Attempts), strconv.Itoa(t.TimedOut), strconv.Itoa(t.Moves),
			decimals(r.Seconds(t.Lost)),
		})
	}
	return rows
}

// serverNames returns what names a peer: the run's name of it, or its ID.
func (r *Run) serverNames() func(task.PeerID) string {
	names := map[task.PeerID]string{}
	for _, s := range r.Servers {
		names[s.Peer] = s.Name
	}
	return func(p task.PeerID) string {
		if name := names[p]; name != "" {
			return name
		}
		return string(p)
	}
}

// classLines are those of classes.csv.
func classLines(classes []ClassRow) [][]string {
	rows := [][]string{{"class", "arrived", "done", "failed", "timed_out", "moves", "desired_rate", "rate", "throughput",
		"desired_work_s", "work_s",
		"waiting_s", "waiting_half_s", "communication_s", "communication_half_s", "execution_s", "execution_half_s",
		"response_s", "response_half_s", "lost_s"}}
	for _, c := range classes {
		row := []string{c.Class, strconv.Itoa(c.Arrived), strconv.Itoa(c.Done), strconv.Itoa(c.Failed),
			strconv.Itoa(c.TimedOut), strconv.Itoa(c.Moves),
			decimals(c.DesiredRate), decimals(c.Rate), decimals(c.Throughput), decimals(c.DesiredWork), decimals(c.Work)}
		for _, m := range []BatchMean{c.Waiting, c.Communication, c.Execution, c.Response} {
			row = append(row, decimals(m.Mean), decimals(m.Half))
		}
		rows = append(rows, append(row, decimals(c.Lost)))
	}
	return rows
}

// rateLines are those of rates.csv.
func rateLines(rates []RateRow) [][]string {
	rows := [][]string{{"server", "class", "imposed", "measured", "done"}}
	for _, s := range rates {
		measured := notUsed
		if s.Measured > 0 {
			measured = decimals(s.Measured)
		}
		rows = append(rows, []string{s.Server, s.Class, decimals(s.Imposed), measured,
			strconv.Itoa(s.Done)})
	}
	return rows
}

// upLines are those of servers.csv.
func upLines(ups []ServerRow) [][]string {
	rows := [][]string{{"server", "availability", "up", "failures", "mean_up_s", "mean_down_s", "busy"}}
	for _, u := range ups {
		rows = append(rows, []string{u.Server, decimals(u.Availability), decimals(u.Up), strconv.Itoa(u.Failures),
			decimals(u.MeanUp), decimals(u.MeanDown), decimals(u.Busy)})
	}
	return rows
}

// systemLines are those of system.csv.
func (r *Run) systemLines(classes []ClassRow, ups []ServerRow) [][]string {
	all := classes[len(classes)-1]
	failures, up := 0, 0.
	for _, u := range ups {
		failures, up = failures+u.Failures, up+u.Up/float64(len(ups))
	}
	return [][]string{
		{"figure", "value"},
		{"policy", r.Policy},
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"begun", plainTime(r.From).Format(time.RFC3339Nano)},
		{"length_s", decimals(r.length())},
		{"unit_s", decimals(r.unit().Seconds())},
		{"scale", decimals(r.Scale)},
		{"servers", strconv.Itoa(len(r.Servers))},
		{"failures", strconv.Itoa(failures)},
		{"up", decimals(up)},
		{"arrived", strconv.Itoa(all.Arrived)},
		{"done", strconv.Itoa(all.Done)},
		{"failed", strconv.Itoa(all.Failed)},
		{"timed_out", strconv.Itoa(all.TimedOut)},
		{"rate", decimals(all.Rate)},
		{"throughput", decimals(all.Throughput)},
		{"waiting_s", decimals(all.Waiting.Mean)},
		{"communication_s", decimals(all.Communication.Mean)},
		{"execution_s", decimals(all.Execution.Mean)},
		{"response_s", decimals(all.Response.Mean)},
		{"response_half_s", decimals(all.Response.Half)},
		{"lost_s", decimals(all.Lost)},
		{"faults", strconv.Itoa(len(r.Faults))},
	}
}
