package task

import (
	"fmt"
	"slices"
)

// Limits of a table.
const (
	// MaxColumns is the most columns that a table may have.
	MaxColumns = 64
	// MaxCell is the longest text of a cell, in bytes.
	MaxCell = 64 << 10
	// MaxPages is the most pages of a table: four gibibytes. A record names the first row of each.
	MaxPages = 16_384
	// TableChunk is how many bytes a page takes in the stored file: one leaf of it (package blocks),
	// so that whoever needs a row fetches one block and the few above it.
	TableChunk = 256 << 10
	// TablePage is how many bytes of rows a page has at most: what a chunk holds when it is sealed
	// (package blocks/seal).
	TablePage = TableChunk - 16
)

// AgainColumn is the column of a table that has, for each task of a job that runs tasks of another again, which
// one it is.
const AgainColumn = "task"

// A Table is the values of an axis as rows of a file, which package task/table writes and reads. Nobody
// needs all of it to run a task: the record says in which page a row is. Templates name a cell
// {{.axis.column}}, and {{.axis}} that of the column without a name.
type Table struct {
	CID     CID      `cbor:"1,keyasint" json:"cid"`                // UnixFS
	Size    int64    `cbor:"2,keyasint" json:"size"`               // bytes, as it is stored: see Job.Sealed
	Rows    uint64   `cbor:"3,keyasint" json:"rows"`               // at least 1
	Columns []Column `cbor:"4,keyasint" most:"64" json:"columns"`  // at least 1, each name once
	Pages   []uint64 `cbor:"5,keyasint" most:"16384" json:"pages"` // first rows of the pages but the first, ascending
}

// A Column is one of a table.
type Column struct {
	Name    string `cbor:"1,keyasint" json:"name"`    // an identifier; "" for the axis's own value
	Longest int    `cbor:"2,keyasint" json:"longest"` // bytes of its longest cell; a reader refuses a longer one
}

// Rows gives row i of a table, i < t.Rows: a text for each column.
type Rows func(t *Table, i uint64) ([]string, error)

// Page returns the page of row i, i < Rows, and the row's place in it.
func (t *Table) Page(i uint64) (page int, within uint64) {
	page, found := slices.BinarySearch(t.Pages, i)
	if found {
		page++
	}
	return page, i - t.First(page)
}

// First returns the first row of a page, and Rows for the page after the last.
func (t *Table) First(page int) uint64 {
	switch {
	case page == 0:
		return 0
	case page > len(t.Pages):
		return t.Rows
	}
	return t.Pages[page-1]
}

// check checks what a record says of a table. Whether its file holds that is seen when it is read.
func (t *Table) check(where string) *fault {
	pages := len(t.Pages) + 1
	switch {
	case t.Rows == 0:
		return faultf(where, "give it at least one row", "the table has no rows")
	case t.Rows > MaxTasks:
		return faultf(where, "split it into several jobs", "the table has %d rows, the most is %d", t.Rows, uint64(MaxTasks))
	case pages > MaxPages:
		return faultf(where, "split it into several jobs, or put long text into input files",
			"the table has %d pages, the most is %d", pages, MaxPages)
	case !t.CID.Valid():
		return faultf(where, "", "CID %s of the table is not valid", quote(string(t.CID)))
	case t.Size <= 0 || t.Size > int64(pages)*TableChunk:
		return faultf(where, "", "a table of %d pages cannot have %d bytes", pages, t.Size)
	}
	for page := range pages {
		if t.First(page) >= t.First(page+1) {
			return faultf(where, "", "page %d of the table has no rows", page)
		}
	}
	return t.checkColumns(where)
}

func (t *Table) checkColumns(where string) *fault {
	if len(t.Columns) == 0 || len(t.Columns) > MaxColumns {
		return faultf(where, "leave columns out that no template names", "the table has %d columns, not 1 to %d",
			len(t.Columns), MaxColumns)
	}
	seen := make(map[string]bool, len(t.Columns))
	for _, c := range t.Columns {
		switch {
		case c.Name != "" && !isIdentifier(c.Name):
			return faultf(where, "use letters, digits and _, at most 64, and no digit first",
				"column name %s is not an identifier", quote(c.Name))
		case seen[c.Name]:
			return faultf(where, "give each column its own name", "column %s appears twice", quote(c.Name))
		case c.Longest < 0 || c.Longest > MaxCell:
			return faultf(where, "put long text into input files", "column %s has texts of %d bytes, the most is %d",
				quote(c.Name), c.Longest, MaxCell)
		}
		seen[c.Name] = true
	}
	return nil
}

// CheckRow returns what is wrong with a row that was read, by what the record says of the table.
func (t *Table) CheckRow(cells []string) error {
	if len(cells) != len(t.Columns) {
		return fmt.Errorf("a row of %d cells in a table of %d columns", len(cells), len(t.Columns))
	}
	for i, c := range cells {
		if f := checkText("column "+quote(t.Columns[i].Name), c, t.Columns[i].Longest); f != nil {
			return f
		}
	}
	return nil
}

// Tables lists the tables of the sweep's axes, in order.
func (s *Sweep) Tables() []*Table {
	var out []*Table
	for i := range s.Axes {
		if t := s.Axes[i].Table; t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Tables lists the tables of the job, of its own axes and of those of its stages, in order. One that several
// stages go by comes once.
func (j *Job) Tables() []*Table {
	out := j.Sweep.Tables()
	for i := range j.Stages {
		out = append(out, j.Stages[i].Sweep.Tables()...)
	}
	return out
}

// TableFiles lists the files of the job's tables, without names.
func (j *Job) TableFiles() []FileRef {
	var out []FileRef
	for _, t := range j.Tables() {
		out = append(out, FileRef{CID: t.CID, Size: t.Size})
	}
	return out
}

// A reference is what a template may name.
type reference struct {
	name    string
	axis    int // of the sweep; the number of axes for the trial
	longest int // bytes of the longest value
}

// references returns what templates may mention: the axes in order, then trial.
func (s *Sweep) references() []reference {
	refs := make([]reference, 0, len(s.Axes)+1)
	for i := range s.Axes {
		a := &s.Axes[i]
		if a.Table == nil {
			refs = append(refs, reference{a.Name, i, a.longest()})
			continue
		}
		for _, c := range a.cellColumns() {
			refs = append(refs, reference{a.ref(c.name), i, a.Table.Columns[c.place].Longest})
		}
	}
	return append(refs, reference{Trial, len(s.Axes), maxDecimalText})
}

// A cellColumn is a column of an axis's table that the axis has values of.
type cellColumn struct {
	name  string
	place int // in the table
}

// cellColumns returns those columns: of groups of rows those by which they are groups.
func (a *Axis) cellColumns() []cellColumn {
	if a.Table == nil {
		return nil
	}
	out := make([]cellColumn, 0, len(a.Table.Columns))
	for i, c := range a.Table.Columns {
		if a.group == nil || slices.Contains(a.columns, c.Name) {
			out = append(out, cellColumn{c.Name, i})
		}
	}
	return out
}

// ref is what templates call a column of the axis.
func (a *Axis) ref(column string) string {
	if column == "" {
		return a.Name
	}
	return a.Name + "." + column
}

// cells returns what templates name at point i of the axis, which has a table.
func (a *Axis) cells(i uint64, rows Rows) ([]EnvVar, error) {
	if rows == nil {
		return nil, fmt.Errorf("axis %s has a table, which is not here", quote(a.Name))
	}
	if a.group != nil {
		i = a.group.first(i)
	}
	row, err := rows(a.Table, i)
	if err == nil {
		if e := a.Table.CheckRow(row); e != nil {
			err = fmt.Errorf("%w: %w", ErrTable, e)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("row %d of axis %s: %w", i+1, quote(a.Name), err)
	}
	columns := a.cellColumns()
	params := make([]EnvVar, len(columns))
	for k, c := range columns {
		params[k] = EnvVar{a.ref(c.name), row[c.place]}
	}
	return params, nil
}
