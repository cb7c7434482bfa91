package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a record of a stranger may say of stages is refused before anything is computed from it.
func TestHostileStages(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   string
	}{
		{
			"a need of itself",
			func(j *Job) { j.Stages[1].Needs[0].Stage = 1 },
			"not before it",
		},
		{
			"a need of a later stage",
			func(j *Job) { j.Stages[1].Needs[0].Stage = 3 },
			"not before it",
		},
		{
			"a need of a stage that there is not",
			func(j *Job) { j.Stages[1].Needs[0].Stage = 1 << 63 },
			"not before it",
		},
		{
			"a need twice",
			func(j *Job) { j.Stages[1].Needs = append(j.Stages[1].Needs, j.Stages[1].Needs[0]) },
			"twice",
		},
		{
			"a need of no kind",
			func(j *Job) { j.Stages[1].Needs[0].Kind = 9 },
			"a need of kind 9",
		},
		{
			"too many needs",
			func(j *Job) { j.Stages[3].Needs = make([]Need, maxNeeds+1) },
			"the most is",
		},
		{
			"groups by no axis",
			func(j *Job) { j.Stages[2].Needs[0].By = nil },
			"groups by no axis",
		},
		{
			"groups by an axis that there is not",
			func(j *Job) { j.Stages[2].Needs[0].By = []string{"nowhere"} },
			"has no axis",
		},
		{
			"groups by an axis twice",
			func(j *Job) { j.Stages[2].Needs[0].By = []string{"region", "region"} },
			"twice",
		},
		{
			"groups of a need that has none",
			func(j *Job) { j.Stages[1].Needs[0].By = []string{"region"} },
			"not by any",
		},
		{
			"a pattern that leaves the sandbox",
			func(j *Job) { j.Stages[1].Needs[0].Reads = []string{"../../etc/passwd"} },
			"leaves the sandbox",
		},
		{
			"too many patterns",
			func(j *Job) { j.Stages[1].Needs[0].Reads = slices.Repeat([]string{"out.csv"}, maxReadPatterns+1) },
			"patterns of files",
		},
		{
			"a file that nobody makes",
			func(j *Job) { j.Stages[1].Needs[0].Reads = []string{"other"} },
			"has no output",
		},
		{
			"a standard input that is not read",
			func(j *Job) { j.Stages[1].StdinFrom = "simulate/secret" },
			"no file that it reads",
		},
		{
			"a standard input of many",
			func(j *Job) { j.Stages[2].StdinFrom = "clean/out.csv" },
			"no file that it reads",
		},
		{
			"two standard inputs",
			func(j *Job) { j.Stages[1].Stdin = "model.bin" },
			"no file that it reads",
		},
		{
			"more than all may fail",
			func(j *Job) { j.Stages[3].AllowFailed = shareWhole + 1 },
			"above 100%",
		},
		{
			"one by one, and some may fail",
			func(j *Job) { j.Stages[1].AllowFailed = 1 },
			"only of groups",
		},
		{
			"a name twice",
			func(j *Job) { j.Stages[1].Name = "simulate" },
			"no stage may be called",
		},
		{
			"a name that is none",
			func(j *Job) { j.Stages[0].Name = "../x" },
			"not an identifier",
		},
		{
			"a stage that reads none after one that does",
			func(j *Job) { j.Stages[2].Needs = nil },
			"comes after one that does",
		},
		{
			"too many stages",
			func(j *Job) { j.Stages = slices.Repeat(j.Stages, MaxStages) },
			"the most is 64",
		},
		{
			"too many tasks",
			func(j *Job) { j.Stages[0].Sweep.Axes[0].Count = MaxStaged; j.Stages = j.Stages[:1] },
			"more than 200000 tasks",
		},
		{
			"so many tasks that their number overflows",
			func(j *Job) { j.Stages[0].Sweep.Repeat = 1 << 63 },
			"tasks, the most is",
		},
		{
			"a program of its own",
			func(j *Job) { j.Args = []string{"x"} },
			"no program of its own",
		},
		{
			"a sweep of its own",
			func(j *Job) { j.Sweep.Repeat = 2 },
			"no program of its own",
		},
		{
			"a module that is none",
			func(j *Job) { j.Stages[2].Module = "x" },
			"is not valid",
		},
		{
			"another module than the first stage's",
			func(j *Job) { j.Module = RawCID([]byte("another")) },
			"not that of the first stage",
		},
		{
			"auditors",
			func(j *Job) { j.Verify = &Verify{Auditors: []PeerID{"a"}} },
			"nowhere else yet",
		},
	} {
		j := stagedJob(t, pipeline)
		c.change(j)
		if err := j.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A job file is taken if its stages do not wait for one another in a circle, whatever their order, and
// comes to stages that each read what was before them.
func TestStagesAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "stages")
		needs := make([][]int, n)
		for i := range needs {
			for k := range n {
				if k != i && rapid.IntRange(0, 3).Draw(t, "need") == 0 {
					needs[i] = append(needs[i], k)
				}
			}
		}
		var src strings.Builder
		src.WriteString("name: x\nstages:\n")
		for _, i := range rapid.Permutation(upTo(n)).Draw(t, "order") {
			fmt.Fprintf(&src, "  s%d:\n    module: m.wasm\n", i)
			if len(needs[i]) > 0 {
				fmt.Fprintf(&src, "    after: [s%s]\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(needs[i]), " ", ", s"), "[]"))
			}
		}
		f, err := ParseFile("job.yaml", []byte(src.String()))
		if circular(needs) {
			if err == nil || !strings.Contains(err.Error(), "in a circle") {
				t.Fatalf("got %v of stages in a circle:\n%s", err, src.String())
			}
			return
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, src.String())
		}
		for at, s := range f.Stages {
			var got []int
			for _, need := range s.Needs {
				if need.Stage >= uint64(at) {
					t.Fatalf("stage %s reads one that is not before it", s.Name)
				}
				got = append(got, number(f.Stages[need.Stage].Name))
			}
			if want := needs[number(s.Name)]; !slices.Equal(got, want) {
				t.Fatalf("stage %s reads %v, want %v", s.Name, got, want)
			}
		}
	})
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// number is that in the name of a stage.
func number(name string) (n int) {
	_, _ = fmt.Sscanf(name, "s%d", &n)
	return n
}

// circular reports whether a graph has a circle: taking out who needs nobody that is left does not empty it.
func circular(needs [][]int) bool {
	left := upTo(len(needs))
	for {
		n := len(left)
		left = slices.DeleteFunc(left, func(i int) bool {
			return !slices.ContainsFunc(needs[i], func(k int) bool { return slices.Contains(left, k) })
		})
		if len(left) == n {
			return n > 0
		}
	}
}

func TestParseShare(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint32
		ok   bool
	}{
		{"0%", 0, true},
		{"5%", 50_000, true},
		{"0.5%", 5_000, true},
		{"12.3456%", 123_456, true},
		{"100%", shareWhole, true},
		{"100.1%", 0, false},
		{"0.00001%", 0, false},
		{"-1%", 0, false},
		{"5", 0, false},
		{"%", 0, false},
		{"", 0, false},
		{"999999999999999999%", 0, false},
	} {
		if got, ok := parseShare(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %d, %v, want %d, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// How many of those that are read may have failed is rounded down, and of one that is followed it is none.
func TestMayFail(t *testing.T) {
	s := Stage{AllowFailed: 50_000}
	for _, c := range []struct {
		kind NeedKind
		of   uint64
		want uint64
	}{
		{NeedEach, 1, 0},
		{NeedBy, 19, 0},
		{NeedBy, 20, 1},
		{NeedAfter, 39, 1},
		{NeedAfter, MaxStaged, MaxStaged / 20},
	} {
		if got := s.MayFail(&Need{Kind: c.kind}, c.of); got != c.want {
			t.Errorf("%v of %d: %d may fail, want %d", c.kind, c.of, got, c.want)
		}
	}
}

// A job file's modules are named by the stages, and each has to be stored.
func TestSetModules(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte(pipeline))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"simulate": "sim.wasm",
		"clean":    "clean.wasm",
		"fit":      "fit.wasm",
		"report":   "report.wasm",
	}
	modules := map[string]CID{}
	for stage, path := range f.Paths() {
		if want[stage] != path {
			t.Errorf("stage %s has module %q, want %q", stage, path, want[stage])
		}
		modules[stage] = RawCID([]byte(path))
	}
	delete(modules, "fit")
	e, is := f.SetModules(modules).(*Error)
	if !is || e.Line != 11 || !strings.Contains(e.Msg, "has not been stored") {
		t.Errorf("a stage without a module: got %v", e)
	}
	modules["fit"] = modules["clean"]
	if err := f.SetModules(modules); err != nil {
		t.Error(err)
	}
	j := f.draft()
	if got := len(j.Modules()); got != 3 {
		t.Errorf("%d modules, want 3: two stages have the same", got)
	}
	if got := f.Tasks(); got != 15 {
		t.Errorf("%d tasks, want 15", got)
	}
}

// A job without stages is as it was: one stage of all its tasks, none of which reads another.
func TestNoStages(t *testing.T) {
	j := &Job{Name: "x", Module: RawCID(nil), Outputs: []string{Stdout}, Sweep: Sweep{Repeat: 7}}
	if of, i := j.At(3); of != j || i != 3 {
		t.Error("task 3 is of another job")
	}
	if j.Tasks() != 7 || j.Roots() != 7 || j.InlineOf(3) != MaxInline || j.TaskName(3) != "3" {
		t.Errorf("%d tasks, %d that read none, %d inline, called %s", j.Tasks(), j.Roots(), j.InlineOf(3), j.TaskName(3))
	}
	if !slices.Equal(j.Modules(), []CID{j.Module}) || !slices.Equal(j.OutputsOf(6), j.Outputs) {
		t.Error("another module, or other outputs")
	}
	for range j.Readers(3) {
		t.Error("a task reads it")
	}
	for range j.Needed(3) {
		t.Error("it reads a task")
	}
	if err := j.CheckReads(3, []Output{{Name: "x/y"}}); err == nil {
		t.Error("it may read a file of others")
	}
}

// What is wrong within a stage is shown there.
func TestPlacesInStages(t *testing.T) {
	for _, c := range []struct{ change, to, place string }{
		{"args: [\"{{.region}}\"]", "args: [\"{{.regoin}}\"]", "job.yaml:12:12: "},
		{"outputs: [fit.json]", "outputs: [\"../x\"]", "job.yaml:16:15: "},
		{"files: [\"{{.fit}}/*/fit.json\"]", "files: [\"/x\"]", "job.yaml:7:13: "},
		{"sweep: {seed", "sweep: {trial: [1], seed", "job.yaml:20:13: "},
		{"stdin: \"{{.simulate}}/stdout\"", "stdin: [x]", "job.yaml:"},
		{"module: sim.wasm", "module: \"\"", "job.yaml:18:13: "},
	} {
		src := strings.Replace(pipeline, c.change, c.to, 1)
		if src == pipeline {
			t.Fatalf("nothing to change: %s", c.change)
		}
		if _, err := ParseFile("job.yaml", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), c.place) {
			t.Errorf("%s: got %v, want it at %s", c.to, err, c.place)
		}
	}
}

// No bytes that decode make the indices of a job come out wrong: what validates can be asked anything.
func TestStagesThatValidateCanBeAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := randomStages(t)
		for range 4 {
			s := &j.Stages[rapid.IntRange(0, len(j.Stages)-1).Draw(t, "stage")]
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				s.Sweep = Sweep{Repeat: rapid.Uint64().Draw(t, "repeat")}
			case 1:
				s.Needs = append(s.Needs, Need{
					Stage: rapid.Uint64Range(0, 7).Draw(t, "of"),
					Kind:  NeedKind(rapid.Uint8Range(0, 4).Draw(t, "kind")),
					By:    rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "w", "x"})).Draw(t, "by"),
					Reads: []string{"out"},
				})
			case 2:
				s.Needs = nil
			case 3:
				s.AllowFailed = rapid.Uint32().Draw(t, "allow")
			}
		}
		if j.checkShape() != nil {
			return
		}
		n := j.Tasks()
		if n == 0 || n > MaxStaged || j.Roots() > n {
			t.Fatalf("%d tasks, of which %d read none", n, j.Roots())
		}
		for _, i := range []uint64{0, n / 2, n - 1} {
			stage, local := j.StageOf(i)
			if from, to := j.StageRange(stage); from+local != i || i >= to {
				t.Fatalf("task %d is number %d of stage %d, which has %d to %d", i, local, stage, from, to)
			}
			if _, err := j.Expand(i); err != nil {
				t.Fatal(err)
			}
			for _, m := range j.Needed(i) {
				if last := m.At(m.Count() - 1); last >= i {
					t.Fatalf("task %d needs task %d", i, last)
				}
			}
		}
	})
}

// A stage that is read stands for its directory in arguments and variables, however it is written, and in
// no other stage.
func TestStageNamesInTemplates(t *testing.T) {
	src := strings.Replace(pipeline, "    args: [\"{{.region}}\"]\n",
		"    args: [\"{{.region}}\", \"{{  .clean  }}/{{.clean}}\"]\n    env: {FROM: \"/{{.clean}}\"}\n", 1)
	j := stagedJob(t, src)
	inv, err := j.Expand(13)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(inv.Args, inv.Env), "[south clean/clean] [{FROM /clean}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(inv.Params), "[{region south} {trial 0}]"; got != want {
		t.Errorf("the parameters are %s, want %s", got, want)
	}
	for _, other := range []string{"{{.report}}", "{{.simulate}}", "{{.fit}}"} {
		if _, err := ParseFile("job.yaml", []byte(strings.Replace(src, "/{{.clean}}\"}", other+"\"}", 1))); err == nil {
			t.Errorf("%s is taken in a stage that does not read it", other)
		}
	}
}
