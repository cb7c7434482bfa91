package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"godwit/api"
	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/sandbox"
	"godwit/task"
	"godwit/task/table"
)

// A staged job has its files on this machine.
type staged struct {
	spec   *task.Job
	sealer *seal.Sealer // of all but the module; nil: nothing is sealed
	dir    string
	files  int                 // in dir
	module map[task.CID]string // paths
	inputs map[task.CID]string // paths, also of what tasks read of others
	made   map[uint64][]task.Output
}

// bring brings the programs and the inputs of the job from a node, each checked against what the
// job names, and opened.
func (s *staged) bring(ctx context.Context, client *api.Client, dir string) error {
	s.dir, s.module, s.inputs = dir, map[task.CID]string{}, map[task.CID]string{}
	for _, m := range s.spec.Modules() {
		path, err := bring(ctx, client, s.path(), m, sandbox.MaxModule)
		if err != nil {
			return fmt.Errorf("bringing the module: %w", err)
		}
		s.module[m] = path
	}
	for _, in := range append(s.spec.TableFiles(), s.spec.Inputs...) {
		if err := s.input(ctx, client, in); err != nil {
			return err
		}
	}
	return nil
}

// path returns that of another file.
func (s *staged) path() string {
	s.files++
	return filepath.Join(s.dir, strconv.Itoa(s.files))
}

// input brings what a task reads, if it is not here.
func (s *staged) input(ctx context.Context, client *api.Client, in task.FileRef) error {
	if s.inputs[in.CID] != "" {
		return nil
	}
	path, err := bring(ctx, client, s.path(), in.CID, in.Size)
	if err == nil {
		path, err = s.open(path)
	}
	if err != nil {
		return fmt.Errorf("bringing %s: %w", in.Name, err)
	}
	s.inputs[in.CID] = path
	return nil
}

// open writes what a sealed file holds to another, and returns its path; of a file that is not
// sealed it is the same.
func (s *staged) open(path string) (string, error) {
	if s.sealer == nil {
		return path, nil
	}
	sealed, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer sealed.Close()
	opened := path + ".opened"
	f, err := os.OpenFile(opened, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, s.sealer.Opening(sealed))
	return opened, errors.Join(err, f.Close())
}

// bring writes content of at most so many bytes to a file, and returns its path.
func bring(ctx context.Context, client *api.Client, path string, c task.CID, most int64) (string, error) {
	r, err := client.OpenFile(ctx, c)
	if err != nil {
		return "", err
	}
	defer r.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	got, err := blocks.CIDOf(ctx, io.TeeReader(io.LimitReader(r, most+1), f))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if got != c {
		return "", fmt.Errorf("the node answers with content %s, the job names %s", got, c)
	}
	return path, nil
}

// task returns what a sandbox runs, as a worker would have it: the job's task of an index, with what it reads of
// others, under the name of the one that was run, which may be of another job.
func (s *staged) task(index uint64, ran task.TaskID, reads []task.FileRef) (sandbox.Task, error) {
	path := func(c task.CID) string { return s.inputs[c] }
	inv, err := s.spec.ExpandBy(index, table.Files(path))
	if err != nil {
		return sandbox.Task{}, err
	}
	if len(s.spec.Stages) > 0 {
		stage, _ := s.spec.StageOf(index)
		from := s.spec.Stages[stage].StdinFrom
		if i := slices.IndexFunc(reads, func(f task.FileRef) bool { return f.Name == from }); i >= 0 {
			inv.Stdin = &reads[i]
		}
		inv.Files = append(inv.Files, reads...)
	}
	of, _ := s.spec.At(index)
	return sandbox.TaskOf(of, ran, inv, s.module[of.Module], path), nil
}
