package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// additionsOf returns the additions to a job, after earlier ones with those rows.
func additionsOf(t interface{ Fatal(...any) }, j *Job, earlier [][]string) *Additions {
	a, err := NewAdditions(j)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range earlier {
		if err := a.Note(row); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// Whatever is added in whatever order, no trial of a point comes twice, and the numbers of tasks continue the job's.
func TestAdditionsAddNothingTwice(t *testing.T) {
	rows := rowsOf([]string{"one", "0"}, []string{"two", "1"})
	rapid.Check(t, func(t *rapid.T) {
		j := testJob()
		j.Args, j.Env, j.Files, j.Stdin = nil, nil, nil, ""
		j.Sweep = drawSweep(t)
		if rapid.Bool().Draw(t, "table") {
			j.Sweep.Axes = append(j.Sweep.Axes, Axis{Name: "case", Table: aTable()})
		}
		seen, numbers := map[string]bool{}, j.Tasks()
		for i := range j.Tasks() {
			row, err := j.RunAgain().Row(i, rows)
			if err != nil {
				t.Fatal(err)
			}
			seen[pointKey(row[:len(row)-1])] = true
		}
		var all [][]string
		for range rapid.IntRange(1, 4).Draw(t, "additions") {
			a := additionsOf(t, j, all)
			add := func(row []string) error {
				key := pointKey(row[:len(row)-1])
				if seen[key] {
					t.Fatalf("row %v comes twice", row)
				}
				if row[len(row)-1] != fmt.Sprint(numbers) {
					t.Fatalf("row %v, want number %d", row, numbers)
				}
				seen[key] = true
				numbers++
				all = append(all, slices.Clone(row))
				return nil
			}
			n := rapid.Uint64Range(1, 3).Draw(t, "trials")
			if len(j.Sweep.Axes) > 0 && j.Sweep.Axes[0].Table == nil && rapid.Bool().Draw(t, "new points") {
				axis := &j.Sweep.Axes[0]
				values := []string{"1.5", "7", axis.Value(0)}
				if len(axis.Values) == 0 && slices.Contains(values[:2], values[2]) {
					values = values[:2]
				}
				_, err := a.NewPoints(map[string][]string{axis.Name: values}, rows, func(values []string) error {
					return a.Trials(values, 0, n, add)
				})
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := a.Points(nil, rows, func(values []string, first uint64) error {
				return a.Trials(values, first, n, add)
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An added task runs with what a larger sweep would run it with.
func TestAddedTaskRunsAsInALargerSweep(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\ntrials: 2\n"+
		"args: ['{{.who}}:{{.n}}', '{{.trial}}']\nenv: {N: 'x{{.n}}'}\n"+
		"sweep: {who: [ada, grace], n: {from: 0.5, to: 1, step: 0.5}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := f.draft()
	a := additionsOf(t, j, nil)
	var table [][]string
	add := func(row []string) error {
		table = append(table, slices.Clone(row))
		return nil
	}
	known, err := a.NewPoints(map[string][]string{"who": {"lin", "ada"}, "n": {"1.0", "2"}}, nil, func(v []string) error {
		return a.Trials(v, 0, a.First(), add)
	})
	if err != nil || known != 1 { // ada with 1
		t.Fatal(known, err)
	}
	if err := a.Points(map[string][]string{"who": {"grace"}, "n": {"0.50"}}, nil, func(v []string, first uint64) error {
		return a.Trials(v, first, 1, add)
	}); err != nil {
		t.Fatal(err)
	}
	of, err := a.File()
	if err != nil {
		t.Fatal(err)
	}
	made := Table{CID: RawCID(nil), Size: 1, Rows: uint64(len(table))}
	for _, c := range a.Columns() {
		made.Columns = append(made.Columns, Column{c, 4096})
	}
	if err := of.SetTable(AgainAxis, made); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range table {
		inv, err := of.draft().ExpandBy(uint64(i), func(_ *Table, i uint64) ([]string, error) { return table[i], nil })
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s #%s", strings.Join(inv.Args, " "), inv.Env[0].Value, table[i][2], table[i][3]))
	}
	want := []string{"lin:1 0 x1 0 #8", "lin:1 1 x1 1 #9", "lin:2 0 x2 0 #10", "lin:2 1 x2 1 #11", "ada:2 0 x2 0 #12",
		"ada:2 1 x2 1 #13", "grace:0.5 2 x0.5 2 #14"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What cannot be added is refused with a way out.
func TestAdditionsThatAreRefused(t *testing.T) {
	read := func(text string) *Job {
		f, err := ParseFile("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f.draft()
	}
	j := read("module: a.wasm\nsweep: {who: [ada], n: {from: 1, to: 3}, x: [a, b], y: [c, d]}\nzip: [x, y]\n")
	j.Sweep.Axes = append(j.Sweep.Axes, Axis{Name: "case", Table: aTable()})
	none := func([]string) error { return nil }
	for _, tt := range []struct {
		axes map[string][]string
		want string
	}{
		{map[string][]string{"wo": {"lin"}}, `the job has no axis "wo"`},
		{map[string][]string{"n": {"many"}}, `axis n is a range of numbers, and "many" is none`},
		{map[string][]string{"n": {"4", "4.0"}}, `axis n gets the value "4" twice`},
		{map[string][]string{"who": nil}, "axis who gets no values"},
		{map[string][]string{"x": {"e"}}, "axis x goes together with another one"},
		{map[string][]string{"y": {"e"}}, "axis y goes together with another one"},
		{map[string][]string{"case": {"e"}}, "the values of axis case come from a file"},
		{map[string][]string{"who": {"a\x00b"}}, `"a\x00b" contains a zero byte`},
	} {
		_, err := additionsOf(t, j, nil).NewPoints(tt.axes, rowsOf([]string{"one", "0"}, []string{"two", "1"}), none)
		var e *Error
		if !errors.As(err, &e) || e.Msg != tt.want || e.Hint == "" {
			t.Errorf("%v: %v, want %s", tt.axes, err, tt.want)
		}
	}
	err := additionsOf(t, j, nil).Points(map[string][]string{"whom": {"ada"}}, nil, nil)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Hint != "did you mean who?" {
		t.Error(err)
	}
	files := testJob()
	files.Args, files.Env, files.Files = nil, nil, []string{"{{.quality}}.json"}
	if err := additionsOf(t, files, nil).Trials([]string{"0", "low"}, 1, 1, none); err == nil || err.Error() !=
		`task 128: file "low.json" is not among the job's inputs` {
		t.Error(err)
	}
	for name, j := range map[string]*Job{
		"stages":  read("name: a\nstages:\n  s: {module: a.wasm}\n"),
		"another": {Sweep: Sweep{Axes: []Axis{{Name: AgainAxis, Table: &Table{Columns: []Column{{"who", 1}, {AgainColumn, 1}}}}}}},
	} {
		if _, err := NewAdditions(j); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, row := range [][]string{{"a"}, {"ada", "1", "a", "c", "one", "0", "x", "9"}, {"ada", "1", "a", "c", "one", "0", "1", "x"}} {
		if additionsOf(t, j, nil).Note(row) == nil {
			t.Errorf("row %v: no error", row)
		}
	}
}

// Values of an axis are found in it, and none between them.
func TestAxisHoldsItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxis(t, "a")
		values := map[string]bool{}
		for i := range a.Len() {
			values[a.Value(i)] = true
			if !a.holds(a.Value(i)) {
				t.Fatalf("%+v does not hold %s", a, a.Value(i))
			}
		}
		d := decimal{a.From + rapid.Int64Range(-3000, 3000).Draw(t, "distance"), a.Decimals}
		if s := d.String(); a.holds(s) != values[s] {
			t.Fatalf("%+v holds %s: %v, want %v", a, s, a.holds(s), values[s])
		}
	})
}
