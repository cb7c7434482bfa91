package submission

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/lab/table"
	"godwit/task"
)

// Tasks that write ever new fields add a bounded number of columns, whose names are bounded together. What is kept does
// not depend on chance, and nothing in a cell is executed.
func TestColumnsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		long       int // bytes of a name
		wantFields int
	}{
		"many names": {10, maxFields},
		"long names": {maxField, maxNames / maxField},
	} {
		var of columns
		for i := range 50 {
			r := &row{fixed: make([]string, len(fixedColumns)), fields: map[string]string{}}
			for k := range maxFields / 2 {
				key := fmt.Sprintf("=%05d", i*maxFields/2+k)
				r.fields[key+strings.Repeat("x", c.long-len(key))] = "=1+1"
			}
			of.add(r)
		}
		if len(of.fields) != c.wantFields || of.bytes > maxNames {
			t.Errorf("%s: %d columns with %d bytes are kept, want %d", name, len(of.fields), of.bytes, c.wantFields)
		}
		names := of.names()
		if want := "=00000"; !strings.HasPrefix(names[len(fixedColumns)], want) {
			t.Errorf("%s: the first is %.10s, want %s", name, names[len(fixedColumns)], want)
		}
	}
}

func TestTableCellsAreNoFormulas(t *testing.T) {
	var of columns
	r := &row{fixed: make([]string, len(fixedColumns)), params: []task.EnvVar{{Name: "n", Value: "-1.5"}},
		fields: map[string]string{"=evil": "@SUM(A1)", "x": "+3e4"}}
	r.fixed[7] = "-2+3|cmd"
	of.add(r)
	var b bytes.Buffer
	out := table.NewCSV(&b, false)
	if err := out.Write(of.names()); err != nil {
		t.Fatal(err)
	}
	if err := of.write(out, r); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	want := []string{strings.Join(fixedColumns, ",") + ",n,'=evil,x", ",,,,,,,'-2+3|cmd,-1.5,'@SUM(A1),+3e4", ""}
	if !slices.Equal(lines, want) {
		t.Errorf("the table is %q, want %q", lines, want)
	}
}
