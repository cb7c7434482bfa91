package task

import "testing"

// TestNames: what decides what a task comes to is in its name, and nothing else is.
func TestNames(t *testing.T) {
	base := func() *Job {
		return &Job{Name: "n", Module: "m", Memory: 1 << 20, Replicas: 1, Args: []string{"{{.a}}"}, Outputs: []string{Stdout},
			Env: []EnvVar{{"E", "1"}}, Files: []string{"in"}, Inputs: []FileRef{{"in", "c1", 1}, {"other", "c2", 1}},
			Sweep: Sweep{Axes: []Axis{{Name: "a", Values: []string{"x", "y"}}}, Repeat: 2}}
	}
	name := func(j *Job, i uint64, reads ...FilesName) Name {
		n, err := j.NameOf(i, nil, reads)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := name(base(), 0)
	for what, tt := range map[string]struct {
		change func(*Job)
		same   bool
	}{
		"nothing":        {func(*Job) {}, true},
		"the job's name": {func(j *Job) { j.Name = "o" }, true},
		"the overlay":    {func(j *Job) { j.Overlay = "o" }, true},
		"its priority":   {func(j *Job) { j.Priority, j.Retries, j.Deadline = 9, 9, 9 }, true},
		"other inputs":   {func(j *Job) { j.Inputs[1].CID = "c3" }, true},
		"other points":   {func(j *Job) { j.Sweep.Axes[0].Values = []string{"x", "z", "y"} }, true},
		"the module":     {func(j *Job) { j.Module = "o" }, false},
		"the memory":     {func(j *Job) { j.Memory++ }, false},
		"an argument":    {func(j *Job) { j.Args = []string{"-{{.a}}"} }, false},
		"the point":      {func(j *Job) { j.Args, j.Sweep.Axes[0].Values = []string{"x"}, []string{"w"} }, false},
		"environment":    {func(j *Job) { j.Env[0].Value = "2" }, false},
		"its input":      {func(j *Job) { j.Inputs[0].CID = "c3" }, false},
		"no file":        {func(j *Job) { j.Files = nil }, false},
		"a file's name":  {func(j *Job) { j.Inputs[0].Name, j.Files = "i", []string{"i"} }, false},
		"stdin":          {func(j *Job) { j.Stdin = "other" }, false},
		"outputs":        {func(j *Job) { j.Outputs = []string{"*"} }, false},
		"the key":        {func(j *Job) { j.Sealed = []byte("k") }, false},
	} {
		j := base()
		if tt.change(j); (name(j, 0) == was) != tt.same {
			t.Errorf("another task for %s: %v", what, tt.same)
		}
	}
	if name(base(), 1) == was || name(base(), 2) == was {
		t.Error("two trials, or two points, are one task")
	}
	one, _ := NameFiles([]Output{{Name: "f", CID: "c"}})
	two, _ := NameFiles([]Output{{Name: "f", CID: "d"}})
	if name(base(), 0, one) == was || name(base(), 0, one) == name(base(), 0, two) {
		t.Error("what a task reads of others is not in its name")
	}
	if _, err := base().NameOf(4, nil, nil); err == nil {
		t.Error("a task is named that the job has not")
	}
}

// A stage's task has the same name whatever stages stand beside it.
func TestNamesOfStages(t *testing.T) {
	j := stagedJob(t, pipeline)
	files, err := NameFiles([]Output{{Name: "simulate/out.csv", CID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	was, err := j.NameOf(6, nil, []FilesName{files})
	if err != nil {
		t.Fatal(err)
	}
	stdin := *j
	stdin.Stages = append([]Stage(nil), j.Stages...)
	stdin.Stages[1].StdinFrom = "simulate/out.csv"
	if now, err := stdin.NameOf(6, nil, []FilesName{files}); err != nil || now == was {
		t.Errorf("what comes on standard input is not in its name (%v)", err)
	}
}
