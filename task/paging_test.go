package task

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Wherever pages begin, each row is in one, at its place, and a record that says so is one that others accept.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := aTable()
		lengths := rapid.SliceOfN(rapid.Uint64Range(1, 5), 1, 20).Draw(t, "rows of pages")
		table.Rows = 0
		for i, n := range lengths {
			if i > 0 {
				table.Pages = append(table.Pages, table.Rows)
			}
			table.Rows += n
		}
		row := uint64(0)
		for page, n := range lengths {
			if got := table.First(page); got != row {
				t.Fatalf("page %d begins with row %d, want %d", page, got, row)
			}
			for k := range n {
				if p, within := table.Page(row); p != page || within != k {
					t.Fatalf("row %d is at %d of page %d, want %d of %d", row, within, p, k, page)
				}
				row++
			}
		}
		if got := table.First(len(lengths)); got != table.Rows {
			t.Fatalf("behind the last page is row %d of %d", got, table.Rows)
		}
		s := Sweep{Axes: []Axis{{Name: "x", Table: table}}}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(table.Pages) == 0 {
			return
		}
		k := rapid.IntRange(0, len(table.Pages)-1).Draw(t, "page")
		table.Pages[k] = table.First(k) // nothing is left of the one before
		if err := s.Validate(); err == nil {
			t.Fatalf("pages that begin at %v were accepted", table.Pages)
		}
	})
}

// What templates may mention follows the axes, a table's cells column by column; a template of a file that
// mentions one names nothing that could be listed before the table is read.
func TestReferences(t *testing.T) {
	j := tabled(t)
	if got, want := namesOf(j.Sweep.references()), []string{"case", "case.alpha", "n", Trial}; !slices.Equal(got, want) {
		t.Errorf("templates may mention %v, want %v", got, want)
	}
	for template, want := range map[string]struct {
		points uint64
		tables bool
	}{
		"plain": {1, false}, "{{.n}}": {2, false}, "{{.n}}{{.trial}}": {2, false},
		"{{.case}}": {2, true}, "{{.case.alpha}}-{{.n}}": {4, true},
	} {
		r, tables, err := j.Sweep.restrict(template)
		if err != nil || tables != want.tables || r.Count() != want.points {
			t.Errorf("%s: %d points, of tables: %v, %v; want %v", template, r.Count(), tables, err, want)
		}
	}
	for _, template := range []string{"{{.case.beta}}", "{{.n.alpha}}", "{{.case.alpha.x}}", "{{.case.}}", "{{..alpha}}"} {
		if _, _, err := j.Sweep.restrict(template); err == nil {
			t.Errorf("%s was taken", template)
		}
	}
}

// Inputs that rows alone name are the job's beside those that templates name, sorted, each once.
func TestAddNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching("[a-d]{1,2}"), rapid.ID[string]).Draw(t, "names")
		inputs := map[string]FileRef{}
		for i, n := range names {
			inputs[n] = FileRef{CID: RawCID([]byte{byte(i)}), Size: int64(i)}
		}
		j := &Job{}
		slices.Sort(names)
		for i := 0; i < len(names); i += 2 {
			ref := inputs[names[i]]
			ref.Name = names[i]
			j.Inputs = append(j.Inputs, ref)
		}
		j.addNamed(inputs)
		var got []string
		for _, in := range j.Inputs {
			if in.CID != inputs[in.Name].CID || in.Size != inputs[in.Name].Size {
				t.Fatalf("%s is %v, want %v", in.Name, in, inputs[in.Name])
			}
			got = append(got, in.Name)
		}
		if !slices.Equal(got, names) {
			t.Fatalf("inputs are %v, want %v", got, names)
		}
	})
}

// The files of a job's tables are told with their sizes, and a table in a file is its own after the job was
// made of it.
func TestTableFiles(t *testing.T) {
	j := tabled(t)
	if got := j.TableFiles(); len(got) != 1 || got[0].CID != RawCID(nil) || got[0].Size != 10 || got[0].Name != "" {
		t.Errorf("its tables are %v", got)
	}
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\nargs: [\"{{.x}}\"]\nsweep: {x: {lines: a.txt}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	table := *aTable()
	if err := f.SetTable("x", table); err != nil {
		t.Fatal(err)
	}
	made, err := f.Job(RawCID(nil), nil, "commons", exampleTime, make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	table.Columns[0].Longest, f.Sweep.Axes[0].Table.Columns[1].Name = 99, "other"
	if got := made.Sweep.Axes[0].Table.Columns; got[0].Longest == 99 || got[1].Name != "alpha" {
		t.Errorf("the job shares its table's columns: %v", got)
	}
	if err := f.SetTable("y", table); err == nil {
		t.Error("an axis that is not there has a table")
	}
}
