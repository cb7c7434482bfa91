package table

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// write returns the table of some rows, and its file.
func write(t interface{ Fatal(...any) }, columns []string, rows [][]string) (*task.Table, []byte) {
	var file bytes.Buffer
	w := NewWriter(&file, columns)
	for _, r := range rows {
		if err := w.Add(r...); err != nil {
			t.Fatal(err)
		}
	}
	table, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	table.CID, table.Size = task.RawCID(file.Bytes()), int64(file.Len())
	return &table, file.Bytes()
}

func reader(file []byte) *Reader {
	return NewReader(func(_ *task.Table, page int) ([]byte, error) { return PageOf(bytes.NewReader(file), page) })
}

// Whatever rows are written, each is read again by its index, in any order, and the record of them is one
// that others accept.
func TestRowsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := [][]string{{""}, {"a"}, {"", "b_1", "c"}}[rapid.IntRange(0, 2).Draw(t, "columns")]
		filler := strings.Repeat("x", rapid.SampledFrom([]int{0, 100, 40_000, task.MaxCell - 10}).Draw(t, "filler"))
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []string {
			r := make([]string, len(columns))
			for i := range r {
				r[i] = rapid.SampledFrom([]string{"", "é", "a,b", "\n"}).Draw(t, "cell")
			}
			r[0] += filler
			return r
		}), 1, 20).Draw(t, "rows")
		table, file := write(t, columns, rows)
		sweep := task.Sweep{Axes: []task.Axis{{Name: "x", Table: table}}}
		if err := sweep.Validate(); err != nil {
			t.Fatal(err)
		}
		r := reader(file)
		for range 2 * len(rows) {
			i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
			if got, err := r.Row(table, uint64(i)); err != nil || !slices.Equal(got, rows[i]) {
				t.Fatalf("row %d is %.40q, %v, want %.40q", i, got, err, rows[i])
			}
		}
	})
}

func TestWriterRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  string
	}{
		"ragged":    {[]string{"a"}, "1 cells, want 2"},
		"long":      {[]string{"", strings.Repeat("x", task.MaxCell+1)}, `column "b": 65537 bytes, the most is 65536`},
		"no text":   {[]string{"\xff", ""}, `column "a": it is not valid UTF-8`},
		"zero byte": {[]string{"a", "x\x00"}, `column "b": it contains a zero byte`},
	} {
		w := NewWriter(&bytes.Buffer{}, []string{"a", "b"})
		if err := w.Add(c.cells...); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := NewWriter(&bytes.Buffer{}, []string{""}).Close(); err == nil {
		t.Error("a table without rows was written")
	}
}

// A record that says more of its table than the file has is found out, whatever it says.
func TestTableThatIsNotAsItsRecordSays(t *testing.T) {
	table, file := write(t, []string{"", "b"}, [][]string{{"one", "1"}, {"two", "22"}})
	for name, c := range map[string]func(*task.Table){
		"rows":    func(t *task.Table) { t.Rows = 1000 },
		"columns": func(t *task.Table) { t.Columns = append(t.Columns, task.Column{Name: "c", Longest: 9}) },
		"longest": func(t *task.Table) { t.Columns = []task.Column{{Longest: 2}, {Name: "b", Longest: 2}} },
	} {
		said := *table
		c(&said)
		if row, err := reader(file).Row(&said, 1); !errors.Is(err, task.ErrTable) {
			t.Errorf("%s: the row is %q, %v", name, row, err)
		}
	}
}

// Any bytes are read as a page or refused, and no more is allocated than they have rows.
func FuzzReadPage(f *testing.F) {
	_, file := write(f, []string{"", "b"}, [][]string{{"one", "1"}, {"two", "22"}})
	f.Add(uint64(2), file)
	f.Add(uint64(1)<<62, file)
	f.Add(uint64(2), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, rows uint64, b []byte) {
		table := &task.Table{Rows: rows, Columns: []task.Column{{Longest: task.MaxCell}, {Name: "b", Longest: 3}}}
		p, err := ReadPage(table, 0, b)
		if err != nil {
			if !errors.Is(err, task.ErrTable) {
				t.Fatal(err)
			}
			return
		}
		for i := range rows {
			if row, err := p.Row(i); err == nil && (len(row) != 2 || len(row[1]) > 3) {
				t.Fatalf("row %d is %q", i, row)
			}
		}
	})
}
