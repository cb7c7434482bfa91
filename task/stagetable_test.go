package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fromFiles has a stage over rows of a file that go with a list, thrice each, a task of clean for each of these, and
// one of fit for each row.
const fromFiles = `name: rows
stages:
  make:
    module: a.wasm
    args: ["{{.case.alpha}}", "{{.part}}", "{{.n}}"]
    files: ["in/{{.case.alpha}}"]
    sweep: {case: {csv: cases.csv}, n: [0, 1, 2], part: [x, y]}
    zip: [case, part]
    outputs: [out]
  clean:
    module: a.wasm
    args: ["{{.case.alpha}}"]
    each: make
    files: ["{{.make}}/out"]
    outputs: [out]
  fit:
    module: a.wasm
    args: ["{{.case.alpha}}"]
    by: case
    of: clean
    files: ["{{.clean}}/*/out"]
`

// rowsJob returns the job of fromFiles, of the rows that twoRows gives.
func rowsJob(t *testing.T) *Job {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(fromFiles))
	if err != nil {
		t.Fatal(err)
	}
	if unread := f.Unread(); !slices.Equal(unread, []string{"make.case"}) || f.Sources["make.case"].Name != "cases.csv" {
		t.Fatalf("unread are %q of %v", unread, f.Sources)
	}
	if err := f.SetModules(map[string]CID{"make": RawCID(nil), "clean": RawCID(nil), "fit": RawCID(nil)}); err != nil {
		t.Fatal(err)
	}
	if err := f.SetTable("make.case", *aTable()); err != nil {
		t.Fatal(err)
	}
	names, err := f.TableNames(twoRows)
	if err != nil || !slices.Equal(names, []string{"in/0", "in/1"}) {
		t.Fatalf("rows name %q, %v", names, err)
	}
	inputs := map[string]FileRef{}
	for _, name := range names {
		inputs[name] = FileRef{CID: RawCID([]byte(name)), Size: 1}
	}
	j, err := f.Job("", inputs, "commons", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	if f.Table("make.case").CID = RawCID([]byte("sealed")); j.Tables()[0].CID != RawCID(nil) {
		t.Error("the job shares its table with the file")
	}
	return j
}

var twoRows = rowsOf([]string{"one", "0"}, []string{"two", "1"})

// Stages take values from files as jobs do, and those that follow have the same rows; a row has a group.
func TestTablesInStages(t *testing.T) {
	j := rowsJob(t)
	if j.Tasks() != 14 || len(j.Tables()) != 1 || len(j.TableFiles()) != 1 {
		t.Fatalf("%d tasks, want 6, 6 and 2; tables %v", j.Tasks(), j.Tables())
	}
	for group := range uint64(2) {
		fit, err := j.ExpandBy(12+group, twoRows)
		if err != nil {
			t.Fatal(err)
		}
		var of []string
		for _, members := range j.Needed(12 + group) {
			for i := range members.All() {
				clean, err := j.ExpandBy(i, twoRows)
				made, err2 := j.ExpandBy(i-6, twoRows)
				if err != nil || err2 != nil || clean.Args[0] != made.Args[0] || made.Files[0].Name != "in/"+made.Args[0] {
					t.Fatalf("%v follows %v, which reads %v: %v, %v", clean.Args, made.Args, made.Files, err, err2)
				}
				of = append(of, clean.Args[0]+made.Args[1]+made.Args[2])
			}
		}
		row := fit.Args[0] + string("xy"[group])
		if want := []string{row + "0", row + "1", row + "2"}; !slices.Equal(of, want) {
			t.Errorf("group %v is of %q, want %q", fit.Args, of, want)
		}
	}
	if _, err := j.Expand(0); err == nil {
		t.Error("a task is expanded without its row")
	}
	b, err := Encode(j)
	if err != nil {
		t.Fatal(err)
	}
	var again Job
	if err := Decode(b, &again); err != nil || again.Validate() != nil || again.Tasks() != j.Tasks() {
		t.Errorf("decoded it has %d tasks: %v, %v", again.Tasks(), err, again.Validate())
	}
}

// A record whose table is not set, or is not one, is refused, also where its stages are wrong as well.
func TestHostileTablesInStages(t *testing.T) {
	for name, spoil := range map[string]func(j *Job){
		"no table":      func(j *Job) { *j.Stages[0].Sweep.Axes[0].Table = Table{} },
		"no rows":       func(j *Job) { j.Stages[0].Sweep.Axes[0].Table.Rows = 0 },
		"too many rows": func(j *Job) { j.Stages[0].Sweep.Axes[0].Table.Rows = MaxStaged },
		"no such stage": func(j *Job) { *j.Stages[0].Sweep.Axes[0].Table, j.Stages[1].Needs[0].Stage = Table{}, 77 },
		"a circle":      func(j *Job) { *j.Stages[0].Sweep.Axes[0].Table, j.Stages[1].Needs[0].Stage = Table{}, 1 },
		"a column of no name": func(j *Job) {
			j.Stages[0].Sweep.Axes[0].Table.Columns[1].Name = "not one"
		},
		"another number of rows than values": func(j *Job) { j.Stages[0].Sweep.Axes[0].Table.Rows = 1 },
	} {
		j := rowsJob(t)
		if spoil(j); j.Validate() == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
}

// What is wrong with axes from files is told at its place, before the rows are read and after.
func TestRefusedTablesInStages(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte(fromFiles))
	if err != nil {
		t.Fatal(err)
	}
	if e := f.ErrorAt(f.SourcePlace("make.case"), "", ""); e.Line != 7 || e.Column == 0 {
		t.Errorf("the source stands at %d:%d", e.Line, e.Column)
	}
	short := *aTable()
	short.Rows = 1
	if err := f.SetTable("make.case", short); err == nil || !strings.Contains(err.Error(), "has 1 values") {
		t.Errorf("one row beside two values: %v", err)
	}
	for _, axis := range []string{"case", "make.n", "make", "clean.case", "none.case", ""} {
		if err := f.SetTable(axis, *aTable()); err == nil {
			t.Errorf("axis %q has a table", axis)
		}
	}
}

// Groups, by axes that go together or not, hold what a list of all points by their values says.
func TestGroupsOfZip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var of Sweep
		for i := range rapid.IntRange(1, 5).Draw(t, "axes") {
			a := Axis{Name: fmt.Sprintf("a%d", i), Step: 1, Count: rapid.Uint64Range(1, 3).Draw(t, "points")}
			if i > 0 && rapid.Bool().Draw(t, "joined") {
				a.Joined, a.Count = true, of.Axes[i-1].Count
			}
			of.Axes = append(of.Axes, a)
		}
		of.Repeat = rapid.Uint64Range(0, 2).Draw(t, "trials")
		names := make([]string, len(of.Axes))
		for i := range of.Axes {
			names[i] = of.Axes[i].Name
		}
		by := rapid.Permutation(names).Draw(t, "by")
		by = by[:rapid.IntRange(1, len(by)).Draw(t, "of them")]
		j := &Job{Stages: []Stage{{Name: "make", Sweep: of},
			{Name: "fit", Needs: []Need{{Stage: 0, Kind: NeedBy, By: by, Reads: []string{"out"}}}}}}
		from, to := j.StageRange(1)
		seen := map[uint64]bool{}
		for group := from; group < to; group++ {
			points := j.SweepOf(1)
			want := points.Point(group - from)
			for _, members := range j.Needed(group) {
				if members.Count() != j.Widest(&j.Stages[1].Needs[0]) {
					t.Fatalf("group %v has %d members", want, members.Count())
				}
				for i := range members.All() {
					point := of.Point(i)
					for _, v := range want[:len(want)-1] {
						if !slices.Contains(point, v) {
							t.Fatalf("group %v has %v", want, point)
						}
					}
					for r := range j.Readers(i) {
						if seen[i] || r.From != group || r.To != group+1 {
							t.Fatalf("task %d of group %d is read by %v", i, group, r)
						}
					}
					seen[i] = true
				}
			}
		}
		if uint64(len(seen)) != from {
			t.Fatalf("%d of %d tasks are in groups", len(seen), from)
		}
	})
}
