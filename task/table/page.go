package table

import (
	"encoding/binary"
	"fmt"
	"io"

	"godwit/task"
)

// A Page is one of a table, read. It is safe for concurrent use.
type Page struct {
	table *task.Table
	bytes []byte
	rows  []uint32 // where each begins
}

// ReadPage finds the rows of a page in its bytes, which may be hostile: its error is task.ErrTable for
// such as do not have the rows that the table says. It keeps b.
func ReadPage(t *task.Table, page int, b []byte) (*Page, error) {
	bad := func(why string) (*Page, error) {
		return nil, fmt.Errorf("%w: page %d %s", task.ErrTable, page, why)
	}
	if page < 0 || page > len(t.Pages) || len(b) > task.TablePage {
		return bad("is none of it")
	}
	count := t.First(page+1) - t.First(page)
	if count > uint64(len(b)) { // a row has a byte at least
		return bad("has too few rows")
	}
	p := &Page{table: t, bytes: b, rows: make([]uint32, 0, count)}
	at := 0
	for range count {
		p.rows = append(p.rows, uint32(at))
		for range t.Columns {
			n, used := binary.Uvarint(b[at:])
			if used <= 0 || n > uint64(len(b)-at-used) {
				return bad("ends within a row")
			}
			at += used + int(n)
		}
	}
	return p, nil
}

// Row returns row k of the page, a text for each column, as task.Table.CheckRow allows it.
func (p *Page) Row(k uint64) ([]string, error) {
	if k >= uint64(len(p.rows)) {
		return nil, fmt.Errorf("%w: row %d of a page of %d", task.ErrTable, k, len(p.rows))
	}
	at := int(p.rows[k])
	cells := make([]string, len(p.table.Columns))
	for i := range cells {
		n, used := binary.Uvarint(p.bytes[at:])
		at += used
		cells[i] = string(p.bytes[at : at+int(n)])
		at += int(n)
	}
	if err := p.table.CheckRow(cells); err != nil {
		return nil, fmt.Errorf("%w: %w", task.ErrTable, err)
	}
	return cells, nil
}

// A Reader reads rows of tables page by page, and keeps the last page of each. It is not safe for
// concurrent use.
type Reader struct {
	bytes func(t *task.Table, page int) ([]byte, error)
	last  map[*task.Table]keptPage
}

type keptPage struct {
	number int
	page   *Page
}

// NewReader returns a Reader of pages whose bytes a function gives.
func NewReader(bytes func(t *task.Table, page int) ([]byte, error)) *Reader {
	return &Reader{bytes: bytes, last: map[*task.Table]keptPage{}}
}

// Row is a task.Rows.
func (r *Reader) Row(t *task.Table, i uint64) ([]string, error) {
	number, within := t.Page(i)
	kept := r.last[t]
	if kept.page == nil || kept.number != number {
		b, err := r.bytes(t, number)
		if err != nil {
			return nil, fmt.Errorf("reading page %d of a table: %w", number, err)
		}
		page, err := ReadPage(t, number, b)
		if err != nil {
			return nil, err
		}
		kept = keptPage{number, page}
		r.last[t] = kept
	}
	return kept.page.Row(within)
}

// PageOf reads the bytes of a page from a table's file, which is not sealed.
func PageOf(file io.ReaderAt, page int) ([]byte, error) {
	b := make([]byte, task.TablePage)
	n, err := file.ReadAt(b, int64(page)*task.TablePage)
	if err == io.EOF && n > 0 {
		err = nil
	}
	return b[:n], err
}
