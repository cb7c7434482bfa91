package measure

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/lab/testbed/clock"
)

// A RateRow is what a server did of a class.
type RateRow struct {
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

// An ServerRow is how a server was there.
type ServerRow struct {
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

// Rates has the rates of each server and class of the run, in their order: see
// ratedBy.
func Rates(r *Run, tasks []TaskTimes) []RateRow {
	type key struct{ server, class string }
	done, took := map[key]int{}, map[key]float64{}
	for i := range tasks {
		t := &tasks[i]
		if d, ok := t.ratedBy(); ok {
			k := key{string(t.Server), t.Class}
			done[k], took[k] = done[k]+1, took[k]+r.Seconds(d)
		}
	}
	var out []RateRow
	for i := range r.Servers {
		s := &r.Servers[i]
		for k, c := range r.Classes {
			row := RateRow{Server: s.Name, Class: c.Name, Done: done[key{string(s.Peer), c.Name}]}
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
// leader before: see message.Begun.
func (t *TaskTimes) ratedBy() (time.Duration, bool) {
	wait, _ := t.communication()
	d, ok := t.execution()
	return d, ok && t.State == TaskDone && t.Moves == 0 && wait > 1
}

func (s *Server) availability() float64 {
	if s.Availability == 0 {
		return 1
	}
	return s.Availability
}

// Servers says of each server how it was there.
func Servers(r *Run, tasks []TaskTimes) []ServerRow {
	busy := map[string]time.Duration{}
	for i := range tasks {
		if d, ok := tasks[i].execution(); ok && tasks[i].Moves == 0 {
			busy[string(tasks[i].Server)] += d
		}
	}
	var out []ServerRow
	for i := range r.Servers {
		s := &r.Servers[i]
		row := ServerRow{Server: s.Name, Availability: s.availability()}
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
func (s *Server) there(r *Run, row *ServerRow) (up time.Duration) {
	var ups, downs []float64
	var gone time.Time // since when; zero: it has been there since the run began, or is
	spans := s.Up
	if spans == nil {
		spans = []Span{{From: r.From}}
	}
	for _, u := range spans {
		from, to := clock.Later(u.From, r.From), r.Until
		if !u.To.IsZero() && u.To.Before(r.Until) {
			to = u.To
		}
		if !to.After(from) {
			continue
		}
		up += to.Sub(from)
		if !gone.IsZero() {
			downs = append(downs, r.Seconds(from.Sub(gone)))
			gone = time.Time{}
		}
		if to.Before(r.Until) {
			ups = append(ups, r.Seconds(to.Sub(from)))
			gone = to
			row.Failures++
		}
	}
	row.MeanUp, row.MeanDown = Average(ups), Average(downs)
	return up
}

// Average is 0 of nothing.
func Average(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / math.Max(1, float64(len(x)))
}

// PrintRates writes the rates for people: a line a class, for each server what was
// imposed and, behind the slash, measured.
func PrintRates(w io.Writer, r *Run, rows []RateRow) {
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
func (s *RateRow) measured() string {
	if s.Measured == 0 {
		return notUsed
	}
	return fmt.Sprintf("%.2f", s.Measured)
}

// notUsed stands for the rate of a server that did no task of a class.
const notUsed = "N/A"

// PrintServers writes how the servers were there, times in units of the run.
func PrintServers(w io.Writer, r *Run, rows []ServerRow) {
	unit := r.unit().Seconds()
	var lines [][]string
	for _, row := range rows {
		lines = append(lines, []string{row.Server, fmt.Sprintf("%.2f", row.Availability), fmt.Sprintf("%.1f%%", 100*row.Up),
			fmt.Sprint(row.Failures),
			figure(row.MeanUp / unit), figure(row.MeanDown / unit), fmt.Sprintf("%.1f%%", 100*row.Busy)})
	}
	table.Print(w, "SERVER CPU UP FAILURES MEAN-UP MEAN-DOWN BUSY", lines)
}
