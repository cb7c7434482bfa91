package main

import (
	"strings"
	"testing"
)

func words(s string) []string { return strings.Fields(s) }

// doneJob is a job of three tasks, all done, and what its submitter says.
func doneJob() (*job, jobView) {
	st := jobView{State: "done", Final: true, Held: 3, List: []taskView{{Index: 0}, {Index: 1}, {Index: 2}}}
	st.Tasks.Total, st.Tasks.Done = 3, 3
	return &job{name: "j", tasks: 3}, st
}

func TestComplete(t *testing.T) {
	j, st := doneJob()
	if err := j.complete(st); err != nil {
		t.Errorf("a job that is done: %v", err)
	}
	for name, change := range map[string]func(*jobView){
		"failed":       func(st *jobView) { st.State = "partly" },
		"not final":    func(st *jobView) { st.Final = false },
		"one too few":  func(st *jobView) { st.Held = 2 },
		"one too many": func(st *jobView) { st.Held = 4 },
		"one undone":   func(st *jobView) { st.Tasks.Done = 2 },
		"larger":       func(st *jobView) { st.Tasks.Total = 4 },
		"one twice":    func(st *jobView) { st.List[2].Index = 1 },
	} {
		j, st := doneJob()
		change(&st)
		if j.complete(st) == nil {
			t.Errorf("%s: it is complete", name)
		}
	}
}

func TestHeldNeverFalls(t *testing.T) {
	j, _ := doneJob()
	for _, held := range []int{1, 2, 2, 1, 3} {
		j.saw(at(0), jobView{Held: held})
	}
	if end, held, lost := j.ended(); held != 3 || lost == "" || !end.IsZero() {
		t.Errorf("held %d, lost %q, ended %v: results were lost", held, lost, end)
	}
	if !j.saw(at(5), jobView{Held: 3, Final: true}) || !j.saw(at(9), jobView{Held: 3, Final: true}) {
		t.Error("a job that is final is not over")
	}
	if end, _, _ := j.ended(); !end.Equal(at(5)) {
		t.Errorf("it ended at %v, want %v", end, at(5))
	}
}

func TestIndex(t *testing.T) {
	sweep, single := job{tasks: 500}, job{tasks: 1}
	for path, want := range map[string]int{"out/000/stdout": 0, "out/007/stdout": 7, "out/499/stdout": 499,
		"out/stdout": nowhere, "out/x/stdout": nowhere} {
		if got := sweep.index("out", path); got != want {
			t.Errorf("%s is of task %d, want %d", path, got, want)
		}
	}
	if got := single.index("out", "out/stdout"); got != 0 {
		t.Errorf("the only task is %d", got)
	}
}
