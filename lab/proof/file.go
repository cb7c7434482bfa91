// Package proof writes and checks files that prove of a worker that it signed a wrong result, or
// left a wrong state: with the job, the program, the inputs and what was signed. Tasks are
// deterministic, so whoever has the file can run the task and see for himself.
package proof

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/task"
)

// The names of what is in a file, which is a zip archive.
const (
	statementName = "statement.cbor"
	moduleName    = "module.wasm"
	inputPrefix   = "inputs/" // and the CID
)

// maxStatement bounds the statement, in bytes: a job's record, and a result of the most outputs.
const maxStatement = task.MaxRecord + (4 << 20)

// A Statement is what was signed.
type Statement struct {
	Version int         `cbor:"1,keyasint"` // FileVersion, or wholeVersion without Part
	Record  task.Record `cbor:"2,keyasint"` // with the key of a sealed job, if its owner shows it
	Result  task.Result `cbor:"3,keyasint"` // that is said to be wrong
	// Part is what of its run is wrong; nil where the whole task has to be run.
	Part *task.PartProof `cbor:"4,keyasint,omitempty"`
}

// FileVersion is of files as they are now: those of a part of a run. Those of a whole task are as they
// always were.
const (
	FileVersion  = 2
	wholeVersion = 1
)

// A Source brings the content of files, as it is stored.
type Source interface {
	OpenFile(ctx context.Context, c task.CID) (io.ReadCloser, error)
	// Tree lists the files of a state by name.
	Tree(ctx context.Context, c task.CID) (map[string]task.CID, error)
}

// Write writes a proof: what was signed, the module, the inputs that the task reads, and the state that a
// part begins with.
func Write(ctx context.Context, w io.Writer, s Statement, from Source) error {
	if s.Version = FileVersion; s.Part == nil {
		s.Version = wholeVersion
	}
	spec, err := s.Record.OpenWhole()
	if err != nil {
		return fmt.Errorf("writing a proof: %w", err)
	}
	statement, err := task.Encode(&s)
	if err != nil {
		return fmt.Errorf("writing a proof: %w", err)
	}
	reads, err := readsOf(spec, s.Result.Task)
	if err != nil {
		return fmt.Errorf("writing a proof: %w", err)
	}
	z := zip.NewWriter(w)
	f, err := z.Create(statementName)
	if err == nil {
		_, err = f.Write(statement)
	}
	if err == nil {
		err = add(ctx, z, moduleName, from, spec.Module)
	}
	for _, in := range reads {
		if err == nil {
			err = add(ctx, z, inputPrefix+string(in.CID), from, in.CID)
		}
	}
	if err == nil {
		err = addState(ctx, z, s.Result.StateOf(s.Part), from)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("writing a proof: %w", err)
	}
	return nil
}

func add(ctx context.Context, z *zip.Writer, name string, from Source, c task.CID) error {
	r, err := from.OpenFile(ctx, c)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := z.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return err
}

// readsOf lists the inputs that a task reads, each once.
func readsOf(spec *task.Job, id task.TaskID) ([]task.FileRef, error) {
	if id.Index >= spec.Sweep.Count() {
		return nil, fmt.Errorf("the job has %d tasks, and none of index %d", spec.Sweep.Count(), id.Index)
	}
	refs, err := reads(spec, id.Index)
	if err != nil {
		return nil, err
	}
	var out []task.FileRef
	seen := map[task.CID]bool{}
	for _, ref := range refs {
		if !seen[ref.CID] {
			seen[ref.CID] = true
			out = append(out, ref)
		}
	}
	return out, nil
}

// reads lists the inputs that a task reads. What they are with a table only its rows tell: then it is the
// tables and every input.
func reads(spec *task.Job, index uint64) ([]task.FileRef, error) {
	if tables := spec.TableFiles(); len(tables) > 0 {
		return append(tables, spec.Inputs...), nil
	}
	inv, err := spec.Expand(index)
	refs := inv.Files
	if inv.Stdin != nil {
		refs = append(refs[:len(refs):len(refs)], *inv.Stdin)
	}
	return refs, err
}

// readStatement reads what a file says was signed. The file may be hostile.
func readStatement(z *zip.Reader) (Statement, error) {
	var s Statement
	if f, err := z.Open(statementName); err != nil {
		return s, errors.New("it is no proof: there is no " + statementName + " in it")
	} else if err := f.Close(); err != nil {
		return s, err
	}
	b, err := readEntry(z, statementName, maxStatement)
	if err != nil {
		return s, err
	}
	if err := task.Decode(b, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", statementName, err)
	}
	switch {
	case s.Version < wholeVersion || s.Version > FileVersion:
		return s, fmt.Errorf("it is of version %d, this program reads version %d", s.Version, FileVersion)
	case (s.Part != nil) != (s.Version == FileVersion):
		return s, fmt.Errorf("it is of version %d, and of a part: %v", s.Version, s.Part != nil)
	}
	return s, nil
}

// files are a task's on this machine.
type files struct {
	module string
	inputs map[task.CID]string
}

// unpack writes the module and the inputs to a directory, each checked against what the job
// names.
func unpack(ctx context.Context, z *zip.Reader, spec *task.Job, reads []task.FileRef, dir string) (files, error) {
	out := files{module: filepath.Join(dir, "module"), inputs: map[task.CID]string{}}
	if err := unpackOne(ctx, z, moduleName, out.module, spec.Module, sandbox.MaxModule); err != nil {
		return out, err
	}
	for i, in := range reads {
		path := filepath.Join(dir, fmt.Sprintf("input-%d", i))
		if err := unpackOne(ctx, z, inputPrefix+string(in.CID), path, in.CID, in.Size); err != nil {
			return out, err
		}
		out.inputs[in.CID] = path
	}
	return out, nil
}

// unpackOne writes an entry of at most so many bytes, which has to be the content of that CID.
func unpackOne(ctx context.Context, z *zip.Reader, name, path string, c task.CID, most int64) error {
	r, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("%s is missing", name)
	}
	defer r.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	got, err := blocks.CIDOf(ctx, io.TeeReader(io.LimitReader(r, most+1), f))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if got != c {
		return fmt.Errorf("%s is not what the job names: it is %s", name, got)
	}
	return nil
}
