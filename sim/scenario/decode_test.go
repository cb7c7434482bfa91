package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

const full = `# everything that a file may say
trace: {file: lab.csv, first: 2}
assume: user-present
start: 24h
days: 2
warmup: 12h
placement: [fcfs, "fcfspp:t=0.6", oracle]
migration: [none, pspp]
fairness: [sep, "weighted:guard=gate"]
chunking: factoring
predictor: tde:n=5
workload:
  classes:
    - {name: long, arrival: saturated, work: 10m, memory: 256MiB, state: 16MiB, from: 1h, to: 30h}
    - {arrival: poisson, interval: 90s, work: 1h, law: exponential, tasks: 4}
    - arrival: times
      times: [0s, 1h, 1h]
      work: 5m
      law: uniform
  log: jobs.swf
  log_from: 1h
  requeue: false
hosts: {slots: 4, memory: 8GiB, ahead: 2, sharing: share, speeds: traced, owner: kill, grace: 0s}
network: {delay: 40ms, upload: 1MiB, download: 10MB, detect: 30s}
checkpoints: {every: 5m, pause: 100ms, away: false}
paper: true
scan_all: true
seeds: [7, 3]
`

func lab() *trace.Trace {
	t := &trace.Trace{Name: "lab", Start: time.Unix(0, 0).UTC(), End: time.Unix(0, 0).UTC().Add(96 * time.Hour)}
	for i := range 3 {
		h := &trace.History{Host: fmt.Sprint("h", i)}
		if err := h.Append(t.Start, trace.Available, 1); err != nil {
			panic(err)
		}
		h.Extend(t.End)
		t.Hosts = append(t.Hosts, trace.Host{History: h})
	}
	return t
}

func openLab(file string) (*trace.Trace, error) {
	if file != "lab.csv" {
		return nil, fmt.Errorf("%s: no such file", file)
	}
	return lab(), nil
}

func openJobs(file string) (*trace.Workload, error) {
	if file != "jobs.swf" {
		return nil, fmt.Errorf("%s: no such file", file)
	}
	return &trace.Workload{Name: "jobs"}, nil
}

func TestDecode(t *testing.T) {
	e, err := Decode("x.yaml", []byte(full), openLab, openJobs, openNothing)
	if err != nil {
		t.Fatal(err)
	}
	start := lab().Start.Add(24 * time.Hour)
	want := sim.Scenario{
		Trace: e.Base.Trace, Start: start, End: start.Add(48 * time.Hour), Warmup: 12 * time.Hour, Predictor: "tde:n=5",
		Workload: sim.Workload{
			Classes: []sim.Class{
				{Name: "long", Work: 10 * time.Minute, Memory: 256 << 20, State: 16 << 20, From: time.Hour, To: 30 * time.Hour},
				{Name: "2", Arrival: sim.Poisson, Interval: 90 * time.Second, Work: time.Hour, WorkLaw: sim.Exponential, Tasks: 4},
				{Name: "3", Arrival: sim.AtTimes, Times: []time.Duration{0, time.Hour, time.Hour}, Work: 5 * time.Minute,
					WorkLaw: sim.UniformWork},
			},
			Log: &trace.Workload{Name: "jobs"}, LogFrom: 3600,
		},
		Hosts: sim.HostRules{Slots: 4, Memory: 8 << 30, Ahead: 2, Sharing: sim.Share, Speeds: sim.Traced,
			Owner: sim.Kill},
		Network:     sim.Network{Delay: 40 * time.Millisecond, Upload: 1 << 20, Download: 1e7, Detect: 30 * time.Second},
		Checkpoints: sim.Checkpoints{Every: 5 * time.Minute, Pause: 100 * time.Millisecond},
		Paper:       true, ScanAll: true,
	}
	if !reflect.DeepEqual(e.Base, want) {
		t.Errorf("got  %+v\nwant %+v", e.Base, want)
	}
	if n := len(e.Base.Trace.Hosts); n != 2 || e.Source.Assume != trace.UserPresent {
		t.Errorf("%d hosts, %v where nobody looked", n, e.Source.Assume)
	}
	got := fmt.Sprint(e.Placements, e.Migrations, e.Seeds)
	if want := "[fcfs fcfspp:t=0.6 oracle] [none pspp] [7 3]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const work = "\nworkload: {classes: [{work: 10m}]}\n"

func TestGrid(t *testing.T) {
	e, err := Decode("x.yaml", []byte("synth: {kind: office, hosts: 3, days: 2, resample: true}\nplacement: [fcfs, "+
		"random]\nmigration: [none, pspp]\nseeds: 2"+work), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := e.Grid()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range grid {
		got = append(got, fmt.Sprint(s.Placement, "/", s.Migration, "/", s.Seed))
	}
	want := "fcfs/none/1 fcfs/none/2 fcfs/pspp/1 fcfs/pspp/2 random/none/1 random/none/2 random/pspp/1 random/pspp/2"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s", s)
	}
	if grid[0].Trace != grid[2].Trace {
		t.Error("runs of one seed have traces of their own")
	}
	if a, b := grid[0].Trace.Synthetic, grid[1].Trace.Synthetic; !strings.Contains(a, "seed 1") ||
		!strings.Contains(b, "seed 2") {
		t.Errorf("resampled as %s and %s", a, b)
	}
	if grid[0].Workload.Requeue != true || grid[0].Hosts.Grace != 10*time.Minute {
		t.Error("the defaults are lost")
	}
	e.Source.Resample = false
	if grid, err = e.Grid(); err != nil || grid[0].Trace != grid[1].Trace {
		t.Errorf("runs of one set do not share it: %v", err)
	}
}

// All policies of the four kinds are combined, in their order.
func TestGridOfFour(t *testing.T) {
	e, err := Decode("x.yaml", []byte("synth: {kind: office, hosts: 3, days: 2}\nplacement: [fcfs, random]\nmigration: "+
		"[none, pspp]\nfairness: [sep, gep]\nchunking: [one, gss]\nhosts: {sites: [delft, leiden]}"+work), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := e.Grid()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range grid {
		got = append(got, s.Placement[:1]+s.Migration[:1]+s.Fairness[:1]+s.Chunking[:1])
	}
	const want = "fnso fnsg fngo fngg fpso fpsg fpgo fpgg rnso rnsg rngo rngg rpso rpsg rpgo rpgg"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	for range 12 {
		e.Chunkings = append(e.Chunkings, e.Chunkings...)
	}
	if _, err := e.Grid(); err == nil {
		t.Error("a grid of millions of runs is laid out")
	}
	if _, err := sim.Run(grid[0]); !errors.Is(err, sim.ErrWholeNodes) {
		t.Errorf("shares without whole nodes: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	const synth = "synth: {kind: office, hosts: 3, days: 2}"
	for _, tt := range []struct{ text, want, hint string }{
		{"", "x.yaml:1:1: the file is empty", "begin it"},
		{"placment: fcfs", `x.yaml:1:1: unknown key "placment"`, `did you mean "placement"?`},
		{"hosts:\n  slotz: 3", `x.yaml:2:3: unknown key "slotz"`, `did you mean "slots"?`},
		{"workload:\n  classes:\n    - {wrok: 3m}", `x.yaml:3:8: unknown key "wrok"`, `"work"`},
		{"zzzzzz: 1", `x.yaml:1:1: unknown key "zzzzzz"`, "the keys of a scenario are trace, synth"},
		{"paper: yes", `x.yaml:1:8: paper: "yes" is neither true nor false`, "true or false"},
		{"paper: true\npaper: true", `x.yaml:2:1: "paper" is given twice, first in line 1`, ""},
		{"paper:", `x.yaml:1:1: "paper" has no value`, ""},
		{"hosts: {memory: -1GiB}", `x.yaml:1:17: hosts.memory: "-1GiB" is not a size`, "256MiB"},
		{"checkpoints: {every: often}", `checkpoints.every: "often" is neither a length of time nor auto`, "or auto"},
		{"checkpoints: {every: -1s}", `checkpoints.every: "-1s" is too short`, ""},
		{"network: {delay: -1s}", "x.yaml:1:18: network.delay: -1s is too short", ""},
		{"network: {upload: -3}", "x.yaml:1:19: network.upload: ", "bytes a second"},
		{"hosts: {slots: 0}", `x.yaml:1:16: hosts.slots: "0" is not a whole number from 1`, ""},
		{"hosts: 3", `x.yaml:1:8: hosts is a mapping of keys to values, this is "3"`, "its keys are slots"},
		{"placement: [fcfs,\n  fcfspq]",
			`x.yaml:2:3: placement[1]: there is no policy "fcfspq": did you mean "fcfspp"? There are `, ""},
		{"placement: seti", `use one of `, ""},
		{`placement: "fcfspp:q=1"`, `unknown parameter "q"`, ""},
		{"placement: [fcfs, fcfs]", `placement[1]: "fcfs" is there twice`, ""},
		{`placement: ""`, "a policy has no name", ""},
		{"migration: psp", `did you mean "pspp"`, ""},
		{"predictor: oracle", "unknown predictor", "godwit score"},
		{"synth: seti", `x.yaml:1:8: synth: there is no "seti"`, "ucb"},
		{"synth: deug:rhythm=week", "one of none, day", "may stand behind it"},
		{"synth: {hosts: 3}", "synth names no kind", ""},
		{"synth: {kind: office, seed: 3, resample: true}", "x.yaml:1:29: with resample", ""},
		{"seeds: 0", "seeds: ", ""},
		{"seeds: [1, 1]", "seeds[1]: 1 is there twice", ""},
		{"seeds: 1000000", "from 1 to 10000", ""},
		{"seeds: []", "seeds has 0 elements", ""},
		{"start: tomorrow", `start: "tomorrow" is no time`, "2025-03"},
		{"assume: gone", "assume: ", "unobserved, available"},
		{"workload: {classes: [{arrival: every, work: 1m}]}", "x.yaml:1:22: workload.classes[0] has no interval", ""},
		{"workload: {classes: [{interval: 1m, work: 1m}]}",
			"x.yaml:1:33: this arrival of workload.classes[0] has no interval", ""},
		{"workload: {classes: [{interval: 1m}]}", "has no work", ""},
		{"workload: {classes: [{arrival: times, work: 1m, times: [2h, 1h]}]}",
			"x.yaml:1:61: workload.classes[0].times[1]: 1h0m0s comes before 2h0m0s", "sort"},
		{"workload: {classes: [{work: 1m, from: 2h, to: 1h}]}", "ends before it begins", ""},
		{"workload: {classes: [{work: 1m, law: gamma}]}",
			`workload.classes[0].law: there is no law "gamma": use one of cubed, `, "quote laws"},
		{`workload: {classes: [{work: 1m, law: "pareto:tail=1"}]}`, "tail=1: it takes a number from 1.01", ""},
		{"workload: {classes: [{work: 1m, arrival: renewal, interval: 1m}]}", "has no law of the times between its jobs",
			"gaps: weibull"},
		{"workload: {classes: [{work: 1m, arrival: poisson, gaps: uniform, interval: 1m}]}",
			"has no law of the times between jobs", "arrival: renewal"},
		{"fairness: [sep, wieghted]", `there is no policy "wieghted": did you mean "weighted"`, ""},
		{`chunking: "gss:most=3"`, `unknown parameter "most": use one of least`, ""},
		{"hosts: {sites: []}", "hosts.sites has 0 elements", ""},
		{"workload: {classes: [{work: 1m, weight: 0}]}", "weight: \"0\" is not a whole number from 1 to 1000", ""},
		{synth, "the file names no workload", ""},
		{"trace: lab.csv\n" + synth + work, "x.yaml:2:8: both a trace and a synthetic set", ""},
		{"paper: true" + work, "the file names no hosts", ""},
		{"trace: gone.csv" + work, "x.yaml:1:8: gone.csv: no such file", ""},
		{synth + "\nworkload: {log: gone.swf}", "x.yaml:2:17: gone.swf: no such file", ""},
		{synth + work + "end: 30h\ndays: 1", "x.yaml:4:7: both an end and days", ""},
		{"a: &x 1", "x.yaml:1:4: scenarios are plain keys and values", ""},
		{"hosts: {{", "x.yaml:1:", ""},
		{strings.Repeat("[", 20), "nested too deeply", ""},
		{"a\x00b", "x.yaml:1:2: byte 0x00 is not text", ""},
		{synth + "\n---\n" + synth, "second document", ""},
		{strings.Repeat("#", MaxFile+1), "the file has 1MiB, the most is 1MiB", ""},
	} {
		_, err := Decode("x.yaml", []byte(tt.text), openLab, openJobs, openNothing)
		var e *task.Error
		switch {
		case !errors.As(err, &e):
			t.Errorf("%.60q: %v", tt.text, err)
		case !strings.Contains(err.Error(), tt.want) || !strings.Contains(e.Hint, tt.hint):
			t.Errorf("%.60q: got %v (%s)\nwant %s (%s)", tt.text, err, e.Hint, tt.want, tt.hint)
		}
	}
}

// A file is either refused at a place, or lays out runs.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("synth: office\nseeds: [1]" + work))
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(string(text), "synth") {
			t.Skip("making hosts takes long, and is not the file's doing")
		}
		e, err := Decode("x.yaml", text, func(string) (*trace.Trace, error) { return lab(), nil },
			func(string) (*trace.Workload, error) { return &trace.Workload{}, nil }, openNothing)
		if err != nil {
			var te *task.Error
			if !errors.As(err, &te) || te.Line < 1 || te.Msg == "" {
				t.Fatalf("error without a place: %#v", err)
			}
			return
		}
		if grid, err := e.Grid(); err == nil && len(grid) == 0 {
			t.Fatal("no runs and no error")
		}
	})
}

// The manual's example is one.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/research.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(manual, []byte("```yaml\ntrace: "))
	text, _, found := bytes.Cut(text, []byte("```"))
	if !found {
		t.Fatal("the manual has no scenario")
	}
	text = append([]byte("trace: "), text...)
	anyTrace := func(string) (*trace.Trace, error) {
		l := lab()
		l.End = l.Start.Add(8 * 24 * time.Hour)
		return l, nil
	}
	anyLog := func(string) (*trace.Workload, error) {
		return &trace.Workload{Jobs: []trace.Job{{RunTime: 60, Procs: 1, ReqProcs: 1}}}, nil
	}
	e, err := Decode("research.md", text, anyTrace, anyLog, openNothing)
	if err != nil {
		t.Fatal(err)
	}
	if grid, err := e.Grid(); err != nil || len(grid) != 20 {
		t.Errorf("%d runs, %v", len(grid), err)
	}
	usual := Default().Base
	if got := e.Base; got.Hosts.Grace != usual.Hosts.Grace || got.Checkpoints != usual.Checkpoints ||
		got.Network.Delay != usual.Network.Delay || got.Network.Detect != usual.Network.Detect {
		t.Error("the manual shows other defaults")
	}
}

// TestEvery is how often tasks are saved, as a file and a flag say it.
func TestEvery(t *testing.T) {
	for text, want := range map[string]sim.Checkpoints{
		"0s": {Pause: 1}, "5m": {Pause: 1, Every: 5 * time.Minute}, "auto": {Pause: 1, Auto: true},
	} {
		for _, got := range []sim.Checkpoints{{Pause: 1, Every: time.Hour}, {Pause: 1, Auto: true}} {
			if err := SetEvery(&got, text); err != nil || got != want {
				t.Errorf("%s: %+v, error %v, want %+v", text, got, err, want)
			}
		}
	}
}

// openNothing has no files of rates or machines.
func openNothing(file string) ([]byte, error) { return nil, errors.New("there is no " + file) }
