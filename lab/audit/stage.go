package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	sealer *seal.Sealer        // of all but the module; nil: nothing is sealed
	module string              // path
	inputs map[task.CID]string // paths
}

// bring brings the module and the inputs of the job from a node, each checked against what the
// job names, and opened.
func (s *staged) bring(ctx context.Context, client *api.Client, dir string) (err error) {
	s.inputs = map[task.CID]string{}
	s.module, err = bring(ctx, client, filepath.Join(dir, "module"), s.spec.Module, sandbox.MaxModule)
	if err != nil {
		return fmt.Errorf("bringing the module: %w", err)
	}
	for i, in := range append(s.spec.TableFiles(), s.spec.Inputs...) {
		if s.inputs[in.CID] != "" {
			continue
		}
		path := filepath.Join(dir, strconv.Itoa(i))
		if path, err = bring(ctx, client, path, in.CID, in.Size); err == nil {
			path, err = s.open(path)
		}
		if err != nil {
			return fmt.Errorf("bringing %s: %w", in.Name, err)
		}
		s.inputs[in.CID] = path
	}
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

// task returns what a sandbox runs, as a worker would have it.
func (s *staged) task(id task.TaskID) (sandbox.Task, error) {
	path := func(c task.CID) string { return s.inputs[c] }
	inv, err := s.spec.ExpandBy(id.Index, table.Files(path))
	if err != nil {
		return sandbox.Task{}, err
	}
	return sandbox.TaskOf(s.spec, id, inv, s.module, path), nil
}
