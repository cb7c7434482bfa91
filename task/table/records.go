package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"godwit/task"
)

// Records reads the rows of a table from text, one after the other, with the memory of one.
type Records struct {
	columns []string
	next    func() ([]string, int, error)
}

// Read begins to read text of a kind of task.SourceKinds: it reads the names of the columns. Its errors, and
// those of Next, name the line.
func Read(kind string, from io.Reader) (*Records, error) {
	b := bufio.NewReaderSize(from, task.TableChunk)
	if mark, err := b.Peek(3); err == nil && bytes.Equal(mark, []byte("\ufeff")) {
		b.Discard(len(mark))
	}
	switch kind {
	case "lines":
		next, row := lines(b), make([]string, 1)
		return &Records{columns: []string{""}, next: func() (_ []string, n int, err error) {
			row[0], n, err = next()
			return row, n, err
		}}, nil
	case "csv":
		return readCSV(b)
	case "tsv":
		return readTSV(b)
	case "jsonl":
		return readJSON(b)
	}
	return nil, fmt.Errorf("%q is none of %s", kind, strings.Join(task.SourceKinds, ", "))
}

// Columns returns the names of the columns: identifiers, each once; "" for the only one of lines.
func (r *Records) Columns() []string { return r.columns }

// Next returns the next row, a text for each column, and the line where it begins, from 1 on. The row
// holds until the next call. Its error is io.EOF after the last.
func (r *Records) Next() (cells []string, line int, err error) { return r.next() }

// lines gives lines of text without their ends.
func lines(b *bufio.Reader) func() (string, int, error) {
	s := bufio.NewScanner(b)
	s.Buffer(nil, task.TablePage) // a longer line is no row
	n := 0
	return func() (string, int, error) {
		n++
		switch {
		case s.Scan():
			return strings.TrimSuffix(s.Text(), "\r"), n, nil
		case errors.Is(s.Err(), bufio.ErrTooLong):
			return "", n, fmt.Errorf("line %d: it is longer than %s", n, task.FormatSize(task.TablePage))
		case s.Err() != nil:
			return "", n, fmt.Errorf("line %d: %w", n, s.Err())
		}
		return "", n, io.EOF
	}
}

func readCSV(b *bufio.Reader) (*Records, error) {
	c := csv.NewReader(b)
	c.ReuseRecord = true
	header, err := c.Read() // the rows after it have to be as long
	if err != nil {
		return nil, noHeader(placed(err))
	}
	r := &Records{}
	if r.columns, err = columnsOf(header); err != nil {
		return nil, err
	}
	r.next = func() ([]string, int, error) {
		cells, err := c.Read()
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			line, _ := c.FieldPos(0)
			return nil, line, ragged(line, len(cells), len(r.columns))
		case err != nil:
			return nil, 0, placed(err)
		}
		line, _ := c.FieldPos(0)
		return cells, line, nil
	}
	return r, nil
}

// placed puts the line first in an error of package csv.
func placed(err error) error {
	var e *csv.ParseError
	if errors.As(err, &e) {
		return fmt.Errorf("line %d: %w", e.Line, e.Err)
	}
	return err
}

func readTSV(b *bufio.Reader) (*Records, error) {
	next := lines(b)
	header, _, err := next()
	if err != nil {
		return nil, noHeader(err)
	}
	r := &Records{}
	if r.columns, err = columnsOf(strings.Split(header, "\t")); err != nil {
		return nil, err
	}
	r.next = func() ([]string, int, error) {
		l, n, err := next()
		cells := strings.Split(l, "\t")
		if err == nil && len(cells) != len(r.columns) {
			err = ragged(n, len(cells), len(r.columns))
		}
		return cells, n, err
	}
	return r, nil
}

func ragged(line, has, want int) error {
	return fmt.Errorf("line %d: %d values, the first line names %d columns", line, has, want)
}

func noHeader(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty: its first line names the columns")
	}
	return err
}

// columnsOf makes identifiers of names of columns: what none may have becomes _.
func columnsOf(header []string) ([]string, error) {
	columns := make([]string, len(header))
	for i, h := range header {
		name := Identifier(strings.TrimSpace(h))
		switch {
		case name == "":
			return nil, fmt.Errorf("line 1: column %d has no name", i+1)
		case slices.Contains(columns, name):
			return nil, fmt.Errorf("line 1: two columns are called %q", name)
		}
		columns[i] = name
	}
	return columns, nil
}

// Identifier makes a name of a column one that can stand in a template: letters without marks, digits and _.
// Everything else becomes _, and a digit that is first gets one before it.
func Identifier(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name != "" && '0' <= name[0] && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// readJSON reads an object a line. Its columns are the keys of the first, sorted; each has the same.
func readJSON(b *bufio.Reader) (*Records, error) {
	next := lines(b)
	first, n, err := next()
	if err != nil {
		return nil, noHeader(err)
	}
	object, err := objectOf(first, n)
	if err != nil {
		return nil, err
	}
	keys := slices.Sorted(maps.Keys(object))
	r := &Records{}
	if r.columns, err = columnsOf(keys); err != nil {
		return nil, err
	}
	began := false
	r.next = func() ([]string, int, error) {
		if began {
			var l string
			if l, n, err = next(); err == nil {
				object, err = objectOf(l, n)
			}
			if err != nil {
				return nil, n, err
			}
		}
		began = true
		cells, err := cellsOf(object, keys, n)
		return cells, n, err
	}
	return r, nil
}

func objectOf(line string, n int) (map[string]json.RawMessage, error) {
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		return nil, fmt.Errorf("line %d: it is no object of JSON: %w", n, err)
	}
	return o, nil
}

// cellsOf returns the values of the keys: texts as they are, the rest as JSON has them.
func cellsOf(object map[string]json.RawMessage, keys []string, line int) ([]string, error) {
	if len(object) != len(keys) {
		return nil, ragged(line, len(object), len(keys))
	}
	cells := make([]string, len(keys))
	for i, k := range keys {
		raw, found := object[k]
		if !found {
			return nil, fmt.Errorf("line %d: it has no %q, which the first line has", line, k)
		}
		cells[i] = string(raw)
		if len(raw) > 0 && raw[0] == '"' {
			if err := json.Unmarshal(raw, &cells[i]); err != nil {
				return nil, fmt.Errorf("line %d: %q: %w", line, k, err)
			}
		}
	}
	return cells, nil
}
