package submission

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/api"
	"godwit/blocks"
	"godwit/task"
	"godwit/task/table"
)

// readTables reads the axes whose values are in files, a row at a time.
func (s *Job) readTables(ctx context.Context) error {
	for _, axis := range s.File.Unread() {
		t := axisTable{axis: axis}
		var err error
		if t.file, err = os.CreateTemp("", "godwit-table-*"); err != nil {
			return fmt.Errorf("writing the table of axis %s: %w", axis, err)
		}
		s.tables = append(s.tables, t)
		if t.table, err = s.writeTable(axis, t.file); err != nil {
			return err
		}
		if t.table.Size, err = t.file.Seek(0, io.SeekCurrent); err == nil {
			_, err = t.file.Seek(0, io.SeekStart)
		}
		if err == nil {
			t.table.CID, err = blocks.CIDOf(ctx, t.file)
		}
		if err != nil {
			return fmt.Errorf("reading the table of axis %s: %w", axis, err)
		}
		s.tables[len(s.tables)-1] = t
		if err := s.File.SetTable(axis, t.table); err != nil {
			return err
		}
	}
	if s.File.Ungrouped() {
		return s.File.SetGroups(s.rows())
	}
	return nil
}

// writeTable writes the rows of an axis.
func (s *Job) writeTable(axis string, to io.Writer) (task.Table, error) {
	src := s.File.Sources[axis]
	where := s.File.SourcePlace(axis)
	b := bufio.NewWriterSize(to, task.TablePage)
	var w *table.Writer
	var err error
	if src.Kind == task.FilesKind {
		w, err = s.addFiles(src.Name, table.NewWriter(b, task.FileColumns))
	} else {
		w, err = s.addRecords(src, b)
	}
	if err != nil {
		return task.Table{}, s.tableError(where, src, err)
	}
	t, err := w.Close()
	if err != nil {
		return t, s.tableError(where, src, err)
	}
	return t, b.Flush()
}

// tableError is an error about the source of a table.
func (s *Job) tableError(where string, src task.Source, err error) error {
	if e := (*task.Error)(nil); errors.As(err, &e) {
		return err
	}
	hint := inputsHint
	switch {
	case src.Kind == task.FilesKind:
		hint += "; " + patternsKnown
	case strings.HasPrefix(err.Error(), "line "):
		hint = "mend the line, and hand the job in again: nothing was sent"
	}
	return s.File.ErrorAt(where, fmt.Sprintf("%s %s: %s", src.Kind, src.Name, reason(err)), hint)
}

// patternsKnown is what patterns of files may have.
const patternsKnown = "patterns know *, ?, [a-z] and ** for any directories"

// addFiles adds a row for each file of a pattern, or of a directory.
func (s *Job) addFiles(pattern string, w *table.Writer) (*table.Writer, error) {
	var names []string
	var err error
	if dir, is := strings.CutSuffix(pattern, "/"); is {
		if err = task.ValidSandboxPath(dir); err == nil {
			names, err = s.below(dir)
		}
	} else {
		names, err = s.matches(pattern)
	}
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no file matches")
	}
	for _, name := range names {
		if err := task.ValidSandboxPath(name); err != nil {
			return nil, err
		}
		if err := w.Add(task.FileRow(name)...); err != nil {
			return nil, fmt.Errorf("file %s: %w", name, err)
		}
	}
	return w, nil
}

// addRecords adds the rows that a file has.
func (s *Job) addRecords(src task.Source, to io.Writer) (*table.Writer, error) {
	f, err := s.dir.Open(filepath.FromSlash(src.Name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !found.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	records, err := table.Read(src.Kind, f)
	if err != nil {
		return nil, err
	}
	w := table.NewWriter(to, records.Columns())
	for {
		cells, line, err := records.Next()
		switch {
		case errors.Is(err, io.EOF):
			if changed(f, found) {
				return nil, errors.New("it changed while it was read")
			}
			return w, nil
		case err != nil:
			return nil, err
		}
		if err := w.Add(cells...); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// rows gives the rows of the tables that were read.
func (s *Job) rows() task.Rows {
	return table.NewReader(func(t *task.Table, page int) ([]byte, error) {
		for _, have := range s.tables {
			if have.table.CID == t.CID {
				return table.PageOf(have.file, page)
			}
		}
		return nil, fmt.Errorf("no table %s was read", t.CID)
	}).Row
}

// putTables stores the tables, sealed where there is a key, and returns them by the axis.
func (s *Job) putTables(ctx context.Context, client *api.Client, key []byte) (map[string]task.Table, error) {
	var out map[string]task.Table
	for _, t := range s.tables {
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("reading the table of axis %s: %w", t.axis, err)
		}
		ref, err := client.PutSealed(ctx, key, io.NopCloser(t.file)) // which stays open
		if err != nil {
			return nil, fmt.Errorf("storing the table of axis %s: %w", t.axis, err)
		}
		if out == nil {
			out = map[string]task.Table{}
		}
		stored := t.table
		stored.CID, stored.Size = ref.CID, ref.Size
		out[t.axis] = stored
	}
	return out, nil
}
