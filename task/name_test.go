package task

import (
	"errors"
	"testing"
)

// TestNames: what decides what a task comes to is in its name, and nothing else is.
func TestNames(t *testing.T) {
	base := func() *Job {
		return &Job{Name: "n", Module: "m", Memory: 1 << 20, Replicas: 1, Args: []string{"{{.a}}"}, Outputs: []string{Stdout},
			Env: []EnvVar{{"E", "1"}}, Files: []string{"in"}, Inputs: []FileRef{{"in", "c1", 1}, {"other", "c2", 1}},
			Sweep: Sweep{Axes: []Axis{{Name: "a", Values: []string{"x", "y"}}}, Repeat: 2}}
	}
	name := func(j *Job, i uint64, reads ...FilesName) Name {
		n, err := j.NameOf(i, nil, nil, reads)
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
		"the key":        {func(j *Job) { j.Sealed = []byte("k") }, true},
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
	if _, err := base().NameOf(4, nil, nil, nil); err == nil {
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
	was, err := j.NameOf(6, nil, nil, []FilesName{files})
	if err != nil {
		t.Fatal(err)
	}
	stdin := *j
	stdin.Stages = append([]Stage(nil), j.Stages...)
	stdin.Stages[1].StdinFrom = "simulate/out.csv"
	if now, err := stdin.NameOf(6, nil, nil, []FilesName{files}); err != nil || now == was {
		t.Errorf("what comes on standard input is not in its name (%v)", err)
	}
}

// Two jobs seal the same file under different keys: their tasks have the same name by the plain file, and other names by
// the sealed ones. An error of Plain is returned.
func TestNamesOfSealedInputs(t *testing.T) {
	job := func(sealed CID, stdin string) *Job {
		return &Job{Module: "m", Files: []string{"in"}, Inputs: []FileRef{{"in", sealed, 20}}, Stdin: stdin,
			Sweep: Sweep{Repeat: 1}}
	}
	plain := func(o Output) (FileRef, error) {
		switch o.CID {
		case "one", "two":
			return FileRef{CID: "plain", Size: o.Size - 16}, nil
		case "other":
			return FileRef{CID: "changed", Size: o.Size - 16}, nil
		}
		return FileRef{}, ErrKey
	}
	for _, stdin := range []string{"", "in"} {
		name := func(of CID, by Plain) Name {
			n, err := job(of, stdin).NameOf(0, nil, by, nil)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		unsealed := job("plain", stdin)
		unsealed.Inputs[0].Size = 4
		want, err := unsealed.NameOf(0, nil, nil, nil)
		if err != nil || name("one", plain) != want || name("two", plain) != want || name("other", plain) == want {
			t.Errorf("stdin %q: names depend on the key, or not on the content (%v)", stdin, err)
		}
		if name("one", nil) == name("two", nil) {
			t.Errorf("stdin %q: two files have one name", stdin)
		}
		if _, err := job("gone", stdin).NameOf(0, nil, plain, nil); !errors.Is(err, ErrKey) {
			t.Errorf("stdin %q: a file that cannot be read is named: %v", stdin, err)
		}
	}
}
