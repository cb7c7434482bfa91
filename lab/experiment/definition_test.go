package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"godwit/task"
)

// worked is the example of section 4.4.6 of Kokaly 2008, where half of machine 2 is available.
const worked = `machines: {count: 2, days: 1}
end: 100m
placement: [lpas, "fcfs:order=idle"]
workload:
  classes:
    - {name: a, work: 1m, law: exponential, arrival: poisson, interval: 30s}
    - {name: b, work: 1m, arrival: poisson, interval: 40s}
rates:
  unit: 1m
  of: [[9, 5], [2, 1]]
  availability: [1, 0.5]
`

func TestDecode(t *testing.T) {
	d, err := Decode(Source{Scenario: worked})
	if err != nil {
		t.Fatal(err)
	}
	if d.UnitS != 60 || d.Length != 100 || !slices.Equal(d.Policies, []string{"lpas", "fcfs:order=idle"}) {
		t.Errorf("got a unit of %v s, a length of %v, policies %q", d.UnitS, d.Length, d.Policies)
	}
	if len(d.Classes) != 2 || d.Classes[1] != (Class{Class: "b", Arrival: 1.5}) {
		t.Errorf("got classes %+v", d.Classes)
	}
	if len(d.Servers) != 2 || d.Servers[1].Availability != .5 || !slices.Equal(d.Servers[1].Rates, []float64{5, 1}) {
		t.Errorf("got servers %+v", d.Servers)
	}
}

// TestFilesOfScenario reads the times up and down that are sent with the scenario.
func TestFilesOfScenario(t *testing.T) {
	text := strings.Replace(worked, "count: 2, days: 1", "count: 2, trace: f.csv", 1)
	times := "# end: 1970-01-01T02:00:00Z\nhost,start_s,end_s\nM1,0,7200\nM2,600,1200\nM2,1800,7200\n"
	d, err := Decode(Source{Scenario: text, Files: map[string]string{"f.csv": times}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Servers[0].Failures != 0 || d.Servers[1].Failures != 1 {
		t.Errorf("got servers %+v, want a failure of the second", d.Servers)
	}
}

func TestBadDefinitions(t *testing.T) {
	for _, tt := range []struct{ from, to, says string }{
		{"law: exponential", "laww: exponential", `x.yaml:6:27: unknown key "laww"`},
		{"[2, 1]]", "[0, 0]]", `x.yaml:10:16: no machine serves class "b"`},
		{"[1, 0.5]", "[0, 0]", `x.yaml:10:8: no machine serves class "a"`},
		{"rates:\n  unit: 1m\n  of: [[9, 5], [2, 1]]\n  availability: [1, 0.5]\n", "", "x.yaml:1:1: the scenario has no rates"},
		{"end: 100m\n", "", "x.yaml:1:1: the scenario has no end"},
		{"end: 100m\n", "end: 100m\nseeds: 3\n", "x.yaml:3:8: an experiment has a run of each policy"},
		{"arrival: poisson, interval: 30s", "arrival: saturated", `x.yaml:6:7: class "a" has no rate of arrival`},
		{"count: 2, days: 1", "count: 2, trace: f.csv", `the file "f.csv" was not sent`},
		{"count: 2", "file: lab.srs", `the file "lab.srs" was not sent`},
		{"  classes:", "  log: jobs.swf\n  classes:", "leave the log out"},
		{"days: 1", "days: 3000, up: 1s, down: 1s", "machines: "},
		{"lpas", "best", `there is no policy "best"`},
		{worked, "", "x.yaml:1:1: the file is empty"},
		{worked, strings.Repeat("#", MaxScenario+1), "1048577 bytes of the scenario"},
	} {
		_, err := Decode(Source{Name: "x.yaml", Scenario: strings.Replace(worked, tt.from, tt.to, 1)})
		var in *task.Error
		if err == nil || !errors.As(err, &in) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%.40q: got %v, want %q", tt.to, err, tt.says)
		}
	}
	for _, name := range []string{"../f.csv", "/etc/passwd", ".hidden", "a\\b", scenarioFile, strings.Repeat("x", MaxName+1)} {
		if _, err := Decode(Source{Scenario: worked, Files: map[string]string{name: ""}}); err == nil {
			t.Errorf("a file named %.20q was taken", name)
		}
	}
	if _, err := Decode(Source{Scenario: worked, Files: map[string]string{"a": strings.Repeat("x", MaxFileSize+1)}}); err == nil {
		t.Error("files of more bytes than there can be were taken")
	}
}

// TestSolve solves the worked example, and experiment 4 of the thesis.
func TestSolve(t *testing.T) {
	d, err := Decode(Source{Scenario: worked})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Solve()
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-4 }
	if !near(a.Lambda, 46./35) || !near(a.Load, 35./46) || !near(a.Share[0][0], .0143) || !near(a.Share[1][0], .9857) ||
		!near(a.Share[0][1], .5) || !near(a.Servers[1].Given, .5) {
		t.Errorf("got %+v", a)
	}
	for k, c := range a.Classes {
		if !near(c.Capacity, a.Lambda*d.Classes[k].Arrival) {
			t.Errorf("class %s has the capacity %v for %v", c.Class, c.Capacity, c.Arrival)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "scenarios", "mgst4.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if d, err = Decode(Source{Scenario: string(text)}); err != nil {
		t.Fatal(err)
	}
	if a, err = d.Solve(); err != nil || math.Abs(a.Load-.673) > 5e-4 || math.Abs(a.Share[3][1]-.936) > 5e-4 {
		t.Errorf("experiment 4: %+v, %v; want a load of .673 and .936 of machine 2 for class 4", a, err)
	}
}

// TestSolveWithoutSolution has no class that arrives.
func TestSolveWithoutSolution(t *testing.T) {
	text := strings.NewReplacer("arrival: poisson, interval: 30s", "arrival: times, times: [200m]",
		"arrival: poisson, interval: 40s", "arrival: times, times: [300m]").Replace(worked)
	d, err := Decode(Source{Scenario: text})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := d.Solve(); !errors.Is(err, ErrNoSolution) || !strings.Contains(err.Error(), "no task of any class arrives") {
		t.Errorf("got %v, %v", a, err)
	}
	d.Classes[0].Arrival = 1
	d.Servers[0].Rates[0], d.Servers[1].Rates[0] = 0, 0
	d.Classes[1].Arrival = 1
	if a, err := d.Solve(); !errors.Is(err, ErrNoSolution) || !strings.Contains(err.Error(), `no server executes class "a"`) {
		t.Errorf("got %v, %v", a, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(worked, "host,start_s,end_s\nM1,0,7200\n")
	f.Add(strings.Replace(worked, "days: 1", "trace: f", 1), "host,start_s,end_s\nM1,0,7200\nM2,0,60\n")
	f.Fuzz(func(t *testing.T, text, file string) {
		if strings.Contains(text, "synth") || strings.Contains(text, "up") {
			t.Skip("making hosts takes long")
		}
		d, err := Decode(Source{Scenario: text, Files: map[string]string{"f": file}})
		if err != nil {
			return
		}
		if len(d.Policies) == 0 || len(d.Classes) == 0 || len(d.Servers) == 0 || !(d.Length > 0) {
			t.Fatalf("an experiment without policies, classes, servers or length: %+v", d)
		}
		if a, err := d.Solve(); err == nil && !(a.Lambda > 0) {
			t.Fatalf("lambda is %v", a.Lambda)
		}
	})
}
