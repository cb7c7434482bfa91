package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// The lab of Kokaly 2008, appendix B: six machines, the second fast.
const lab6 = `mac1; secret; 1; 500
 mac2 ;secret; 0.51; 500

mac3;secret;1;500
mac4;secret;1;500
mac5;secret;1.0305;500
mac6;secret;1.045;500;
`

// loHiMue is Table 7.12 three times, as printed of a .mue file.
var loHiMue = func() string {
	var b strings.Builder
	for _, row := range []string{"2.20, 7.00, 10.25, 1.00, 5.70, 0.50, 12.00", "1.95, 7.05, 9.78, 0.95, 5.65, 0.56, 11.85",
		"2.00, 7.25, 10.02, 0.98, 5.75, 0.67, 11.80", "2.05, 6.75, 9.99, 1.02, 5.82, 0.49, 12.05"} {
		b.WriteString(row + ", " + row + "," + row + "\r\n")
	}
	return b.String()
}()

func TestReadServers(t *testing.T) {
	got, err := ReadServers("lab.srs", []byte(lab6))
	if err != nil || len(got) != 6 || got[1] != (Server{"mac2", .51, 500}) || got[5].Host != "mac6" {
		t.Fatalf("got %v, %v", got, err)
	}
	// Fig. B.4: of 2 minutes a unit and a minute a job of as many iterations, 2.
	if rate := 2 * got[0].Rate(500); rate != 2 {
		t.Errorf("the rate is %v, want 2", rate)
	}
	if rate := got[0].Rate(1000); rate != 1./8 {
		t.Errorf("twice the iterations: the rate is %v, want 1/8", rate)
	}
}

func TestReadRates(t *testing.T) {
	got, err := ReadRates("lohi.mue", []byte(loHiMue))
	if err != nil || len(got) != 4 || len(got[0]) != 21 || got[3][19] != .49 || got[0][2] != 10.25 ||
		!slices.Equal(got[1][:7], got[1][14:]) {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestBadLab(t *testing.T) {
	servers := func(text string) error { _, err := ReadServers("x", []byte(text)); return err }
	rates := func(text string) error { _, err := ReadRates("x", []byte(text)); return err }
	for _, tt := range []struct {
		err  error
		says string
		line int
	}{
		{servers(""), "no machines", 1},
		{servers("a;b;1;500\na;b;2"), "3 parts", 2},
		{servers("a;b;1;500\n\na;b;2;500"), "twice, first in line 1", 3},
		{servers(";b;1;500"), "0 characters", 1},
		{servers("a;b;0;500"), "minutes", 1},
		{servers("a;b;-1;500"), "minutes", 1},
		{servers("a;b;NaN;500"), "minutes", 1},
		{servers("a;b;1;1e300"), "iterations", 1},
		{servers(strings.Repeat(" ", MaxFile+1)), "at most", 1},
		{rates(" \n"), "no rates", 1},
		{rates("1,2\n1"), "1 rates, and 2", 2},
		{rates("1,x"), `rate 2 is "x"`, 1},
		{rates("1,-1"), "rate 2", 1},
		{rates("1,Inf"), "rate 2", 1},
		{rates(strings.Repeat("1\n", maxClasses+1)), "more than 1000", maxClasses + 1},
	} {
		var e *task.Error
		if !errors.As(tt.err, &e) || !strings.Contains(e.Msg, tt.says) || e.Line != tt.line {
			t.Errorf("got %v, want %q in line %d", tt.err, tt.says, tt.line)
		}
	}
}

func FuzzReadLab(f *testing.F) {
	f.Add([]byte(lab6))
	f.Add([]byte(loHiMue))
	f.Fuzz(func(t *testing.T, text []byte) {
		if servers, err := ReadServers("x", text); err == nil {
			for _, s := range servers {
				if r := s.Rate(1); !(r > 0) || math.IsInf(r, 0) {
					t.Fatalf("%v has the rate %v", s, r)
				}
			}
		}
		if rates, err := ReadRates("x", text); err == nil && len(rates[0]) == 0 {
			t.Fatal("no machines")
		}
	})
}

const hiHiFile = `
machines: {count: 6, up: 50h, down: 2h, days: 40, seed: 3}
placement: [lpas, gcmu, "fcfs:order=idle"]
warmup: 24h
network: {delay: 0s, detect: 0s}
checkpoints: {every: 0s}
workload:
  in_order: true
  redraw: true
  classes:
    - {name: "1", arrival: poisson, interval: 26m40s, work: 1h, law: exponential}
    - {name: "2", arrival: poisson, interval: 13m20s, work: 1h, law: cubed}
rates:
  unit: 1h
  of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]
  availability: [1, 1, 1, .5, .5, .5]
  overhead: 3s
`

func TestMachinesAndRates(t *testing.T) {
	files := func(name string) ([]byte, error) {
		return map[string][]byte{"lab.srs": []byte(lab6), "lohi.mue": []byte(loHiMue)}[name], nil
	}
	e, err := Decode("x.yaml", []byte(hiHiFile), nil, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Base.Rates
	if r == nil || r.Unit != time.Hour || r.Of[1][5] != 8.7 || r.Availability[3] != .5 || r.Overhead != 3*time.Second ||
		len(e.Base.Trace.Hosts) != 6 ||
		!e.Base.Workload.InOrder || !e.Base.Workload.Redraw || e.Base.Workload.Classes[1].WorkLaw != sim.CubedWork {
		t.Fatalf("got %+v, %+v", r, e.Base.Workload)
	}
	grid, err := e.Grid()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range grid {
		report, err := sim.Run(s)
		if err != nil || len(report.Classes) != 2 || report.Failed == 0 || report.Succeeded < 5000 {
			t.Errorf("%s: %v, %+v", s.Placement, err, report)
		}
	}
	unknown := strings.Replace(hiHiFile, "overhead: 3s", "known: false\n  timeout: 3", 1)
	if e, err = Decode("x.yaml", []byte(unknown), nil, nil, files); err != nil || !e.Base.Rates.Measured ||
		e.Base.Rates.Timeout != 3 {
		t.Errorf("rates that are measured, with a time-out: %+v, %v", e.Base.Rates, err)
	}
	if grid, err = e.Grid(); err != nil {
		t.Fatal(err)
	}
	for _, s := range grid { // lost runs and late ones alike come back
		if report, err := sim.Run(s); err != nil || report.Returned == 0 || report.Succeeded < 5000 {
			t.Errorf("%s: %v, %+v", s.Placement, err, report)
		}
	}
	measured := strings.NewReplacer("count: 6", "file: lab.srs", "of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]",
		"iterations: [500, 250]").Replace(hiHiFile)
	if e, err = Decode("x.yaml", []byte(measured), nil, nil, files); err != nil {
		t.Fatal(err)
	}
	if of := e.Base.Rates.Of; math.Abs(of[0][1]-60/.51) > 1e-9 || math.Abs(of[1][0]-480) > 1e-9 ||
		e.Base.Trace.Hosts[1].History.Host != "mac2" {
		t.Errorf("measured rates are %v", of)
	}
}

func TestBadMachinesAndRates(t *testing.T) {
	for _, tt := range []struct{ from, to, says string }{
		{"count: 6, ", "", "either a count or a file"},
		{"down: 2h, ", "", "machines that fail are repaired"},
		{"machines:", "synth: deug\nmachines:", "beside a trace"},
		{"of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]", "overhead: 1s", "given twice"},
		{"  of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]\n", "", "in 0 ways"},
		{"overhead: 3s", "file: x.mue", "in 2 ways"},
		{"of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]", "iterations: [500, 500]", "machines that were measured"},
		{"of: [[2, 2, 2, 2, 2, 2], [1, 20, 3.7, 7.1, 2.4, 8.7]]", "file: x.mue", "no rates"},
		{"[1, 1, 1, .5, .5, .5]", "[1, 1, 1, .5, .5, 5]", "not a number from 0 to 1"},
		{"[1, 20,", "[1, x,", "not a number"},
		{"[1, 20,", "[1, -20,", "not a number"},
		{"[1, 20,", "[20,", "class 1 has rates of 5 hosts"},
		{"unit: 1h", "unit: 0s", "too short"},
	} {
		text := strings.Replace(hiHiFile, tt.from, tt.to, 1)
		e, err := Decode("x.yaml", []byte(text), nil, nil, func(string) ([]byte, error) { return nil, nil })
		if err == nil {
			_, err = e.Grid()
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.to, err, tt.says)
		}
	}
}

// TestMachinesByLaw reads the laws of machines' times up and down.
func TestMachinesByLaw(t *testing.T) {
	text := strings.Replace(hiHiFile, "up: 50h, down: 2h", `up: {mean: 50h, law: "weibull:shape=0.7"}, down: {mean: 2h}`, 1)
	e, err := Decode("x.yaml", []byte(text), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := e.Source.Machines
	if m.Up != 50*time.Hour || m.UpLaw != "weibull:shape=0.7" || m.Down != 2*time.Hour || m.DownLaw != "" {
		t.Errorf("got %+v", m)
	}
	if got, want := e.Base.Trace.Synthetic, "up 50h0m0s (weibull:shape=0.7) and down 2h0m0s (exponential) in the mean, seed 3"; got != want {
		t.Errorf("the machines are labelled %q, want %q", got, want)
	}
}

// machineTrace has the named hosts. The first is down from hour 1 to hour 2.
func machineTrace(t *testing.T, names ...string) *trace.Trace {
	out := &trace.Trace{Name: "edited", Start: machineStart, End: machineStart.Add(960 * time.Hour)}
	for i, name := range names {
		h := &trace.History{Host: name}
		if err := h.Append(out.Start, trace.Available, 1); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := errors.Join(h.Append(out.Start.Add(time.Hour), trace.Unavailable, 0),
				h.Append(out.Start.Add(2*time.Hour), trace.Available, 1)); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(out.End)
		out.Hosts = append(out.Hosts, trace.Host{History: h})
	}
	return out
}

// TestMachinesOfTrace reads times up and down from a file whose hosts are in another order: rates belong to machines
// by name.
func TestMachinesOfTrace(t *testing.T) {
	text := strings.Replace(hiHiFile, "up: 50h, down: 2h, days: 40, seed: 3", "trace: failures.csv", 1)
	e, err := Decode("x.yaml", []byte(text), func(string) (*trace.Trace, error) {
		return machineTrace(t, "M3", "M1", "M2", "M4", "M5", "M6"), nil
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range e.Base.Trace.Hosts {
		got = append(got, fmt.Sprint(h.History.Host, " ", h.History.Len()))
	}
	if want := []string{"M1 1", "M2 1", "M3 3", "M4 1", "M5 1", "M6 1"}; !slices.Equal(got, want) {
		t.Errorf("got hosts and spells %q, want %q", got, want)
	}
	if grid, err := e.Grid(); err != nil || len(grid) != 3 {
		t.Errorf("%d runs, %v", len(grid), err)
	}
}

func TestBadTimesOfMachines(t *testing.T) {
	for _, tt := range []struct{ machines, says string }{
		{"{count: 6, up: {law: weibull}, down: 2h}", "x.yaml:2:26: machines.up has no mean"},
		{"{count: 6, up: {mean: 50h, law: gauss}, down: 2h}", `machines.up.law: there is no law "gauss"`},
		{"{count: 6, up: {mean: 50h, shape: 2}, down: 2h}", `x.yaml:2:38: unknown key "shape"`},
		{"{count: 6, up: {mean: 50h}}", "machines that fail are repaired"},
		{"{count: 6, trace: f.csv, down: 2h}", "x.yaml:2:42: the times up and down are those of `trace`"},
		{"{count: 6, trace: f.csv, seed: 2}", "the times up and down are those of `trace`"},
		{"{count: 2, trace: f.csv}", `host "M3" is none of the machines, which are M1 to M2`},
		{"{count: 4, trace: f.csv}", `it has no host "M4"`},
		{"{count: 6, trace: absent.csv}", "x.yaml:2:29: absent.csv: no such file"},
	} {
		text := strings.Replace(hiHiFile, "{count: 6, up: 50h, down: 2h, days: 40, seed: 3}", tt.machines, 1)
		_, err := Decode("x.yaml", []byte(text), func(file string) (*trace.Trace, error) {
			if file == "absent.csv" {
				return nil, errors.New("absent.csv: no such file")
			}
			return machineTrace(t, "M1", "M2", "M3"), nil
		}, nil, nil)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.machines, err, tt.says)
		}
	}
}
