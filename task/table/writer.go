package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"godwit/task"
)

// A Writer writes the file of a table row by row. It holds one page.
type Writer struct {
	to    io.Writer
	table task.Table
	page  []byte
}

// NewWriter returns a Writer of a table whose columns have these names, "" for the axis's own.
func NewWriter(to io.Writer, columns []string) *Writer {
	w := &Writer{to: to, page: make([]byte, 0, task.TablePage)}
	for _, name := range columns {
		w.table.Columns = append(w.table.Columns, task.Column{Name: name})
	}
	return w
}

// Add writes a row, a text for each column. A row that a table cannot hold is an error, with nothing
// written; it names the column. Errors of the writer below are returned as they are.
func (w *Writer) Add(cells ...string) error {
	if len(cells) != len(w.table.Columns) {
		return fmt.Errorf("%d cells, want %d", len(cells), len(w.table.Columns))
	}
	size := 0
	for i, c := range cells {
		if err := check(c); err != nil {
			return fmt.Errorf("column %q: %w", w.table.Columns[i].Name, err)
		}
		size += binary.MaxVarintLen32 + len(c)
	}
	if size > task.TablePage {
		return fmt.Errorf("a row of %s, the most is %s", task.FormatSize(int64(size)), task.FormatSize(task.TablePage))
	}
	if len(w.page)+size > task.TablePage {
		if err := w.turn(); err != nil {
			return err
		}
	}
	for i, c := range cells {
		w.page = append(binary.AppendUvarint(w.page, uint64(len(c))), c...)
		column := &w.table.Columns[i]
		column.Longest = max(column.Longest, len(c))
	}
	w.table.Rows++
	return nil
}

// check says what is wrong with a cell.
func check(cell string) error {
	switch {
	case len(cell) > task.MaxCell:
		return fmt.Errorf("%d bytes, the most is %d", len(cell), task.MaxCell)
	case !utf8.ValidString(cell):
		return fmt.Errorf("it is not valid UTF-8")
	case strings.IndexByte(cell, 0) >= 0:
		return fmt.Errorf("it contains a zero byte")
	}
	return nil
}

// turn writes a page that is full, and begins the next.
func (w *Writer) turn() error {
	if len(w.table.Pages)+1 >= task.MaxPages {
		return fmt.Errorf("more than %s of rows", task.FormatSize(task.MaxPages*task.TablePage))
	}
	n := len(w.page)
	w.page = w.page[:task.TablePage]
	clear(w.page[n:])
	if _, err := w.to.Write(w.page); err != nil {
		return err
	}
	w.page = w.page[:0]
	w.table.Pages = append(w.table.Pages, w.table.Rows)
	return nil
}

// Rows returns how many rows were added.
func (w *Writer) Rows() uint64 { return w.table.Rows }

// Close writes the last page and returns the table, of which CID and Size are to be filled in: see
// task.Table. It is an error if there are no rows. The writer below stays open.
func (w *Writer) Close() (task.Table, error) {
	if w.table.Rows == 0 {
		return task.Table{}, fmt.Errorf("the table has no rows")
	}
	_, err := w.to.Write(w.page)
	return w.table, err
}
