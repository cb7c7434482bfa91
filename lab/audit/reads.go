package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/lab/submission"
	"godwit/scheduler/message"
	"godwit/task"
)

// A task of a stage reads what others made. It runs again on what the node holds of these, and a worker signs which
// files its run read: where those were others, what comes out says nothing about the worker.

// makers notes what the tasks made that some others read.
func (s *staged) makers(ctx context.Context, client *api.Client, ref string, readers []message.TaskSummary) error {
	s.made = map[uint64][]task.Output{}
	needed := map[uint64]bool{}
	for i := range readers {
		for n, members := range s.spec.Needed(readers[i].Index) {
			for u := range members.All() {
				needed[u] = needed[u] || len(n.Reads) > 0
			}
		}
	}
	if len(needed) == 0 {
		return nil
	}
	return submission.EachTask(ctx, client, ref, func(_ *task.Job, _ *seal.Sealer, t message.TaskSummary) error {
		if needed[t.Index] && !t.Failed && len(t.Results) > 0 {
			s.made[t.Index] = t.Results[0].Outputs
		}
		return nil
	})
}

// reads lists what a task reads of others, in order; other is why that is not what a worker read, "" if it is.
func (s *staged) reads(index uint64, signed *task.Result) (files []task.Output, other string, err error) {
	for n, members := range s.spec.Needed(index) {
		for u := range members.All() {
			files = append(files, s.spec.FilesOf(n, u, s.made[u])...)
		}
	}
	slices.SortFunc(files, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	name, err := task.NameFiles(files)
	switch {
	case err != nil || index < s.spec.Roots():
		return files, "", err
	case len(signed.Reads) == 0:
		return files, "its worker does not say which files of other tasks it read", nil
	case !bytes.Equal(signed.Reads, name[:]):
		return files, "it read other files than those that are held of the tasks before it", nil
	}
	return files, "", nil
}

// bringReads brings what a task reads of others.
func (s *staged) bringReads(ctx context.Context, client *api.Client, files []task.Output) ([]task.FileRef, error) {
	var out []task.FileRef
	for i := range files {
		o := &files[i]
		ref := task.FileRef{Name: o.Name, CID: o.CID, Size: o.Size}
		out = append(out, ref)
		if int64(len(o.Inline)) != o.Size {
			if o.Size > task.MaxOutputBytes {
				return nil, fmt.Errorf("%s has %s by its worker's word, and no task may write more than %s", o.Name,
					task.FormatSize(o.Size), task.FormatSize(task.MaxOutputBytes))
			}
			if err := s.input(ctx, client, ref); err != nil {
				return nil, err
			}
			continue
		}
		if s.inputs[o.CID] != "" {
			continue
		}
		path := s.path()
		if err := os.WriteFile(path, o.Inline, 0o600); err != nil {
			return nil, err
		}
		path, err := s.open(path)
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", o.Name, err)
		}
		s.inputs[o.CID] = path
	}
	return out, nil
}
