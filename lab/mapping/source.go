package mapping

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"godwit/internal/failure"
	"godwit/task/table"
)

// A Source has values of which each is in an input: all sources together make their product, the last one's
// values changing fastest.
type Source struct {
	Values []string // as they were written after `:::`; nil for those of a file
	Path   string   // of a file: lines, or by its extension .csv, .tsv or .jsonl; "-" is standard input
}

// ParseSources takes the sources out of a command line: `::: A B` and `:::: FILE FILE`, each as often as one
// likes. rest is what stands before the first.
func ParseSources(args []string) (rest []string, sources []Source, err error) {
	mode := ""
	for _, a := range args {
		switch {
		case a == ":::":
			mode, sources = a, append(sources, Source{Values: []string{}})
		case a == "::::":
			mode = a
		case mode == ":::":
			s := &sources[len(sources)-1]
			s.Values = append(s.Values, a)
		case mode == "::::":
			sources = append(sources, Source{Path: a})
		default:
			rest = append(rest, a)
		}
	}
	for _, s := range sources {
		if s.Path == "" && len(s.Values) == 0 {
			return nil, nil, failure.Usage("write the values after it: ::: A B C", "::: has no values")
		}
	}
	if mode == "::::" && args[len(args)-1] == mode {
		return nil, nil, failure.Usage("write the file after it: :::: inputs.txt", ":::: has no file")
	}
	return rest, sources, nil
}

// kind is what a file has, by its name.
func (s Source) kind() string {
	switch ext := strings.ToLower(filepath.Ext(s.Path)); ext {
	case ".csv", ".tsv", ".jsonl":
		return ext[1:]
	case ".ndjson":
		return "jsonl"
	}
	return "lines"
}

// A rowReader gives the rows of a source; its error is io.EOF after the last.
type rowReader struct {
	columns []string
	next    func() ([]string, error)
	close   func() error
}

// open begins to read a source. Errors name the file, and the line.
func (s Source) open(stdin io.Reader) (*rowReader, error) {
	if s.Path == "" {
		i := 0
		return &rowReader{columns: []string{""}, close: func() error { return nil }, next: func() ([]string, error) {
			if i++; i > len(s.Values) {
				return nil, io.EOF
			}
			return s.Values[i-1 : i], nil
		}}, nil
	}
	name, from, shut := "standard input", stdin, func() error { return nil }
	if s.Path != "-" {
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, failure.Usage("", "reading the inputs: %w", err)
		}
		name, from, shut = s.Path, f, f.Close
	}
	records, err := table.Read(s.kind(), from)
	if err != nil {
		return nil, errors.Join(failure.Usage("", "%s: %w", name, err), shut())
	}
	return &rowReader{columns: records.Columns(), close: shut, next: func() ([]string, error) {
		cells, _, err := records.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			err = failure.Usage("", "%s: %w", name, err)
		}
		return cells, err
	}}, nil
}

// maxHeld bounds the values of the sources but the first, which are held in memory, in bytes.
const maxHeld = 64 << 20

// A product gives the rows of several sources together.
type product struct {
	first *rowReader
	rest  [][][]string // rows of the other sources
	names []string     // of the values of a row
	join  string       // what is between the values where an input is shown
}

// newProduct opens the sources, and reads all but the first.
func newProduct(sources []Source, stdin io.Reader) (*product, error) {
	p := &product{join: " "}
	for i, s := range sources {
		r, err := s.open(stdin)
		if err != nil {
			return nil, err
		}
		for k, c := range r.columns {
			name := c
			if c == "" {
				name = strconv.Itoa(i + 1)
			} else if p.join = ","; len(sources) > 1 {
				p.join = " "
			}
			for _, n := range p.names {
				if n == name {
					return nil, failure.Usage("rename one of them", "two columns are called %q, the second in %s", r.columns[k],
						s.Path)
				}
			}
			p.names = append(p.names, name)
		}
		if i == 0 {
			p.first = r
			continue
		}
		rows, err := r.all()
		if err != nil {
			return nil, err
		}
		p.rest = append(p.rest, rows)
	}
	return p, nil
}

// all reads all rows.
func (r *rowReader) all() (rows [][]string, err error) {
	held := 0
	for {
		row, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return rows, r.close()
		case err != nil:
			return nil, errors.Join(err, r.close())
		}
		for _, c := range row {
			held += len(c)
		}
		if held > maxHeld {
			err := failure.Usage("name the long one first", "only the first of several sources may be long")
			return nil, errors.Join(err, r.close())
		}
		rows = append(rows, append([]string{}, row...))
	}
}

// each calls f for every row, in order.
func (p *product) each(f func(values []string) error) error {
	defer p.first.close()
	values := make([]string, 0, len(p.names))
	for {
		row, err := p.first.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := p.combine(append(values[:0], row...), p.rest, f); err != nil {
			return err
		}
	}
}

// combine adds the values of the sources that are left in every way.
func (p *product) combine(values []string, rest [][][]string, f func([]string) error) error {
	if len(rest) == 0 {
		return f(values)
	}
	for _, row := range rest[0] {
		if err := p.combine(append(values, row...), rest[1:], f); err != nil {
			return err
		}
	}
	return nil
}

// shown is how an input is told to people, and what {} stands for.
func (p *product) shown(values []string) string { return strings.Join(values, p.join) }

// numbered names the place of a row that a table cannot hold.
func numbered(n uint64, err error) error {
	return failure.Usage("put long text into files, and name those with --file {}", "input %d: %w", n, err)
}
