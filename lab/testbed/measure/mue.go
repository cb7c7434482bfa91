package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"godwit/task"
)

// mueOf is the .mue file of the rates: a line a class, in tasks a Unit of the run, a
// number a server. Where a server did no task of a class it has what was imposed, and
// 0 if nothing was. "" without servers or classes.
func mueOf(r *Run, rates []RateRow) string {
	if len(r.Servers) == 0 || len(r.Classes) == 0 {
		return ""
	}
	var out strings.Builder
	for k := range r.Classes {
		for i := range r.Servers {
			if i > 0 {
				out.WriteString(", ")
			}
			s := &rates[i*len(r.Classes)+k]
			rate := s.Measured
			if rate == 0 {
				rate = s.Imposed
			}
			out.WriteString(strconv.FormatFloat(rate, 'g', -1, 64))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// srsIterations is what a task counts for in a .srs file: all of the thesis's have so
// many (Kokaly 2008, section B.3.3).
const srsIterations = 500

// srsOf is the .srs file of the servers: how many minutes of the scenario's time one
// took for a task in the mean, as a loop of srsIterations. A server that did none has
// what its imposed rates say, and is left out if there are none. There are no
// passwords: the field has a dash. "" without servers.
func srsOf(r *Run, tasks []TaskTimes) string {
	done, took := map[task.PeerID]int{}, map[task.PeerID]float64{}
	for i := range tasks {
		t := &tasks[i]
		if d, ok := t.ratedBy(); ok {
			done[t.Server], took[t.Server] = done[t.Server]+1, took[t.Server]+r.Seconds(d)
		}
	}
	var out strings.Builder
	for i := range r.Servers {
		s := &r.Servers[i]
		minutes := took[s.Peer] / 60 / math.Max(1, float64(done[s.Peer]))
		if rate := Average(s.Rates) * s.availability(); minutes == 0 && rate > 0 {
			minutes = r.unit().Minutes() / rate
		}
		if minutes > 0 {
			fmt.Fprintf(&out, "%s; -; %s; %d\n", srsName(s.Name), strconv.FormatFloat(minutes, 'g', -1, 64), srsIterations)
		}
	}
	return out.String()
}

// srsName is a host's name without what ends a field or a line of a .srs file.
func srsName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ';' || c == '\n' || c == '\r' {
			return '_'
		}
		return c
	}, strings.TrimSpace(name))
}
