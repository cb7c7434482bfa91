package task

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// againOf returns the job that runs some tasks of another again, and its rows.
func againOf(t interface{ Fatal(...any) }, j *Job, which []uint64, rows Rows) (*Job, Rows) {
	a := j.RunAgain()
	var table [][]string
	for _, i := range which {
		row, err := a.Row(i, rows)
		if err != nil || len(row) != len(a.Columns()) {
			t.Fatal(row, a.Columns(), err)
		}
		table = append(table, row)
	}
	f, err := a.File()
	if err != nil {
		t.Fatal(err)
	}
	made := Table{CID: RawCID(nil), Size: 1, Rows: uint64(len(which))}
	for _, c := range a.Columns() {
		made.Columns = append(made.Columns, Column{c, 4096})
	}
	if err := f.SetTable(AgainAxis, made); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]FileRef{}
	for _, in := range j.Inputs {
		inputs[in.Name] = in
	}
	again, err := f.Job(j.Module, inputs, j.Overlay, j.Submitted.Time, j.Nonce)
	if err != nil {
		t.Fatal(err)
	}
	return again, func(_ *Table, i uint64) ([]string, error) { return table[i], nil }
}

// Whatever the sweep is, a task that is run again runs with what it ran with before; and run again once
// more it still says which one it was first.
func TestRunAgain(t *testing.T) {
	rows := rowsOf([]string{"one", "0"}, []string{"{{", "1"})
	rapid.Check(t, func(t *rapid.T) {
		j := testJob()
		j.Sweep = drawSweep(t)
		if rapid.Bool().Draw(t, "table") {
			j.Sweep.Axes = append(j.Sweep.Axes, Axis{Name: "case", Table: aTable()})
		}
		j.Args, j.Env, j.Files, j.Inputs, j.Stdin = nil, nil, nil, nil, ""
		for _, r := range j.Sweep.references() {
			j.Args = append(j.Args, fmt.Sprintf(`a{{"{{"}}{{.%s}}}`, r.name))
			j.Env = append(j.Env, EnvVar{fmt.Sprintf("E%02d", len(j.Env)), "{{ ." + r.name + " }}"})
		}
		if j.Validate() != nil {
			t.Skip("more than a job may have")
		}
		n := j.Sweep.Count()
		which := []uint64{n - 1, rapid.Uint64Range(0, n-1).Draw(t, "task")}
		again, cells := againOf(t, j, which, rows)
		twice, cellsTwice := againOf(t, again, []uint64{1}, cells)
		for k, i := range which {
			before, err := j.ExpandBy(i, rows)
			now, errNow := again.ExpandBy(uint64(k), cells)
			if err != nil || errNow != nil || !slices.Equal(before.Args, now.Args) || !slices.Equal(before.Env, now.Env) {
				t.Fatalf("task %d ran with %v, %v; again with %v, %v", i, before, err, now, errNow)
			}
		}
		now, err := twice.ExpandBy(0, cellsTwice)
		was, _ := j.ExpandBy(which[1], rows)
		first := now.Params[len(now.Params)-2]
		value := fmt.Sprintf("%0*d", len(fmt.Sprint(n-1)), which[1])
		if err != nil || !slices.Equal(now.Args, was.Args) || first.Value != value {
			t.Fatalf("once more: %v, %v; it says that it was task %v", now, err, first)
		}
	})
}

// A job keeps what it asks for, and its files.
func TestRunAgainKeeps(t *testing.T) {
	j := tabled(t)
	j.Verify, j.Class, j.Weight, j.Priority = &Verify{Audits: 1000, Draw: make([]byte, 32)}, "c", 2, 3
	rows := rowsOf([]string{"one", "1"}, []string{"two", "1"})
	again, cells := againOf(t, j, []uint64{2}, rows)
	if again.Verify.Audits != 1000 || again.Class != "c" || again.Weight != 2 || again.Priority != 3 ||
		again.Memory != j.Memory || again.Name != j.Name || !slices.Equal(again.Outputs, j.Outputs) {
		t.Errorf("it asks for %+v", again)
	}
	inv, err := again.ExpandBy(0, cells)
	if err != nil || len(inv.Files) != 1 || inv.Files[0].Name != "in/1" {
		t.Errorf("its files are %v, %v", inv.Files, err)
	}
	away := func(*Table, uint64) ([]string, error) { return nil, errors.New("away") }
	if _, err := j.RunAgain().Row(0, away); err == nil {
		t.Error("a row of a table that is not to be had")
	}
}
