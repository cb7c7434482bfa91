package ending

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// staged is a job of so many tasks of an hour in each stage.
func staged(tasks []uint64, needs ...[]Need) *Job {
	j := &Job{}
	for i, n := range tasks {
		j.Stages = append(j.Stages, Stage{Waiting: n, Ended: ended(30, time.Hour), Needs: needs[i]})
	}
	return j
}

func foretell(t testing.TB, j *Job, s *Swarm) Forecast {
	t.Helper()
	f, err := Ahead(noon, j, s, Options{})
	if err != nil || f.Reason != "" {
		t.Fatal(f.Reason, err)
	}
	return f
}

// Stages end in their order: where all wait for all nothing overlaps, where tasks follow one by one it does.
func TestStagesInTheirOrder(t *testing.T) {
	s := &Swarm{Members: always(1, 4)}
	for _, c := range []struct {
		what  string
		tasks []uint64
		needs [][]Need
		hours float64
	}{
		{"one by one fills the slots", []uint64{4, 4}, [][]Need{nil, {{0, .25}}}, 2},
		{"all after one", []uint64{1, 4}, [][]Need{nil, {{0, 1}}}, 2},
		{"one after all", []uint64{5, 1}, [][]Need{nil, {{0, 1}}}, 3},
		{"four in a row", []uint64{1, 1, 1, 1}, [][]Need{nil, {{0, 1}}, {{1, 1}}, {{2, 1}}}, 4},
		{"beside each other", []uint64{2, 2}, [][]Need{nil, nil}, 1},
		{"after two", []uint64{2, 2, 1}, [][]Need{nil, nil, {{0, 1}, {1, 1}}}, 2},
	} {
		f := foretell(t, staged(c.tasks, c.needs...), s)
		if got := f.Median / 3600; got < .8*c.hours || got > 1.3*c.hours {
			t.Errorf("%s: it ends in %.2f h, want about %v", c.what, got, c.hours)
		}
	}
}

// What is over, and what each stage's own tasks took, counts.
func TestStagesGoOn(t *testing.T) {
	s := &Swarm{Members: always(1, 1)}
	j := staged([]uint64{0, 1}, nil, []Need{{0, 1}})
	j.Stages[0].Over, j.Stages[0].Ended = 10, ended(30, 10*time.Hour)
	if f := foretell(t, j, s); f.Median > 1.3*3600 {
		t.Errorf("what is left takes an hour, and it ends in %.0f s", f.Median)
	}
	j = staged([]uint64{1, 1}, nil, []Need{{0, 1}})
	j.Stages[1].Ended, j.Stages[1].Declared = nil, 9*time.Hour
	if f := foretell(t, j, s); f.Median < 7*3600 || f.Median > 14*3600 {
		t.Errorf("an hour and then nine end in %.1f h", f.Median/3600)
	}
	j.Stages[1].Declared = 0
	if f := foretell(t, j, s); !strings.Contains(strings.Join(f.Notes, " "), "of some stages") {
		t.Errorf("nobody knows what the second takes, and it is said: %q", f.Notes)
	}
	j.Stages[1].Memory = 1 << 40
	if f, err := Ahead(noon, j, s, Options{}); err != nil || !strings.Contains(f.Reason, "bytes of memory") {
		t.Errorf("of a stage that fits nowhere: %+v, %v", f, err)
	}
	j.Stages[1].Waiting = 0 // it is over
	if f, err := Ahead(noon, j, s, Options{}); err != nil || f.Reason != "" {
		t.Errorf("of one that has nothing left: %+v, %v", f, err)
	}
}

// Whatever the stages, a job ends, and not before one whose tasks wait for nothing.
func TestAnyStagesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Swarm{Members: always(rapid.IntRange(1, 3).Draw(t, "members"), rapid.IntRange(1, 4).Draw(t, "slots"))}
		j, all := &Job{}, &Job{Ended: ended(30, time.Hour)}
		for i := range rapid.IntRange(1, 5).Draw(t, "stages") {
			st := Stage{Waiting: rapid.Uint64Range(0, 20).Draw(t, "waiting"), Over: rapid.Uint64Range(0, 20).Draw(t, "over"),
				Ended: ended(30, time.Hour)}
			for k := range i {
				if rapid.Bool().Draw(t, "needs") {
					st.Needs = append(st.Needs, Need{k, float64(rapid.IntRange(0, 10).Draw(t, "from")) / 10})
				}
			}
			j.Stages = append(j.Stages, st)
			all.Waiting += st.Waiting
		}
		o := Options{Draws: 5}
		f, err := Ahead(noon, j, s, o)
		if err != nil || f.Late > 0 {
			t.Fatalf("%+v, %v", f, err)
		}
		if free, err := Ahead(noon, all, s, o); err != nil || f.Median < .6*free.Median {
			t.Errorf("it ends in %v, and in %v if nothing waits (%v)", f.Median, free.Median, err)
		}
	})
}

// Stages that make no sense are refused.
func TestBadStages(t *testing.T) {
	s := &Swarm{Members: always(1, 1)}
	for what, change := range map[string]func(*Job){
		"itself":            func(j *Job) { j.Stages[1].Needs = []Need{{1, 1}} },
		"one after it":      func(j *Job) { j.Stages[0].Needs = []Need{{1, 1}} },
		"none":              func(j *Job) { j.Stages[1].Needs = []Need{{-1, 1}} },
		"more than all":     func(j *Job) { j.Stages[1].Needs = []Need{{0, 1.1}} },
		"too many":          func(j *Job) { j.Stages = make([]Stage, MaxStages+1) },
		"tasks beside them": func(j *Job) { j.Waiting = 1 },
		"negative work":     func(j *Job) { j.Stages[1].Declared = -1 },
	} {
		j := staged([]uint64{1, 1}, nil, []Need{{0, 1}})
		change(j)
		if _, err := Ahead(noon, j, s, Options{}); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}
