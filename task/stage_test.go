package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// pipeline is a job of four stages: 6 tasks, 6, 2 groups and 1.
const pipeline = `name: fit
stages:
  report:
    module: report.wasm
    args: ["-in", "{{.fit}}", "-all", "{{ .clean }}"]
    after: [fit, clean]
    files: ["{{.fit}}/*/fit.json"]
    outputs: [report.html]
    allow_failed: 50%
  fit:
    module: fit.wasm
    args: ["{{.region}}"]
    by: region
    of: clean
    files: ["{{.clean}}/*/out.csv", "model.bin"]
    outputs: [fit.json]
  simulate:
    module: sim.wasm
    args: ["{{.region}}", "{{.seed}}"]
    sweep: {seed: {from: 1, to: 3}, region: [north, south]}
    outputs: [out.csv, stdout]
  clean:
    module: clean.wasm
    each: simulate
    stdin: "{{.simulate}}/stdout"
    files: ["{{.simulate}}/out.csv"]
    outputs: [out.csv]
`

func stagedJob(t *testing.T, src string) *Job {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]CID{}
	for stage, path := range f.Paths() {
		modules[stage] = RawCID([]byte(path))
	}
	if err := f.SetModules(modules); err != nil {
		t.Fatal(err)
	}
	names, err := f.InputNames()
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]FileRef{}
	for _, n := range names {
		inputs[n] = FileRef{CID: RawCID([]byte(n)), Size: int64(len(n))}
	}
	j, err := f.Job("", inputs, "commons", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func needs(j *Job, i uint64) string {
	var out []string
	for n, m := range j.Needed(i) {
		out = append(out, fmt.Sprint(n.Kind.String(), slices.Collect(m.All())))
	}
	return strings.Join(out, " ")
}

func TestStages(t *testing.T) {
	j := stagedJob(t, pipeline)
	if got, want := j.Tasks(), uint64(6+6+2+1); got != want {
		t.Fatalf("%d tasks, want %d", got, want)
	}
	if got := j.Roots(); got != 6 {
		t.Fatalf("%d tasks read no other, want 6", got)
	}
	for i, want := range map[uint64]string{
		0: "", 6: "each[0]", 11: "each[5]",
		12: "by[6 8 10]", 13: "by[7 9 11]", // seed, then region, which moves fastest
		14: "after[12 13] after[6 7 8 9 10 11]",
	} {
		if got := needs(j, i); got != want {
			t.Errorf("task %d (%s) needs %q, want %q", i, j.TaskName(i), got, want)
		}
	}
	for i, want := range map[uint64]string{
		3: "[2 south]", 9: "[]", 13: "[south]", 14: "[-in fit -all clean]",
	} {
		inv, err := j.Expand(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(inv.Args); got != want && !(i == 3 && got == "[south 2]") {
			t.Errorf("task %d runs with %s, want %s", i, got, want)
		}
	}
	made := []Output{{Name: "out.csv"}, {Name: "stdout"}}
	for n, m := range j.Needed(12) {
		if got := j.FilesOf(n, m.At(1), made); len(got) != 1 || got[0].Name != "clean/2/out.csv" {
			t.Errorf("the group reads %v", got)
		}
	}
	for n, m := range j.Needed(7) {
		if got := j.FilesOf(n, m.At(0), made); len(got) != 2 || got[0].Name != "simulate/out.csv" {
			t.Errorf("the task that follows reads %v", got)
		}
	}
	if _, err := j.Expand(15); err == nil {
		t.Error("a task that there is not expands")
	}
}

// A leader names the files that a task reads: no others than those are given to it.
func TestCheckReads(t *testing.T) {
	j := stagedJob(t, pipeline)
	for _, c := range []struct {
		index uint64
		names []string
		ok    bool
	}{
		{7, []string{"simulate/out.csv", "simulate/stdout"}, true},
		{7, []string{"simulate/0/out.csv"}, false},
		{7, []string{"simulate/secret"}, false},
		{7, []string{"clean/out.csv"}, false},
		{12, []string{"clean/0/out.csv", "clean/2/out.csv"}, true},
		{12, []string{"clean/1/out.csv"}, false}, // of the other group
		{12, []string{"clean/6/out.csv"}, false},
		{12, []string{"clean/00/out.csv"}, false},
		{12, []string{"clean/out.csv"}, false},
		{12, []string{"model.bin"}, false},
		{14, []string{"fit/0/fit.json", "fit/1/fit.json"}, true},
		{14, []string{"clean/0/out.csv"}, false}, // it waits for it alone
		{0, []string{"simulate/out.csv"}, false},
		{0, nil, true},
	} {
		var files []Output
		for _, n := range c.names {
			files = append(files, Output{Name: n})
		}
		if err := j.CheckReads(c.index, files); (err == nil) != c.ok {
			t.Errorf("task %d reads %v: %v", c.index, c.names, err)
		}
	}
}

// A worker that puts more into its result than a lease of those that read it has room for is refused.
func TestInlineOfManyReaders(t *testing.T) {
	j := stagedJob(t, strings.Replace(pipeline, "seed: {from: 1, to: 3}", "seed: {from: 1, to: 4096}", 1))
	few, many := j.InlineOf(0), j.InlineOf(2*4096)
	if few != MaxInline || many != maxReadInline/4096 {
		t.Errorf("room for %d and %d bytes", few, many)
	}
	out := []Output{{Name: "out.csv", Size: int64(many) + 1, Inline: make([]byte, many+1)}}
	if err := j.CheckOutputs(2*4096, out); err == nil {
		t.Error("a result that is too large for a lease is taken")
	}
	out[0].Name = "stdout"
	if err := j.CheckOutputs(0, out); err != nil {
		t.Error(err)
	}
}

// A record of a job with stages opens as it was signed, and one of a node of before is what it was.
func TestStagedRecord(t *testing.T) {
	j := stagedJob(t, pipeline)
	rec, err := SignJob(j, testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := rec.Open()
	if err != nil {
		t.Fatal(err)
	}
	a, _ := Encode(j)
	if b, _ := Encode(got); string(a) != string(b) {
		t.Error("the job that opens is another")
	}
	// A node of before decodes what it knows and finds that these are not the bytes that it would write.
	old := *got
	old.Stages = nil
	if b, _ := Encode(&old); string(a) == string(b) {
		t.Error("a node of before would take the job for one without stages")
	}
}

func TestBadStages(t *testing.T) {
	for _, c := range []struct{ change, to, want string }{
		{"each: simulate", "each: simulat", `job.yaml:24:11: there is no stage "simulat"`},
		{"each: simulate", "each: report", "in a circle: report needs fit needs clean needs report"},
		{"of: clean", "of: fit", "in a circle: fit needs fit"},
		{"by: region", "by: regoin", `stage clean has no axis "regoin"`},
		{"    by: region\n", "", "groups by no axis"},
		{"    of: clean\n", "", "groups of no stage"},
		{"each: simulate", "each: simulate\n    sweep: {a: [1, 2]}", "has 6 tasks, and this one 2"},
		{"of: clean", "of: clean\n    sweep: {a: [1]}", "no points of its own"},
		{"of: clean\n    files: [", "of: clean\n    each: simulate\n    files: [\"{{.simulate}}/stdout\", ",
			"follows tasks one by one, and groups of them"},
		{"{{.fit}}/*/fit.json", "{{.fit}}/fit.json", "lie in a directory each"},
		{"{{.clean}}/*/out.csv", "{{.clean}}/*/out.tsv", `stage clean has no output "out.tsv"`},
		{"\"{{.clean}}/*/out.csv\", ", "", "reads no file of stage clean"},
		{"allow_failed: 50%", "allow_failed: 500%", "is not a share"},
		{"allow_failed: 50%", "allow_failed: 5", "is not a share"},
		{"each: simulate", "each: simulate\n    allow_failed: 5%", "only of groups"},
		{"name: fit\n", "name: fit\nverify: 5%\nauditors: [12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN]\n",
			"nowhere else yet"},
		{"name: fit\n", "name: fit\nmodule: a.wasm\n", "has no program of its own"},
		{"name: fit\n", "name: fit\nreplicas: 2\n", "cannot agree"},
		{"name: fit\n", "", "has no name"},
		{"model.bin", "clean/x", "would lie where results of stage clean do"},
		{"    module: fit.wasm\n", "", `stage "fit" names no module`},
		{"each: simulate", "eech: simulate", "eech"},
		{"seed: {from: 1, to: 3}", "seed: {from: 1, to: 5000}", "a task would read 5000 tasks"},
	} {
		src := strings.Replace(pipeline, c.change, c.to, 1)
		if src == pipeline {
			t.Fatalf("nothing to change: %s", c.change)
		}
		f, err := ParseFile("job.yaml", []byte(src))
		if err == nil && strings.Contains(c.want, "would lie") {
			_ = f.SetModules(map[string]CID{"simulate": RawCID(nil), "clean": RawCID(nil), "fit": RawCID(nil),
				"report": RawCID(nil)})
			_, err = f.Job("", map[string]FileRef{"clean/x": {CID: RawCID(nil)}}, "commons", time.Now(), make([]byte, NonceSize))
		}
		e, is := err.(*Error)
		if !is || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.to, err, c.want)
		} else if e.Hint == "" {
			t.Errorf("%q: %v has no hint", c.to, err)
		} else if e.Line == 0 && !strings.Contains(c.want, "no name") {
			t.Errorf("%q: %v has no place", c.to, err)
		}
	}
}

// randomStages draws a job of stages that need one another in every way.
func randomStages(t *rapid.T) *Job {
	j := &Job{Name: "x", Memory: MinMemory, Replicas: 1}
	axis := func(name string) Axis {
		return Axis{Name: name, Step: 1, Count: rapid.Uint64Range(1, 4).Draw(t, name)}
	}
	for s := range rapid.IntRange(1, 6).Draw(t, "stages") {
		st := Stage{Name: fmt.Sprint("s", s), Outputs: []string{"out"}}
		var of Sweep
		if s > 0 {
			of = j.SweepOf(rapid.IntRange(0, s-1).Draw(t, "of"))
		}
		kind := NeedKind(rapid.IntRange(0, 3).Draw(t, "kind"))
		if s == 0 || len(j.Stages[s-1].Needs) > 0 && kind == 0 {
			kind *= 0
			if s > 0 {
				kind = NeedAfter
			}
		}
		switch up := uint64(rapid.IntRange(0, max(0, s-1)).Draw(t, "up")); kind {
		case NeedEach:
			st.Needs = []Need{{Stage: up, Kind: NeedEach, Reads: []string{"out"}}}
		case NeedBy:
			of = j.SweepOf(int(up))
			var by []string
			for _, a := range of.Axes {
				if rapid.Bool().Draw(t, "by") {
					by = append(by, a.Name)
				}
			}
			if len(by) == 0 {
				st.Needs = []Need{{Stage: up, Kind: NeedAfter}}
				break
			}
			if rapid.Bool().Draw(t, "turned") {
				slices.Reverse(by)
			}
			st.Needs = []Need{{Stage: up, Kind: NeedBy, By: by, Reads: []string{"out"}}}
		case NeedAfter:
			st.Needs = []Need{{Stage: up, Kind: NeedAfter, Reads: []string{"out"}}}
			st.Sweep = Sweep{Axes: []Axis{axis("w")}}
		default:
			st.Sweep = Sweep{Axes: []Axis{axis("a"), axis("b"), axis("c")}, Repeat: rapid.Uint64Range(0, 2).Draw(t, "repeat")}
		}
		j.Stages = append(j.Stages, st)
	}
	return j
}

// Which tasks a task needs is what their parameters say, and who needs a task is the same the other way round.
func TestNeedsAndReadersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := randomStages(t)
		if f := j.checkShape(); f != nil {
			t.Fatalf("the stages are refused: %v", f)
		}
		type pair struct{ reader, of uint64 }
		needed, readers := map[pair]bool{}, map[pair]bool{}
		for i := range j.Tasks() {
			for n, m := range j.Needed(i) {
				last, first := uint64(0), true
				for u := range m.All() {
					if !first && u <= last {
						t.Fatalf("task %d needs %d after %d", i, u, last)
					}
					last, first = u, false
					needed[pair{i, u}] = true
				}
				if n.Kind == NeedBy {
					checkGroup(t, j, i, n, m)
				}
			}
			for r := range j.Readers(i) {
				for d := r.From; d < r.To; d++ {
					readers[pair{d, i}] = true
				}
			}
			if i < j.Roots() != (needs(j, i) == "") {
				t.Fatalf("task %d needs %q, and the first %d need none", i, needs(j, i), j.Roots())
			}
		}
		if !maps.Equal(needed, readers) {
			t.Fatalf("needed are %v, readers are %v", needed, readers)
		}
	})
}

// checkGroup holds a group against the parameters of all tasks of the stage.
func checkGroup(t *rapid.T, j *Job, i uint64, n *Need, m Members) {
	of, local := j.At(i)
	mine := of.Sweep.Point(local)
	var want []uint64
	from, to := j.StageRange(int(n.Stage))
	for u := from; u < to; u++ {
		other, l := j.At(u)
		same := true
		for _, p := range other.Sweep.Point(l) {
			if slices.Contains(n.By, p.Name) && !slices.Contains(mine, p) {
				same = false
			}
		}
		if same {
			want = append(want, u)
		}
	}
	if got := slices.Collect(m.All()); !slices.Equal(got, want) {
		t.Fatalf("task %d reads %v by %v, want %v", i, got, n.By, want)
	}
}
