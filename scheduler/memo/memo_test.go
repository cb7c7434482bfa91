package memo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A world runs the tasks of jobs: what one comes to follows from what it is run with, and from nothing else.
type world struct {
	ends map[task.JobID]map[uint64]message.TaskSummary
	keys map[task.JobID]map[uint64]string // what decides the end of a task, in words
}

// run runs a job; failing tasks have no result, and neither has what reads them.
func (w *world) run(id task.JobID, j *task.Job, failing func(i uint64) bool) {
	w.ends[id], w.keys[id] = map[uint64]message.TaskSummary{}, map[uint64]string{}
	for i := range j.Tasks() {
		key, ok := w.key(id, j, i)
		if !ok || failing(i) {
			w.ends[id][i] = message.TaskSummary{Index: i, Failed: true}
			continue
		}
		w.keys[id][i] = key
		w.ends[id][i] = message.TaskSummary{Index: i, Results: []task.Result{{Task: task.TaskID{Job: id, Index: i},
			Outcome: task.Completed, Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte(key)), Size: 1}}}}}
	}
}

// key says what decides the end of a task; not ok if what it reads is not there.
func (w *world) key(id task.JobID, j *task.Job, i uint64) (string, bool) {
	of, _ := j.At(i)
	inv, err := j.Expand(i)
	if err != nil {
		panic(err)
	}
	key := fmt.Sprint(of.Module, of.Memory, inv.Params, inv.Args, inv.Env)
	for n, members := range j.Needed(i) {
		var files []string
		for u := range members.All() {
			end := w.ends[id][u]
			if end.Failed || len(end.Results) == 0 {
				return "", false
			}
			for _, f := range j.FilesOf(n, u, end.Results[0].Outputs) {
				files = append(files, f.Name+"="+string(f.CID))
			}
		}
		slices.Sort(files)
		key += strings.Join(files, ";")
	}
	return key, true
}

func (w *world) source(id task.JobID, j *task.Job, sound ledger.Set) Source {
	held := ledger.Set{{From: 0, To: j.Tasks()}}
	return Source{ID: id, Spec: j, Held: held, Sound: sound, Read: func(i uint64) (message.TaskSummary, error) {
		return w.ends[id][i], nil
	}}
}

// sealedUnder is what a file is called when it is sealed under a key.
func sealedUnder(key string, c task.CID) task.CID { return task.RawCID([]byte(key + string(c))) }

// sealed has a source's outputs sealed under a key.
func (w *world) sealed(s Source, key string) Source {
	plain, read := map[task.CID]task.CID{}, s.Read
	s.Read = func(i uint64) (message.TaskSummary, error) {
		end, err := read(i)
		if len(end.Results) > 0 {
			end.Results = slices.Clone(end.Results)
			o := end.Results[0].Outputs[0]
			of := o.CID
			o.CID = sealedUnder(key, of)
			plain[o.CID], end.Results[0].Outputs = of, []task.Output{o}
		}
		return end, err
	}
	s.Plain = func(o task.Output) (task.FileRef, error) {
		if plain[o.CID] == "" {
			return task.FileRef{}, errors.New("not sealed under this key")
		}
		return task.FileRef{CID: plain[o.CID], Size: o.Size}, nil
	}
	return s
}

// anyJob draws a job of some stages, each of which reads others in some way, or a sweep.
func anyJob(t *rapid.T) *task.Job {
	axes := []task.Axis{{Name: "a", Step: 1, Count: rapid.Uint64Range(1, 3).Draw(t, "a")},
		{Name: "b", Values: []string{"x", "y"}[:rapid.IntRange(1, 2).Draw(t, "b")]}}
	program := func(n string) (task.CID, []string) {
		return task.RawCID([]byte("module " + n)), []string{"-o", rapid.SampledFrom([]string{"1", "2"}).Draw(t, "arg"+n)}
	}
	j := &task.Job{Name: "test", Memory: 1 << 20, Replicas: 1}
	stages := rapid.IntRange(0, 4).Draw(t, "stages")
	if stages == 0 {
		j.Module, j.Args = program("0")
		j.Outputs, j.Sweep = []string{task.Stdout}, task.Sweep{Axes: axes}
		return j
	}
	for k := range stages {
		s := task.Stage{Name: fmt.Sprintf("s%d", k), Outputs: []string{task.Stdout}}
		s.Module, s.Args = program(fmt.Sprint(k))
		reads := []string{task.Stdout}
		kind := task.NeedKind(rapid.IntRange(0, 3).Draw(t, "kind"))
		of := uint64(0)
		if k > 0 {
			of = rapid.Uint64Range(0, uint64(k-1)).Draw(t, "of")
		}
		switch grouped := k > 0 && len(j.SweepOf(int(of)).Axes) > 0; {
		case k == 0 || kind == 0 && len(j.Stages[k-1].Needs) == 0:
			s.Sweep = task.Sweep{Axes: axes}
		case kind == task.NeedBy && grouped:
			s.Needs = []task.Need{{Stage: of, Kind: kind, By: []string{j.SweepOf(int(of)).Axes[0].Name}, Reads: reads}}
		case kind == task.NeedEach:
			s.Needs = []task.Need{{Stage: of, Kind: kind, Reads: reads}}
		default:
			s.Needs = []task.Need{{Stage: of, Kind: task.NeedAfter, Reads: reads}}
		}
		j.Stages = append(j.Stages, s)
	}
	j.Module = j.Stages[0].Module
	return j
}

// change draws another job that differs from one in nothing, or in one thing.
func change(t *rapid.T, j *task.Job) *task.Job {
	c := *j
	c.Stages = slices.Clone(j.Stages)
	k := rapid.IntRange(0, max(0, len(j.Stages)-1)).Draw(t, "changed")
	module, args, sweep := &c.Module, &c.Args, &c.Sweep
	if len(c.Stages) > 0 {
		module, args, sweep = &c.Stages[k].Module, &c.Stages[k].Args, &c.Stages[k].Sweep
	}
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 1:
		*module = task.RawCID([]byte("another module"))
		if k == 0 {
			c.Module = *module
		}
	case 2:
		*args = []string{"-o", "3"}
	case 3:
		if len(sweep.Axes) > 0 {
			sweep.Axes = slices.Clone(sweep.Axes)
			sweep.Axes[0].Count++ // more points: the others move to other indices
		}
	case 4:
		c.Memory = 2 << 20
	}
	return &c
}

// TestFind: of a job that was run, and may have been changed since, all results are found of tasks that come to the
// same with what they read, and no others: a rerun repeats nothing, and runs all that a change reaches. That also holds
// if the two jobs have different keys. What reads a result that is not kept runs, too.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{map[task.JobID]map[uint64]message.TaskSummary{}, map[task.JobID]map[uint64]string{}}
		old := anyJob(t)
		failing := rapid.SliceOfN(rapid.Bool(), 64, 64).Draw(t, "failing")
		fails := func(i uint64) bool { return rapid.Just(failing).Draw(t, "f")[i%64] && failing[0] }
		w.run("old", old, fails)
		sound := ledger.Set{{From: 0, To: old.Tasks()}}
		if rapid.Bool().Draw(t, "doubt") {
			sound = sound.Minus(ledger.Set{{From: 0, To: 1}})
		}
		now := change(t, old)
		w.run("now", now, func(uint64) bool { return false })

		lost := rapid.Uint64Range(0, 9).Draw(t, "not kept")
		source, mineIs := w.source("old", old, sound), func(c task.CID) task.CID { return c }
		if rapid.Bool().Draw(t, "sealed") {
			old.Sealed, now.Sealed = []byte("old"), []byte("now")
			source, mineIs = w.sealed(source, "old"), func(c task.CID) task.CID { return sealedUnder("now", c) }
		}
		known := map[string]bool{}
		for i, key := range w.keys["old"] {
			if sound.Contains(i) {
				known[key] = true
			}
		}
		want := map[uint64]bool{}
		for i := range now.Tasks() {
			ready := true
			for _, members := range now.Needed(i) {
				for u := range members.All() {
					ready = ready && want[u]
				}
			}
			if ready && known[w.keys["now"][i]] && i != lost {
				want[i] = true
			}
		}
		got := map[uint64]bool{}
		err := Find(now, nil, nil, []Source{source}, func(r *message.Reused) (bool, error) {
			if r.End.Index == lost {
				return false, nil
			}
			if source.Plain != nil { // as a node does
				o := r.End.Results[0].Outputs[0]
				plain, err := source.Plain(o)
				if err != nil {
					return false, err
				}
				o.CID = mineIs(plain.CID)
				r.End.Results[0].Outputs = []task.Output{o}
			}
			got[r.End.Index] = true
			mine := w.ends["now"][r.End.Index].Results[0].Outputs[0].CID
			if of := w.ends["old"][r.Of.Index]; !sound.Contains(r.Of.Index) || of.Failed || *r.End.From != r.Of ||
				r.End.Results[0].Outputs[0].CID != mineIs(mine) {
				t.Fatalf("task %d is taken from %v, which is another", r.End.Index, r.Of)
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range now.Tasks() {
			if got[i] != want[i] {
				t.Fatalf("task %d, %s: taken is %v, want %v", i, now.TaskName(i), got[i], want[i])
			}
		}
	})
}

// Of two jobs that have a result the latest gives it; one that cannot be read, or has it not as often as is asked,
// is passed by; what was taken before is still of the task that made it.
func TestFindAmong(t *testing.T) {
	w := &world{map[task.JobID]map[uint64]message.TaskSummary{}, map[task.JobID]map[uint64]string{}}
	j := &task.Job{Module: "m", Memory: 1, Replicas: 1, Outputs: []string{task.Stdout}, Sweep: task.Sweep{Repeat: 1}}
	for _, id := range []task.JobID{"first", "second"} {
		w.run(id, j, func(uint64) bool { return false })
	}
	all := ledger.Set{{From: 0, To: 1}}
	first, second := w.source("first", j, all), w.source("second", j, all)
	taken := w.ends["second"][0]
	taken.From = &task.TaskID{Job: "forgotten", Index: 7}
	broken := second
	broken.Read = func(uint64) (message.TaskSummary, error) { return message.TaskSummary{}, errors.New("torn") }
	passed := second
	passed.Read = func(uint64) (message.TaskSummary, error) { return taken, nil }
	twice := *j
	twice.Replicas = 2
	sealed := *j
	sealed.Sealed = []byte("key")
	ofSealed := second
	ofSealed.Spec = &sealed
	many := *j
	many.Sweep.Repeat = MostTasks + 1
	for name, tt := range map[string]struct {
		job     *task.Job
		sources []Source
		want    string
	}{
		"the latest":         {j, []Source{second, first}, "second/0"},
		"one that is broken": {j, []Source{broken, first}, "first/0"},
		"taken before":       {j, []Source{passed, first}, "forgotten/7"},
		"two are asked for":  {&twice, []Source{second, first}, ""},
		"another key":        {&sealed, []Source{second, first}, "second/0"},
		"none of a key":      {j, []Source{ofSealed}, ""},
		"none":               {j, nil, ""},
		"too many":           {&many, []Source{second}, ""},
	} {
		got := ""
		err := Find(tt.job, nil, nil, tt.sources, func(r *message.Reused) (bool, error) {
			got = cmp.Or(got, r.End.From.String())
			return true, nil
		})
		if err != nil || got != tt.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, tt.want)
		}
	}
	stop := errors.New("stop")
	if err := Find(j, nil, nil, []Source{first}, func(*message.Reused) (bool, error) { return false, stop }); !errors.Is(err, stop) {
		t.Errorf("keep's error is %v", err)
	}
}
