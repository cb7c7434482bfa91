package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// tabled returns a valid job of two rows of a table times two numbers.
func tabled(t *testing.T) *Job {
	t.Helper()
	j := testJob()
	j.Args = []string{"{{.case}}", "{{.case.alpha}}", "{{.n}}", "{{.trial}}"}
	j.Env, j.Files, j.Stdin = nil, []string{"in/{{.case.alpha}}"}, ""
	j.Inputs = []FileRef{{Name: "in/1", CID: RawCID(nil)}}
	j.Sweep = Sweep{Axes: []Axis{{Name: "case", Table: aTable()}, {Name: "n", Step: 1, Count: 2}}}
	return j
}

func aTable() *Table {
	return &Table{CID: RawCID(nil), Size: 10, Rows: 2, Columns: []Column{{"", 3}, {"alpha", 3}}}
}

func rowsOf(rows ...[]string) Rows {
	return func(_ *Table, i uint64) ([]string, error) { return rows[i], nil }
}

func TestExpandByTable(t *testing.T) {
	j := tabled(t)
	if err := j.Validate(); err != nil {
		t.Fatal(err)
	}
	inv, err := j.ExpandBy(3, rowsOf([]string{"one", "0"}, []string{"two", "1"}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"two", "1", "1", "0"}; !slices.Equal(inv.Args, want) || inv.Files[0].Name != "in/1" {
		t.Errorf("arguments are %q, files %v", inv.Args, inv.Files)
	}
	if p := j.Sweep.Point(3); p[0] != (EnvVar{"case", "2"}) {
		t.Errorf("the point is called %v", p)
	}
	for name, rows := range map[string]Rows{
		"a file that is no input": rowsOf([]string{"one", "0"}, []string{"two", "7"}),
		"a way out of the root":   rowsOf(nil, []string{"two", ".."}),
		"a longer cell":           rowsOf(nil, []string{"three", "1"}),
		"too few cells":           rowsOf(nil, []string{"two"}),
		"a zero byte":             rowsOf(nil, []string{"a\x00", "1"}),
	} {
		if inv, err := j.ExpandBy(3, rows); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v, %v", name, inv, err)
		}
	}
	if _, err := j.Expand(0); err == nil {
		t.Error("expanded without its table")
	}
}

// Whatever a stranger's record says of a table, it is refused before anything is allocated for it.
func TestTableRefused(t *testing.T) {
	long := func(j *Job, t *Table) { t.Columns[0].Longest, j.Args = MaxCell, slices.Repeat(j.Args[:1], 17) }
	for want, change := range map[string]func(*Job, *Table){
		"the table has no rows":           func(_ *Job, t *Table) { t.Rows = 0 },
		"rows, the most is 1000000000000": func(_ *Job, t *Table) { t.Rows = MaxTasks + 1 },
		"is not valid":                    func(_ *Job, t *Table) { t.CID = "x" },
		"cannot have 0 bytes":             func(_ *Job, t *Table) { t.Size = 0 },
		"cannot have 262145 bytes":        func(_ *Job, t *Table) { t.Size = TableChunk + 1 },
		"page 0 of the table has no rows": func(_ *Job, t *Table) { t.Pages = []uint64{0} },
		"page 1 of the table has no rows": func(_ *Job, t *Table) { t.Pages = []uint64{2} },
		"16385 pages":                     func(_ *Job, t *Table) { t.Pages = make([]uint64, MaxPages) },
		"has 0 columns":                   func(_ *Job, t *Table) { t.Columns = nil },
		"twice":                           func(_ *Job, t *Table) { t.Columns = append(t.Columns, t.Columns[0]) },
		"not an identifier":               func(_ *Job, t *Table) { t.Columns[1].Name = "a b" },
		"has texts of -1 bytes":           func(_ *Job, t *Table) { t.Columns[1].Longest = -1 },
		"no axis \"case.beta\"":           func(j *Job, _ *Table) { j.Args[0] = "{{.case.beta}}" },
		"can exceed":                      long,
		"both a table and something else": func(j *Job, _ *Table) { j.Sweep.Axes[0].Values = []string{"a"} },
		"has a table that is not stored":  func(j *Job, t *Table) { *t = Table{} },
	} {
		j := tabled(t)
		change(j, j.Sweep.Axes[0].Table)
		if err := j.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A record with a table is the same after it was signed and read, and one without says nothing of tables:
// nodes from before read it.
func TestTableInRecord(t *testing.T) {
	checkOpens(t, tabled(t))
	b, err := Encode(&Axis{Name: "n", Step: 1, Count: 2})
	if err != nil || b[0] != 0xa6 { // a map of the six fields of before
		t.Errorf("an axis without a table is %x, %v", b, err)
	}
}

// Axes that are read from files have their tables set before the job is; what then is wrong is told at its
// place in the job file.
func TestParseTables(t *testing.T) {
	const text = `module: a.wasm
args: ["{{.case.alpha}}", "{{.name}}"]
sweep:
  case: {csv: cases.csv}
  name: {lines: names.txt}
  n: [1, 2]
`
	f, err := ParseFile("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Unread(); !slices.Equal(got, []string{"case", "name"}) ||
		f.Sources["case"] != (Source{"csv", "cases.csv"}) || f.Sources["name"] != (Source{"lines", "names.txt"}) {
		t.Fatalf("%v of %v are to be read", got, f.Sources)
	}
	if _, err := f.Job(RawCID(nil), nil, "commons", exampleTime, make([]byte, NonceSize)); err == nil ||
		!strings.Contains(err.Error(), `axis "case" has a table that is not stored`) {
		t.Errorf("a job without its tables: %v", err)
	}
	if err := f.SetTable("case", *aTable()); err != nil {
		t.Fatal(err)
	}
	bad := *aTable()
	bad.Columns = []Column{{"other", 1}}
	const want = `job.yaml:2:27: there is no axis "name" for {{.name}}`
	if err := f.SetTable("name", bad); err == nil || err.Error() != want {
		t.Errorf("a table without the column: %v", err)
	}
	if err := f.SetTable("name", *aTable()); err != nil || len(f.Unread()) > 0 {
		t.Fatal(err, f.Unread())
	}
	j, err := f.Job(RawCID(nil), nil, "commons", exampleTime, make([]byte, NonceSize))
	if err != nil || j.Sweep.Count() != 8 {
		t.Fatal(j, err)
	}
	for text, want := range map[string]string{
		"{csv: \"\"}":         "the table's file has no name",
		"{csv: a, lines: b}":  "write {lines: FILE}",
		"{lines: a, from: 0}": "write {lines: FILE}",
	} {
		_, err := ParseFile("job.yaml", []byte("module: a.wasm\nsweep:\n  x: "+text))
		var e *Error
		if !errors.As(err, &e) || e.Line != 3 || !strings.Contains(e.Msg+e.Hint, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
