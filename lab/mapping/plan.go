package mapping

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"godwit/internal/failure"
	"godwit/task"
	"godwit/task/table"
)

// Options say what to map.
type Options struct {
	Module  string                    // path
	Check   func(module []byte) error // returns why the module cannot run
	Name    string                    // of the job; "" for the module's
	Args    []string
	Sources []Source // none: lines of standard input
	Files   []string // names of files with placeholders: each task has its own
	Outputs []string // patterns of files that tasks write
	Memory  string   // as a job file has it; "" for its default
	Timeout string   // likewise
	Retries int      // likewise; negative for its default
}

// A Plan is a map with its inputs read: what is to be handed in.
type Plan struct {
	text   string // of the job file
	code   []byte
	file   *task.File
	table  task.Table // without CID and Size
	rows   *os.File   // the table's file
	inputs map[string]string
	module string
}

// NewPlan reads the module and all inputs; nothing is sent before everything is known to be there and
// right. Close it.
func NewPlan(o Options, stdin io.Reader) (p *Plan, err error) {
	p = &Plan{inputs: map[string]string{}, module: o.Module}
	if p.code, err = os.ReadFile(o.Module); err != nil {
		return nil, failure.Usage("`godwit build DIR` makes modules from Go and C programs", "reading the module: %w", err)
	}
	if err := o.Check(p.code); err != nil {
		return nil, failure.Usage("`godwit build DIR` makes modules from Go and C programs", "module %s: %w", o.Module, err)
	}
	if len(o.Sources) == 0 {
		o.Sources = []Source{{Path: "-"}}
	}
	rows, err := newProduct(o.Sources, stdin)
	if err != nil {
		return nil, err
	}
	of := &pieces{names: rows.names}
	if p.text, err = o.jobFile(of); err != nil {
		return nil, err
	}
	if p.file, err = task.ParseFile(o.Module, []byte(p.text)); err != nil {
		return nil, err
	}
	if p.rows, err = os.CreateTemp("", "godwit-map-*"); err != nil {
		return nil, fmt.Errorf("making a file for the inputs: %w", err)
	}
	os.Remove(p.rows.Name()) // it lives as long as it is open
	if err := p.read(rows, of, o.Files); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close removes the file of the inputs.
func (p *Plan) Close() error { return p.rows.Close() }

// Tasks returns how many there are.
func (p *Plan) Tasks() uint64 { return p.table.Rows }

// Name is that of the job.
func (p *Plan) Name() string { return p.file.Name }

// read writes the table, and finds the files that rows name.
func (p *Plan) read(rows *product, of *pieces, files []string) error {
	to := bufio.NewWriterSize(p.rows, 4*task.TableChunk)
	columns := of.columns()
	for i := range files {
		columns = append(columns, fileColumn(i))
	}
	w, cells := table.NewWriter(to, columns), make([]string, 0, len(columns))
	err := rows.each(func(values []string) error {
		shown, seq := rows.shown(values), w.Rows()+1
		cells = of.cells(cells, values, shown, seq)
		for _, f := range files {
			name, err := p.addFile(of.fill(f, values, shown, seq))
			if err != nil {
				return err
			}
			cells = append(cells, name)
		}
		if err := w.Add(cells...); err != nil {
			return numbered(w.Rows()+1, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if w.Rows() == 0 {
		return failure.Usage("give lines on standard input, values after :::, or a file after ::::", "there are no inputs")
	}
	if p.table, err = w.Close(); err == nil {
		err = to.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the inputs: %w", err)
	}
	try := p.table // stored under some name it is one that a job can have
	try.CID, try.Size = task.RawCID(nil), 1
	return p.file.SetTable(axis, try)
}

// jobFile writes the job.
func (o *Options) jobFile(of *pieces) (string, error) {
	var b strings.Builder
	line := func(key string, value any) {
		text, err := json.Marshal(value) // YAML reads it as it is
		if err != nil {
			panic("mapping: texts in JSON: " + err.Error())
		}
		fmt.Fprintf(&b, "%s: %s\n", key, text)
	}
	line("module", o.Module)
	if o.Name != "" {
		line("name", o.Name)
	}
	args, alone := []string{}, true
	for _, a := range o.Args {
		text, none, err := of.template(a)
		if err != nil {
			return "", err
		}
		args, alone = append(args, text), alone && none
	}
	if alone && len(o.Files) == 0 { // the input is the last argument
		args = append(args, "{{."+of.reference(piece{value: whole})+"}}")
	}
	line("args", args)
	var files []string
	for i, f := range o.Files {
		if _, _, err := of.template(f); err != nil {
			return "", err
		}
		files = append(files, fmt.Sprintf("{{.%s.%s}}", axis, fileColumn(i)))
	}
	if len(files) > 0 {
		line("files", files)
	}
	line("outputs", append([]string{task.Stdout, task.Stderr}, o.Outputs...))
	if o.Memory != "" {
		line("memory", o.Memory)
	}
	if o.Timeout != "" {
		line("timeout", o.Timeout)
	}
	if o.Retries >= 0 {
		line("retries", o.Retries)
	}
	fmt.Fprintf(&b, "sweep: {%s: {lines: \"-\"}}\n", axis)
	return b.String(), nil
}
