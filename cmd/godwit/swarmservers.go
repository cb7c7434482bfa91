package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"godwit/lab/table"
)

// A serverRow is what a server did of a class.
type serverRow struct {
	Server string `json:"server"`
	Class  string `json:"class"`
	// Imposed is the rate that it was made to have, in tasks a Unit of the run, its
	// availability included; 0: none was imposed.
	Imposed float64 `json:"imposed"`
	Done    int     `json:"done"`
	// Measured is how many it did in a Unit that it was busy with them, by what their
	// executions took; 0: it did none, "N/A" in tables.
	Measured float64 `json:"measured"`
}

// An upRow is how a server was there.
type upRow struct {
	Server   string  `json:"server"`
	Failures int     `json:"failures"` // times that it went away
	Up       float64 `json:"up"`       // part of the run that it was there, 0 to 1
	// MeanUp and MeanDown are of the periods that ended in the run, in seconds of the
	// scenario's time; 0: none did.
	MeanUp   float64 `json:"mean_up_s"`
	MeanDown float64 `json:"mean_down_s"`
	// Availability is the part of its CPU that it was made to give.
	Availability float64 `json:"availability"`
	// Busy is the part of the time that it was there in which it executed tasks that
	// are done: of a server of several slots up to their number.
	Busy float64 `json:"busy"`
}

// rateTable has the rates of each server and class of the run, in their order: see
// ratedBy.
func rateTable(r *measuredRun, tasks []taskTimes) []serverRow {
	type key struct{ server, class string }
	done, took := map[key]int{}, map[key]float64{}
	for i := range tasks {
		t := &tasks[i]
		if d, ok := t.ratedBy(); ok {
			k := key{string(t.Server), t.Class}
			done[k], took[k] = done[k]+1, took[k]+r.seconds(d)
		}
	}
	var out []serverRow
	for i := range r.Servers {
		s := &r.Servers[i]
		for k, c := range r.Classes {
			row := serverRow{Server: s.Name, Class: c.Name, Done: done[key{string(s.Peer), c.Name}]}
			if k < len(s.Rates) {
				row.Imposed = s.Rates[k] * s.availability()
			}
			if busy := took[key{string(s.Peer), c.Name}]; busy > 0 {
				row.Measured = float64(row.Done) * r.unit().Seconds() / busy
			}
			out = append(out, row)
		}
	}
	return out
}

// ratedBy is the execution that tells of its server's rate; false of a task that moved,
// which no server has done all of, and of one that was begun before its lease, for a
// leader before: see scheduler.Begun.
func (t *taskTimes) ratedBy() (time.Duration, bool) {
	wait, _ := t.communication()
	d, ok := t.execution()
	return d, ok && t.State == taskDone && t.Moves == 0 && wait > 1
}

func (s *measuredServer) availability() float64 {
	if s.Availability == 0 {
		return 1
	}
	return s.Availability
}

// upTable says of each server how it was there.
func upTable(r *measuredRun, tasks []taskTimes) []upRow {
	busy := map[string]time.Duration{}
	for i := range tasks {
		if d, ok := tasks[i].execution(); ok && tasks[i].Moves == 0 {
			busy[string(tasks[i].Server)] += d
		}
	}
	var out []upRow
	for i := range r.Servers {
		s := &r.Servers[i]
		row := upRow{Server: s.Name, Availability: s.availability()}
		up := s.there(r, &row)
		if whole := r.Until.Sub(r.From); whole > 0 {
			row.Up = up.Seconds() / whole.Seconds()
		}
		if up > 0 {
			row.Busy = busy[string(s.Peer)].Seconds() / up.Seconds()
		}
		out = append(out, row)
	}
	return out
}

// there adds up how long a server was there during the run, and fills in its periods.
func (s *measuredServer) there(r *measuredRun, row *upRow) (up time.Duration) {
	var ups, downs []float64
	var gone time.Time // since when; zero: it has been there since the run began, or is
	spans := s.Up
	if spans == nil {
		spans = []upSpan{{From: r.From}}
	}
	for _, u := range spans {
		from, to := later(u.From, r.From), r.Until
		if !u.To.IsZero() && u.To.Before(r.Until) {
			to = u.To
		}
		if !to.After(from) {
			continue
		}
		up += to.Sub(from)
		if !gone.IsZero() {
			downs = append(downs, r.seconds(from.Sub(gone)))
			gone = time.Time{}
		}
		if to.Before(r.Until) {
			ups = append(ups, r.seconds(to.Sub(from)))
			gone = to
			row.Failures++
		}
	}
	row.MeanUp, row.MeanDown = average(ups), average(downs)
	return up
}

// average is 0 of nothing.
func average(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / math.Max(1, float64(len(x)))
}

// printRateTable writes the rates for people: a line a class, for each server what was
// imposed and, behind the slash, measured.
func printRateTable(w io.Writer, r *measuredRun, rows []serverRow) {
	header := "CLASS"
	lines := make([][]string, len(r.Classes))
	for k, c := range r.Classes {
		lines[k] = []string{c.Name}
	}
	for i, s := range r.Servers {
		header += " " + strings.ReplaceAll(s.Name, " ", "_")
		for k := range r.Classes {
			row := &rows[i*len(r.Classes)+k]
			imposed := "-"
			if row.Imposed > 0 {
				imposed = fmt.Sprintf("%.2f", row.Imposed)
			}
			lines[k] = append(lines[k], imposed+"/"+row.measured())
		}
	}
	table.Print(w, header, lines)
}

// measured is the rate as tables have it.
func (s *serverRow) measured() string {
	if s.Measured == 0 {
		return notUsed
	}
	return fmt.Sprintf("%.2f", s.Measured)
}

// notUsed stands for the rate of a server that did no task of a class.
const notUsed = "N/A"

// printUpTable writes how the servers were there, times in units of the run.
func printUpTable(w io.Writer, r *measuredRun, rows []upRow) {
	unit := r.unit().Seconds()
	var lines [][]string
	for _, row := range rows {
		lines = append(lines, []string{row.Server, fmt.Sprintf("%.2f", row.Availability), fmt.Sprintf("%.1f%%", 100*row.Up), fmt.Sprint(row.Failures),
			figure(row.MeanUp / unit), figure(row.MeanDown / unit), fmt.Sprintf("%.1f%%", 100*row.Busy)})
	}
	table.Print(w, "SERVER CPU UP FAILURES MEAN-UP MEAN-DOWN BUSY", lines)
}
