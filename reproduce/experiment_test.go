package reproduce

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// TestRun: what an experiment puts on the bench is its result.
func TestRun(t *testing.T) {
	e := Experiment{Name: "E", Title: "title", Where: "section 1", Do: func(b *Bench) error {
		b.Say("%d hosts, seed %d", 3, b.Seed)
		b.FirstSeed = b.Seed
		b.Equal("c", 1, 1, "")
		b.Tables = append(b.Tables, Table{Title: "t"})
		b.Figures = append(b.Figures, Figure{Name: "f"})
		return nil
	}}
	r, err := e.Run(Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if r.Experiment.Name != "E" || !slices.Equal(r.Setup, []string{"3 hosts, seed 5"}) ||
		!slices.Equal(r.Cells, []Cell{{5, "E", "c", "1", "1", Equal, ""}}) ||
		len(r.Tables) != 1 || r.Tables[0].Title != "t" || len(r.Figures) != 1 || r.Figures[0].Name != "f" {
		t.Errorf("got %+v", r)
	}
	gone := errors.New("gone")
	e.Do = func(*Bench) error { return gone }
	if r, err := e.Run(Options{}); r != nil || !errors.Is(err, gone) || err.Error() != "experiment E: gone" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestSelect(t *testing.T) {
	all := []Experiment{{Name: "B.II"}, {Name: "E1"}, {Name: "E10"}}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "[B.II E1 E10]"}, {[]string{"e1"}, "[E1]"}, {[]string{"E10", "b.ii"}, "[B.II E10]"},
		{[]string{"E1", "E1"}, "[E1]"}, {[]string{"E2"}, "there is no experiment \"E2\": there are B.II, E1, E10"},
		{[]string{"E1", ""}, "there is no experiment \"\": there are B.II, E1, E10"},
	} {
		es, err := Select(all, tt.names)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			var names []string
			for _, e := range es {
				names = append(names, e.Name)
			}
			got = fmt.Sprint(names)
		}
		if got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.names, got, tt.want)
		}
	}
}

// backwards is an Options.Each in an order of its own.
func backwards(n int, run func(int)) {
	for i := range n {
		run(n - 1 - i)
	}
}

func TestForEach(t *testing.T) {
	for _, tt := range []struct {
		each func(int, func(int))
		want []int
	}{{nil, []int{0, 1, 2}}, {backwards, []int{2, 1, 0}}} {
		var got []int
		(&Options{Each: tt.each}).ForEach(3, func(i int) { got = append(got, i) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}

// TestRunAll: reports are in the order of their scenarios, in whatever order these run,
// and an error names all that failed.
func TestRunAll(t *testing.T) {
	odd := errors.New("odd")
	half := func(n int) (int, error) {
		if n%2 == 1 {
			return 0, odd
		}
		return n / 2, nil
	}
	o := &Options{Each: backwards}
	got, err := RunAll(o, []int{8, 6, 4}, half)
	if err != nil || !slices.Equal(got, []int{4, 3, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = RunAll(o, []int{8, 5, 4, 3}, half)
	if !errors.Is(err, odd) || err.Error() != "scenario 2 of 4: odd\nscenario 4 of 4: odd" || got[0] != 4 || got[2] != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

// hour is a scenario of a host that is there for an hour and runs jobs of 10 min.
func hour(policy string) *sim.Scenario {
	h := &trace.History{Host: "r1"}
	if err := h.Append(Epoch, trace.Available, 1); err != nil {
		panic(err)
	}
	end := Epoch.Add(time.Hour)
	h.Extend(end)
	t := &trace.Trace{Name: "hour", Start: Epoch, End: end, Hosts: []trace.Host{{History: h}}}
	return &sim.Scenario{Trace: t, Placement: policy, Paper: true, Workload: sim.Workload{
		Classes: []sim.Class{{Name: "job", Arrival: sim.Saturated, Work: 10 * time.Minute}}}}
}

// TestBatch: reports are judged in the order in which scenarios were added, once all have
// run; where one fails none is judged.
func TestBatch(t *testing.T) {
	b := &Bench{Options: Options{Each: backwards}}
	batch := b.Batch()
	var got []string
	for _, policy := range []string{"random", FCFS, "fcfs"} {
		batch.Add(hour(policy), func(r *sim.Report) { got = append(got, fmt.Sprint(policy, " ", r.Succeeded)) })
	}
	if len(got) != 0 {
		t.Fatalf("%v before anything ran", got)
	}
	if err := batch.Run(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"random 6", "fcfs:order=turn 6", "fcfs 6"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	batch.Add(hour("best"), func(*sim.Report) { got = append(got, "best") })
	if err := batch.Run(); err == nil || !strings.Contains(err.Error(), "scenario 4 of 4") || len(got) != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}
