package submission

import (
	"maps"
	"slices"

	"godwit/lab/table"
)

const (
	// maxFields bounds the columns that tasks may add, and maxField a name or a value in bytes, because programs wrote
	// them.
	maxFields = 1000
	maxField  = 32 << 10
	// maxNames bounds the names of all columns that tasks may add, in bytes.
	maxNames = 1 << 20
)

// columns are the columns of a table. The zero value has none but fixedColumns.
type columns struct {
	params []string        // parameters of tasks, in order of their first task
	fields map[string]bool // fields of what tasks wrote
	bytes  int             // of names in fields
	sorted []string        // names in fields, once names was called
}

// add adds the columns of a row. Fields that exceed a limit get no column.
func (c *columns) add(r *row) {
	for _, p := range r.params { // those of stages differ
		if !slices.Contains(c.params, p.Name) {
			c.params = append(c.params, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if c.fields[name] || len(c.fields) >= maxFields || c.bytes+len(name) > maxNames {
			continue
		}
		if c.fields == nil {
			c.fields = map[string]bool{}
		}
		c.fields[name] = true
		c.bytes += len(name)
	}
}

// names returns the names of all columns, in order. No row is added afterwards.
func (c *columns) names() []string {
	c.sorted = slices.Sorted(maps.Keys(c.fields))
	return slices.Concat(fixedColumns, c.params, c.sorted)
}

// write writes the cells of a row.
func (c *columns) write(to *table.CSV, r *row) error {
	line := slices.Clone(r.fixed)
	for _, name := range c.params {
		line = append(line, r.param(name))
	}
	for _, name := range c.sorted {
		line = append(line, r.fields[name])
	}
	return to.Write(line)
}
