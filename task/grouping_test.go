package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// byColumn has a stage over rows of a file, twice each, one of fit for each region and year, and one for each region
// of these.
const byColumn = `name: columns
stages:
  make:
    module: a.wasm
    args: ["{{.case.id}}", "{{.n}}"]
    sweep: {case: {csv: cases.csv}, n: [0, 1]}
    outputs: [out]
  clean:
    module: a.wasm
    each: make
    files: ["{{.make}}/out"]
    outputs: [out]
  fit:
    module: a.wasm
    args: ["{{.case.region}}", "{{.case.year}}"]
    by: [case.region, case.year]
    of: clean
    files: ["{{.clean}}/*/out"]
    outputs: [out]
  sum:
    module: a.wasm
    args: ["{{.case.region}}"]
    by: [case.region]
    of: fit
    files: ["{{.fit}}/*/out"]
`

var regions = [][]string{{"a", "north", "1"}, {"b", "south", "1"}, {"c", "north", "2"}, {"d", "east", "1"},
	{"e", "north", "1"}}

func regionTable() Table {
	return Table{CID: RawCID(nil), Size: 90, Rows: uint64(len(regions)),
		Columns: []Column{{"id", 1}, {"region", 5}, {"year", 1}}}
}

// columnsFile is the job file of byColumn, or of another, with its table.
func columnsFile(t *testing.T, text string) *File {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]CID{}
	for i := range f.Stages {
		modules[f.Stages[i].Name] = RawCID(nil)
	}
	if err := f.SetModules(modules); err != nil {
		t.Fatal(err)
	}
	if err := f.SetTable("make.case", regionTable()); err != nil || !f.Ungrouped() {
		t.Fatalf("ungrouped %v, %v", f.Ungrouped(), err)
	}
	return f
}

func columnsJob(t *testing.T) *Job {
	t.Helper()
	f := columnsFile(t, byColumn)
	if err := f.SetGroups(rowsOf(regions...)); err != nil || f.Ungrouped() {
		t.Fatalf("ungrouped %v, %v", f.Ungrouped(), err)
	}
	j, err := f.Job("", nil, "commons", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	if f.Stages[0].Groups[0].Of[0] ^= 1; j.Validate() != nil {
		t.Error("the job shares its groups with the file")
	}
	return j
}

// Rows with the same text in the columns are one group, also in groups of groups; the record tells it to those who
// do not have the table.
func TestGroupsByColumns(t *testing.T) {
	made := columnsJob(t)
	b, err := Encode(made)
	if err != nil {
		t.Fatal(err)
	}
	var j Job
	if err := Decode(b, &j); err != nil || j.Validate() != nil {
		t.Fatalf("decoded: %v, %v", err, j.Validate())
	}
	if j.Tasks() != 10+10+4+3 {
		t.Fatalf("%d tasks", j.Tasks())
	}
	var got []string
	for i := uint64(20); i < j.Tasks(); i++ {
		inv, err := j.ExpandBy(i, rowsOf(regions...))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range j.Needed(i) {
			got = append(got, fmt.Sprint(strings.Join(inv.Args, " "), slices.Collect(m.All())))
		}
	}
	want := []string{"north 1[10 11 18 19]", "south 1[12 13]", "north 2[14 15]", "east 1[16 17]",
		"north[20 22]", "south[21]", "east[23]"}
	if !slices.Equal(got, want) {
		t.Errorf("groups %q\nwant   %q", got, want)
	}
	fit := &j.Stages[2].Needs[0]
	if o := OutlineOf(&j); j.Widest(fit) != 4 || o[2].Needs[0].From != 0.4 || o[3].Needs[0].From != 0.5 {
		t.Errorf("the largest group has %d, outline %+v", j.Widest(fit), o)
	}
	if r := j.Stages[3].Needs[0]; j.Widest(&r) != 2 {
		t.Errorf("the largest of groups has %d", j.Widest(&r))
	}
	if err := j.CheckReads(20, []Output{{Name: "clean/0/out"}, {Name: "clean/9/out"}}); err != nil {
		t.Error(err)
	}
	if j.CheckReads(20, []Output{{Name: "clean/2/out"}}) == nil {
		t.Error("a group reads what is of another")
	}
	if _, err := j.Expand(20); err == nil {
		t.Error("a group is expanded without its row")
	}
}

// What a record says of groups is refused unless it is the one form of it.
func TestHostileGroups(t *testing.T) {
	for name, spoil := range map[string]func(g *Grouping, s *Stage){
		"none":             func(g *Grouping, s *Stage) { s.Groups = nil },
		"nothing":          func(g *Grouping, s *Stage) { s.Groups[0] = nil },
		"no group":         func(g *Grouping, s *Stage) { g.Count = 0 },
		"more than rows":   func(g *Grouping, s *Stage) { g.Count = 6 },
		"huge":             func(g *Grouping, s *Stage) { g.Count = 1 << 63 },
		"other rows":       func(g *Grouping, s *Stage) { g.Points = 1 << 62 },
		"fewer groups":     func(g *Grouping, s *Stage) { g.Count = 3 },
		"too few bytes":    func(g *Grouping, s *Stage) { g.Of = g.Of[:1] },
		"too many bytes":   func(g *Grouping, s *Stage) { g.Of = append(g.Of, 0) },
		"out of order":     func(g *Grouping, s *Stage) { g.Of[0] |= 1 },
		"bits at the end":  func(g *Grouping, s *Stage) { g.Of[1] |= 1 << 7 },
		"another column":   func(g *Grouping, s *Stage) { g.By = []string{"case.id", "case.year"} },
		"no column":        func(g *Grouping, s *Stage) { g.By = []string{"case.region", "case.zone"} },
		"an axis":          func(g *Grouping, s *Stage) { g.By = []string{"n"} },
		"not sorted":       func(g *Grouping, s *Stage) { g.By = []string{"case.year", "case.region"} },
		"twice":            func(g *Grouping, s *Stage) { s.Groups = append(s.Groups, g) },
		"of another stage": func(g *Grouping, s *Stage) { s.Sweep.Axes[0].Name = "row" },
	} {
		j := columnsJob(t)
		s := &j.Stages[0]
		if spoil(s.Groups[0], s); j.Validate() == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
	j := columnsJob(t)
	j.Stages[1].Groups = j.Stages[0].Groups
	if j.Validate() == nil {
		t.Error("a stage without points has groups of them")
	}
}

// What is wrong with columns is told at its place, with those that there are.
func TestRefusedColumns(t *testing.T) {
	for by, want := range map[string]string{
		"[case.regio]":             "has no column \"regio\"; its columns are id, region, year",
		"[case.region, n, case]":   "groups by axis case and by columns",
		"[n.region]":               "axis n of stage clean has no columns",
		"[row.region]":             "has no axis \"row\"",
		"[case.region, case.zone]": "has no column \"zone\"",
		"[case.]":                  "has no column \"\"",
	} {
		text := strings.Replace(byColumn, "[case.region, case.year]", by, 1)
		f, err := ParseFile("job.yaml", []byte(text))
		if err == nil {
			err = f.SetTable("make.case", regionTable())
		}
		if err == nil {
			err = f.SetGroups(rowsOf(regions...))
		}
		e, is := err.(*Error)
		if !is || e.Line != 16 || e.Hint == "" || !strings.Contains(e.Msg, want) {
			t.Errorf("by: %s: %#v", by, err)
		}
	}
	f := columnsFile(t, byColumn)
	failing := func(*Table, uint64) ([]string, error) { return nil, fmt.Errorf("it is away") }
	if err := f.SetGroups(failing); err == nil || !strings.Contains(err.Error(), "it is away") {
		t.Errorf("rows that cannot be read: %v", err)
	}
	many := regionTable()
	many.Rows = MaxStaged + 1
	if f.SetTable("make.case", many) != nil || f.SetGroups(rowsOf()) == nil {
		t.Error("too many rows are read")
	}
}

// Groups by columns of axes that go together, or not, hold what a list of all points by their values says.
func TestGroupsOfAnyColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := map[CID][][]string{}
		var of Sweep
		for i := range rapid.IntRange(1, 4).Draw(t, "axes") {
			a := Axis{Name: fmt.Sprintf("a%d", i), Table: &Table{CID: RawCID([]byte{byte(i)}), Size: 1,
				Columns: []Column{{"x", 1}, {"y", 1}}}, Joined: i > 0 && rapid.Bool().Draw(t, "joined")}
			n := rapid.IntRange(1, 5).Draw(t, "rows")
			if a.Joined {
				n = int(of.Axes[i-1].Table.Rows)
			}
			a.Table.Rows = uint64(n)
			cell := rapid.SampledFrom([]string{"p", "q"})
			for range n {
				rows[a.Table.CID] = append(rows[a.Table.CID], []string{cell.Draw(t, "x"), cell.Draw(t, "y")})
			}
			of.Axes = append(of.Axes, a)
		}
		of.Repeat = rapid.Uint64Range(0, 2).Draw(t, "trials")
		read := func(t *Table, i uint64) ([]string, error) { return rows[t.CID][i], nil }
		var names []string
		for i := range of.Axes {
			names = append(names, of.Axes[i].Name+".x", of.Axes[i].Name+".y")
		}
		by := rapid.Permutation(names).Draw(t, "by")
		by = by[:rapid.IntRange(1, len(by)).Draw(t, "of them")]
		again := by[:rapid.IntRange(1, len(by)).Draw(t, "of these")]
		f := &File{Stages: []FileStage{{Stage: Stage{Name: "make", Sweep: of, Outputs: []string{"out"}}}}, Name: "any",
			Memory: DefaultMemory, Replicas: 1}
		for k, by := range [][]string{by, again} {
			f.Stages = append(f.Stages, FileStage{Stage: Stage{Name: fmt.Sprintf("by%d", k), Outputs: []string{"out"},
				Needs: []Need{{Stage: uint64(k), Kind: NeedBy, By: by, Reads: []string{"out"}}}}})
		}
		if err := f.SetGroups(read); err != nil {
			t.Fatal(err)
		}
		j := f.draft()
		for stage, by := range [][]string{by, again} {
			checkGroups(t, j, stage+1, by, read)
		}
	})
}

// checkGroups holds the groups of a stage against the values of all points of the one before.
func checkGroups(t *rapid.T, j *Job, stage int, by []string, rows Rows) {
	value := func(i uint64) (out string) {
		inv, err := j.ExpandBy(i, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range by {
			k := slices.IndexFunc(inv.Params, func(p EnvVar) bool { return p.Name == name })
			out += inv.Params[k].Value
		}
		return out
	}
	byValue := map[string][]uint64{}
	from, to := j.StageRange(stage - 1)
	for i := from; i < to; i++ {
		byValue[value(i)] = append(byValue[value(i)], i)
	}
	n := &j.Stages[stage].Needs[0]
	widest, soon := 0, to
	from, to = j.StageRange(stage)
	if to-from != uint64(len(byValue)) {
		t.Fatalf("%d groups of %v", to-from, byValue)
	}
	for i := from; i < to; i++ {
		want := byValue[value(i)]
		for _, m := range j.Needed(i) {
			if got := slices.Collect(m.All()); !slices.Equal(got, want) {
				t.Fatalf("group %s has %v, want %v", value(i), got, want)
			}
		}
		widest, soon = max(widest, len(want)), min(soon, want[len(want)-1])
		for _, of := range want {
			for r := range j.Readers(of) {
				if r.Stage == stage && (r.From != i || r.To != i+1 || Needing(j, r) != uint64(len(want))) {
					t.Fatalf("task %d is read by %v of %d, want %d of %d", of, r, Needing(j, r), i, len(want))
				}
			}
		}
	}
	before, end := j.StageRange(stage - 1)
	share := float64(soon-before+1) / float64(end-before)
	if got := OutlineOf(j)[stage].Needs[0].From; j.Widest(n) != uint64(widest) || got != share {
		t.Fatalf("the largest group has %d, want %d; the first is whole at %v, want %v", j.Widest(n), widest, got, share)
	}
}

// A grouping that check accepts is the only form of its groups, and each point is in the group that it says.
func FuzzGrouping(f *testing.F) {
	f.Add(uint64(5), uint64(4), []byte{0x90, 0x00})
	f.Add(uint64(3), uint64(1), []byte{})
	f.Add(uint64(1<<40), uint64(1<<39), []byte{1})
	f.Fuzz(func(t *testing.T, points, count uint64, of []byte) {
		g := &Grouping{Points: points, Count: count, Of: of}
		if g.check(points) != nil {
			return
		}
		groups, lists := make([]uint32, points), g.listed()
		seen := 0
		for k := range count {
			for i, p := range lists.of(k) {
				if g.at(uint64(p)) != k || i > 0 && lists.of(k)[i-1] >= p {
					t.Fatalf("group %d has %v", k, lists.of(k))
				}
				groups[p] = uint32(k)
				seen++
			}
		}
		if again := newGrouping(nil, count, groups); uint64(seen) != points || !again.same(g) {
			t.Fatalf("%d points of %d; packed again %x, not %x", seen, points, again.Of, of)
		}
	})
}
