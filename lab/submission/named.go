package submission

import (
	"context"
	"fmt"
	"path/filepath"

	"godwit/api"
	"godwit/blocks"
	"godwit/task"
)

// mostNamed is how many tasks a job may have that takes results of others (scheduler/memo).
const mostNamed = task.MaxStaged

// named is the job as Submit would hand it in, with the names of its modules and inputs, which are read here and neither
// sent nor sealed. Its tables are stored: what tasks come to depends on their rows. It is nil where results are not to be taken
// from other jobs, or cannot be of so many tasks.
func (s *Job) named(ctx context.Context, client *api.Client) (*api.SubmitRequest, error) {
	if !s.Reuse || s.File.Tasks() > mostNamed {
		return nil, nil
	}
	req := &api.SubmitRequest{FileName: s.Name, File: s.Text, Args: s.args, Overlay: s.Overlay, Reuse: true}
	var err error
	if len(s.stages) == 0 {
		req.Module, err = blocks.CIDOfBytes(s.Code)
	} else {
		req.Modules = map[string]task.CID{}
	}
	for name, code := range s.stages {
		if req.Modules[name], err = blocks.CIDOfBytes(code); err != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading a module: %w", err)
	}
	if req.Inputs, err = s.nameInputs(ctx); err != nil {
		return nil, err
	}
	req.Tables, err = s.putTables(ctx, client, nil)
	return req, err
}

// nameInputs returns what the inputs are called before they are sealed.
func (s *Job) nameInputs(ctx context.Context) ([]task.FileRef, error) {
	im := &importer{tell: s.Import}
	for _, in := range s.inputs {
		im.total += in.info.Size()
	}
	refs := make([]task.FileRef, 0, len(s.inputs))
	for _, in := range s.inputs {
		f, err := s.dir.Open(filepath.FromSlash(in.name))
		if err != nil {
			return nil, s.File.InputError(in.name, reason(err), inputsHint)
		}
		c, err := blocks.CIDOf(ctx, &counting{im: im, from: f})
		same := !changed(f, in.info)
		f.Close()
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading input file %s: %w", in.name, err)
		case !same:
			return nil, s.changed(in.name)
		}
		refs = append(refs, task.FileRef{Name: in.name, CID: c, Size: in.info.Size()})
	}
	return refs, nil
}
