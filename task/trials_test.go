package task

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A number of trials is what the sweep's repeat was, in a job and in a stage.
func TestTrialsRepeatPoints(t *testing.T) {
	read := func(text string) *File {
		t.Helper()
		f, err := ParseFile("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	before := read("module: a.wasm\nargs: ['{{.x}}', '{{.trial}}']\nsweep: {x: [1, 2], repeat: 3}\n")
	now := read("module: a.wasm\ntrials: 3\nargs: ['{{.x}}', '{{.trial}}']\nsweep: {x: [1, 2]}\n")
	if now.Tasks() != 6 || before.Tasks() != now.Tasks() || now.Trials != nil {
		t.Errorf("%d tasks, before %d; rule %v", now.Tasks(), before.Tasks(), now.Trials)
	}
	inv, err := now.draft().Expand(5)
	if err != nil || !slices.Equal(inv.Args, []string{"2", "2"}) {
		t.Errorf("task 5 has the arguments %v: %v", inv.Args, err)
	}
	staged := read("name: a\nstages:\n  make: {module: a.wasm, sweep: {x: [1, 2]}, trials: 3}\n" +
		"  sum: {module: a.wasm, by: [x], of: make, files: ['{{.make}}/*/stdout']}\n")
	if staged.Tasks() != 8 {
		t.Errorf("%d tasks in stages, want 6 and 2", staged.Tasks())
	}
}

// The rule of a job is in its record, and a record without one is what it was.
func TestTrialsInRecord(t *testing.T) {
	for _, tt := range []struct {
		text   string
		want   Trials
		least  uint64
		people string
	}{
		{"trials: {least: 20, most: 1000, of: lifetime, within: 2%}", Trials{1000, "lifetime", .02, true}, 20,
			"lifetime within 2%"},
		{"trials: {most: 50, within: 0.05}", Trials{50, "value", .05, false}, 10, "value within 0.05"},
	} {
		f, err := ParseFile("job.yaml", []byte("module: a.wasm\n"+tt.text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		j, err := f.Job(RawCID(nil), nil, "commons", time.Unix(0, 0), make([]byte, NonceSize))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Encode(j)
		if err != nil {
			t.Fatal(err)
		}
		var back Job
		if err := Decode(b, &back); err != nil {
			t.Fatal(err)
		}
		if back.Trials == nil || *back.Trials != tt.want || back.Sweep.Repeat != tt.least || back.Trials.String() != tt.people {
			t.Errorf("%s: %+v, %d trials at first", tt.text, back.Trials, back.Sweep.Repeat)
		}
		plain := *j
		plain.Trials = nil
		with, _ := Encode(j)
		without, err := Encode(&plain)
		if err != nil || len(without) >= len(with) {
			t.Errorf("the record without a rule has %d bytes, with it %d: %v", len(without), len(with), err)
		}
	}
}

// Rules and links that no job file has are refused in a record.
func TestTrialsOfRecordAreChecked(t *testing.T) {
	first, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	another := first.ID()
	good := func() *Job {
		j := testJob()
		j.Sweep.Repeat = 2
		j.Trials = &Trials{Most: 4, Of: "value", Within: 1}
		return j
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Job){
		"no trials":         func(j *Job) { j.Sweep.Repeat = 0 },
		"fewer than before": func(j *Job) { j.Trials.Most = 1 },
		"too many":          func(j *Job) { j.Trials.Most = MaxTrials + 1 },
		"no width":          func(j *Job) { j.Trials.Within = 0 },
		"negative width":    func(j *Job) { j.Trials.Within = -1 },
		"no name":           func(j *Job) { j.Trials.Of = "" },
		"long name":         func(j *Job) { j.Trials.Of = strings.Repeat("x", maxField+1) },
		"addition":          func(j *Job) { j.Adds = another },
		"no job":            func(j *Job) { j.Trials, j.Adds = nil, "bafynonsense" },
	} {
		j := good()
		change(j)
		if j.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	j := good()
	j.Trials, j.Adds = nil, another
	if err := j.Validate(); err != nil {
		t.Error(err)
	}
}
