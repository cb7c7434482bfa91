package measure

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/sim/scenario"
	"godwit/task"
)

var rewriteExports = flag.Bool("rewrite-exports", false, "write the exports' golden files anew")

// smallRun is a run of ten seconds of nodes, a minute of the scenario's, with one of
// everything: classes, servers that fail, tasks that are lost, moved, late and failed,
// names that a spreadsheet would take for formulas.
func smallRun() *Run {
	const done = "completed"
	job := func(id task.JobID, class string, at float64, tasks ...message.TaskStatus) Job {
		st := message.JobStatus{ID: id, Name: "arrival-" + string(id), Submitted: sec(at),
			Tasks: message.TaskCounts{Total: uint64(len(tasks))}, TasksList: tasks}
		return Job{Class: class, Work: sec(6).Sub(sec(0)), Status: st}
	}
	one := func(state string, attempts ...message.AttemptStatus) message.TaskStatus {
		return message.TaskStatus{State: state, Attempts: attempts}
	}
	placed := lease("w", 1.25, 1.5, 2.5, done)
	placed.Reason = "the fastest, \"idle\" member"
	lost := lease("x", 2, 0, 4, "lost")
	lost.Reason = "=HYPERLINK(\"it, too\")"
	return &Run{
		Policy: "lpas", Seed: 7, From: sec(0), Until: sec(10), Scale: 6, Unit: sec(12).Sub(sec(0)),
		Classes: []Class{{Name: "=short", Arrival: 1, Work: 6}, {Name: "long", Arrival: .5, Work: 6}},
		Servers: []Server{
			{Name: "M1", Peer: "w", Rates: []float64{2, 1}},
			{Name: "M2", Peer: "x", Rates: []float64{4, .5}, Availability: .5,
				Up: []Span{{From: sec(-1), To: sec(4)}, {From: sec(6)}}},
			{Name: "M3; spare", Peer: "y", Rates: []float64{0, 3}},
		},
		Jobs: []Job{
			job("a", "=short", 1, one("done", placed)),
			job("b", "=short", 1.5, one("done", lost, lease("w", 5, 5.125, 6, done))),
			job("c", "long", 2, one("done", moved(lease("x", 6, 6.25, 7, ""), "w"), lease("w", 7, 7.1, 8, done)),
				message.TaskStatus{Index: 1, State: "failed", Attempts: []message.AttemptStatus{lease("w", 3, 3.5, 4,
					"timed-out")}}),
			job("d", "+other", 9, one("running", lease("w", 9.5, 0, 0, ""))),
		},
		Faults: []Fault{{At: sec(9.25), What: "handing in a job: connection refused"}},
	}
}

func TestWriteExports(t *testing.T) {
	dir := t.TempDir()
	r := smallRun()
	tasks, err := Tasks(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := Export(dir, r, tasks); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{exportJobs, exportClasses, exportRates, exportSystem, exportServers, exportEvents,
		exportMue, exportSrs} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "exports", name)
		if *rewriteExports {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; -rewrite-exports writes it anew\n got:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

// TestExportsAreTables: every line of every table ends with CRLF and has as many fields
// as its header, no field begins as a formula does, and the parts of each task add up
// as they are written.
func TestExportsAreTables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		r := drawRun(rt)
		for i := range r.Jobs {
			r.Jobs[i].Status.Name = rapid.String().Draw(rt, "name")
		}
		tasks, err := Tasks(r)
		if err != nil {
			rt.Fatal(err)
		}
		if err := Export(dir, r, tasks); err != nil {
			rt.Fatal(err)
		}
		for _, name := range []string{exportJobs, exportClasses, exportRates, exportSystem, exportServers, exportEvents} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				rt.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // fails where lengths differ
			if err != nil || !bytes.HasSuffix(text, []byte("\r\n")) {
				rt.Fatalf("%s: %v", name, err)
			}
			for _, row := range rows {
				for _, cell := range row {
					if _, err := strconv.ParseFloat(cell, 64); err != nil &&
						strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
						rt.Fatalf("%s: %q", name, cell)
					}
				}
			}
			if name == exportJobs {
				sumRows(rt, rows)
			}
		}
	})
}

// sumRows adds up the parts of each task as they are written, in microseconds.
func sumRows(t *rapid.T, rows [][]string) {
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		var sum int64
		whole := true
		for _, name := range []string{"waiting_s", "communication_s", "execution_s", "response_s"} {
			text := row[column[name]]
			whole = whole && text != ""
			us, _ := strconv.ParseInt(strings.ReplaceAll(text, ".", ""), 10, 64)
			if name == "response_s" {
				us = -us
			}
			sum += us
		}
		if whole && sum != 0 {
			t.Fatalf("the parts of %v are %d us more than its response", row, sum)
		}
	}
}

// TestRatesRoundTrip: scenarios read the rates and servers that a run measured.
func TestRatesRoundTrip(t *testing.T) {
	r := smallRun()
	tasks, err := Tasks(r)
	if err != nil {
		t.Fatal(err)
	}
	rates := Rates(r, tasks)
	read, err := scenario.ReadRates(exportMue, []byte(mueOf(r, rates)))
	if err != nil {
		t.Fatal(err)
	}
	// M1 did two short tasks in 11.25 s, and no long one by itself; M2 has half of its
	// CPU; M3 cannot do short ones.
	want := [][]float64{{2 * 12 / 11.25, 2, 0}, {1, .25, 3}}
	for k := range want {
		for i := range want[k] {
			if math.Abs(read[k][i]-want[k][i]) > 1e-12 {
				t.Errorf("class %d on server %d: %v, want %v", k, i, read[k][i], want[k][i])
			}
		}
	}
	servers, err := scenario.ReadServers(exportSrs, []byte(srsOf(r, tasks)))
	if err != nil || len(servers) != 3 {
		t.Fatalf("%d servers, %v", len(servers), err)
	}
	// In minutes: M1 11.25/2 s a task, M2 and M3 by what was imposed, 12 s by 1.125 and 1.5.
	for i, want := range []float64{11.25 / 2 / 60, 12 / 1.125 / 60, 12 / 1.5 / 60} {
		if s := servers[i]; math.Abs(s.Minutes-want) > 1e-12 || s.Iterations != srsIterations {
			t.Errorf("%+v, want %v minutes", s, want)
		}
	}
	if servers[2].Host != "M3_ spare" {
		t.Errorf("a host is called %q", servers[2].Host)
	}
}

// TestTables: what is known of a class, a rate and a server, in numbers.
func TestTables(t *testing.T) {
	r := smallRun()
	tasks, err := Tasks(r)
	if err != nil {
		t.Fatal(err)
	}
	rows := Classes(r, tasks)
	if got := []string{rows[0].Class, rows[1].Class, rows[2].Class, rows[3].Class}; strings.Join(got,
		" ") != "=short long +other "+everyClass {
		t.Errorf("classes %v", got)
	}
	short, all := rows[0], rows[3]
	// Two tasks of 1.5 and 4.5 s, at six times the speed; 5 units of 12 s in the run.
	if short.Response.Mean != 18 || short.Waiting.Mean+short.Communication.Mean+short.Execution.Mean != 18 ||
		short.Rate != .4 || short.DesiredRate != 1 || short.Lost != 12 {
		t.Errorf("short tasks: %+v", short)
	}
	if all.Arrived != 5 || all.Done != 3 || all.Failed != 1 || all.TimedOut != 1 || all.Moves != 1 || all.Rate != 1 ||
		all.DesiredRate != 1.5 || all.Throughput != .6 {
		t.Errorf("all tasks: %+v", all)
	}
	ups := Servers(r, tasks)
	if u := ups[1]; u.Failures != 1 || u.Up != .8 || u.MeanUp != 24 || u.MeanDown != 12 || u.Availability != .5 {
		t.Errorf("a server that failed: %+v", u)
	}
	if u := ups[0]; u.Failures != 0 || u.Up != 1 || u.MeanUp != 0 || u.Busy != .2375 {
		t.Errorf("a server that did not: %+v", u)
	}
	var out strings.Builder
	PrintClasses(&out, r, rows)
	PrintRates(&out, r, Rates(r, tasks))
	PrintServers(&out, r, ups)
	for _, want := range []string{"2.00/2.13", "0.25/N/A", "-/N/A", "80.0%", "1.500±"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if b, err := json.Marshal(Classes(&Run{}, nil)); err != nil ||
		!strings.Contains(string(b), `"response_s":{"n":0,"mean":null,"half":null}`) {
		t.Errorf("of nothing: %s, %v", b, err)
	}
}

// TestMeanOf: the mean is of all values, and the interval of few of their own spread,
// of many of that of ten batches' means.
func TestMeanOf(t *testing.T) {
	few := batchesOf([]float64{1, 3})
	if few.Mean != 2 || math.Abs(few.Half-12.706) > .001 { // t(0.975, 1) = 12.706, s/sqrt(2) = 1
		t.Errorf("of two: %+v", few)
	}
	var many []float64 // ten batches with means 0.5, 2.5, ... 18.5
	for i := range 20 {
		many = append(many, float64(i))
	}
	// Means 2 apart: s = 2 * sqrt(55/6), t(0.975, 9) = 2.2622.
	if m := batchesOf(many); m.Mean != 9.5 || math.Abs(m.Half-2.2622*2*math.Sqrt(55./6)/math.Sqrt(10)) > .001 {
		t.Errorf("of twenty: %+v", m)
	}
	if m := batchesOf(nil); m.N != 0 || !math.IsNaN(m.Mean) {
		t.Errorf("of none: %+v", m)
	}
}
