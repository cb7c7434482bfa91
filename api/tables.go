package api

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/task"
	"godwit/task/table"
)

// namesKind is how the names of files come, one of task.SourceKinds.
const namesKind = "lines"

// maxTable bounds what is read of a file with rows, in bytes: as many of the longest as a table takes, about.
const maxTable = 4 << 30

// putTable stores the rows of a file as the table of an axis.
func (s *Server) putTable(w http.ResponseWriter, r *http.Request) error {
	sealer, err := sealerOf(r.Header.Get(KeyHeader))
	if err != nil {
		return inputError(err)
	}
	kind := r.URL.Query().Get("kind")
	made := tableMaker{kind: kind, from: http.MaxBytesReader(w, r.Body, maxTable)}
	rows, to := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		to.CloseWithError(made.write(to))
	}()
	c, size, err := s.node.ImportSealed(r.Context(), sealer, rows)
	rows.Close() // ends the other where this one failed
	<-ended
	if made.err != nil && !errors.Is(made.err, io.ErrClosedPipe) {
		return inputError(fmt.Errorf("reading the rows: %w", made.err))
	}
	t := made.table
	t.CID, t.Size = c, size
	if t.Pages == nil {
		t.Pages = []uint64{}
	}
	return writeJSON(w, t, err)
}

// A tableMaker makes a table of the rows of a file.
type tableMaker struct {
	kind  string // of the file: see task.Source
	from  io.Reader
	table task.Table // without CID and Size, once it is written
	err   error
}

func (m *tableMaker) write(to io.Writer) error {
	b := bufio.NewWriterSize(to, task.TablePage)
	if m.table, m.err = m.rows(b); m.err == nil {
		m.err = b.Flush()
	}
	return m.err
}

func (m *tableMaker) rows(to io.Writer) (task.Table, error) {
	kind, names := m.kind, m.kind == task.FilesKind
	if names {
		kind = namesKind
	}
	records, err := table.Read(kind, m.from)
	if err != nil {
		return task.Table{}, err
	}
	columns := records.Columns()
	if names {
		columns = task.FileColumns
	}
	w := table.NewWriter(to, columns)
	for {
		cells, line, err := records.Next()
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err == nil && names {
			if err = task.ValidSandboxPath(cells[0]); err == nil {
				cells = task.FileRow(cells[0])
			}
		}
		if err == nil {
			err = w.Add(cells...)
		}
		if err != nil {
			return task.Table{}, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// PutTable stores the rows of a file as the table of an axis, sealed if there is a key, and returns it. kind is the
// file's: see task.Source; of FilesKind the content is the names of the files, a line for each.
func (c *Client) PutTable(ctx context.Context, kind string, key []byte, r io.Reader) (t task.Table, err error) {
	header := http.Header{}
	if len(key) > 0 {
		header.Set(KeyHeader, base64.StdEncoding.EncodeToString(key))
	}
	resp, err := c.doWith(ctx, http.MethodPost, "/v1/tables?"+url.Values{"kind": {kind}}.Encode(), r, header)
	if err != nil {
		return t, err
	}
	err = decodeAnswer(resp, &t)
	return t, err
}

// storedRows are tables that are stored here, copied to files so that a page of them can be read.
type storedRows struct {
	server *Server
	key    []byte
	files  map[task.CID]*os.File
}

// of returns the file of a table, opened with the key.
func (s *storedRows) of(ctx context.Context, t *task.Table) (*os.File, error) {
	if f := s.files[t.CID]; f != nil {
		return f, nil
	}
	sealer, err := seal.New(s.key)
	if err != nil {
		return nil, inputError(err)
	}
	content, _, err := s.server.node.Blocks().Open(ctx, t.CID, blocks.AtMost(maxTable))
	if err != nil {
		return nil, err
	}
	defer content.Close()
	f, err := os.CreateTemp("", "godwit-table-*")
	if err != nil {
		return nil, fmt.Errorf("reading a table: %w", err)
	}
	os.Remove(f.Name()) // it lives as long as it is open
	s.files[t.CID] = f
	if _, err := io.Copy(f, sealer.Opening(content)); err != nil {
		return nil, fmt.Errorf("reading a table: %w", err)
	}
	return f, nil
}

// rows gives rows of any of them.
func (s *storedRows) rows(ctx context.Context) task.Rows {
	return table.NewReader(func(t *task.Table, page int) ([]byte, error) {
		file, err := s.of(ctx, t)
		if err != nil {
			return nil, err
		}
		return table.PageOf(file, page)
	}).Row
}

func (s *storedRows) close() {
	for _, f := range s.files {
		f.Close()
	}
}
