package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// A job's files are sealed under its own key. What it takes of another job, its inputs when it runs again or results, is
// therefore opened with that job's key and sealed again, a chunk at a time, so that nobody with the one key can read the
// files of the other job.

// reseal stores a file of one key under another one; a nil Sealer stands for files that are not sealed. The CID changes.
func (c *content) reseal(ctx context.Context, from, to *seal.Sealer, in task.FileRef) (task.FileRef, error) {
	plain, err := from.Plain(in.Size)
	if err != nil {
		return in, err
	}
	if err := c.MakeRoom(ctx, to.Size(plain), false); err != nil {
		return in, err
	}
	f, _, err := c.blocks.Open(ctx, in.CID, blocks.Exactly(in.Size))
	if err != nil {
		return in, err
	}
	defer f.Close()
	in.CID, in.Size, err = c.ImportSealed(ctx, to, from.Opening(f))
	return in, err
}

// A resealer seals results of other jobs for a new job. One goroutine uses it.
type resealer struct {
	ctx     context.Context
	content *content
	spec    *task.Job // the new job
	to      *seal.Sealer
	from    map[task.JobID]*seal.Sealer // keys of jobs whose results are taken
	made    map[uint64][]task.Output    // outputs of the new job's tasks, without content; nil if it has no stages
	release []func()                    // of the content that is held
}

func newResealer(ctx context.Context, c *content, spec *task.Job, to *seal.Sealer,
	from map[task.JobID]*seal.Sealer) *resealer {
	r := &resealer{ctx: ctx, content: c, spec: spec, to: to, from: from}
	if len(spec.Stages) > 0 {
		r.made = map[uint64][]task.Output{}
	}
	return r
}

// done lets go of what was stored: by then the new job has it, or does not want it.
func (r *resealer) done() {
	for _, release := range r.release {
		release()
	}
}

// take changes a result to one of the new job: its outputs are sealed under the new job's key, and it names them as what
// was read, if it names what it read. What the workers signed is kept beside it.
func (r *resealer) take(got *message.Reused) error {
	from := r.from[got.Of.Job]
	if from == nil && r.to == nil {
		return nil
	}
	results := slices.Clone(got.End.Results) // which agree: their outputs are the same
	if slices.ContainsFunc(results, func(o task.Result) bool { return !bytes.Equal(o.Reads, results[0].Reads) }) {
		return errors.New("the results do not agree on what was read")
	}
	if got.End.Original == nil {
		got.End.Original = &message.Original{Outputs: results[0].Outputs, Reads: results[0].Reads}
	}
	outputs, err := r.outputs(from, got.End.Index, results[0].Outputs)
	if err != nil {
		return err
	}
	reads, err := r.reads(got.End.Index, len(results[0].Reads) > 0)
	if err != nil {
		return err
	}
	for i := range results {
		results[i].Outputs, results[i].Reads = outputs, reads
	}
	got.End.Results = results
	if r.made != nil {
		named := slices.Clone(outputs)
		for i := range named {
			named[i].Inline = nil
		}
		r.made[got.End.Index] = named
	}
	return nil
}

func (r *resealer) outputs(from *seal.Sealer, index uint64, of []task.Output) ([]task.Output, error) {
	out := slices.Clone(of)
	for i := range out {
		if err := r.output(from, index, &out[i]); err != nil {
			return nil, fmt.Errorf("sealing output %s again: %w", out[i].Name, err)
		}
	}
	return out, nil
}

func (r *resealer) output(from *seal.Sealer, index uint64, o *task.Output) (err error) {
	if len(o.Inline) > 0 || o.Size == 0 {
		var plain []byte
		if plain, err = from.OpenFile(o.Inline); err != nil {
			return err
		}
		data := r.to.SealFile(plain)
		if o.Size = int64(len(data)); len(data) <= r.spec.InlineOf(index) {
			o.Inline = data
			o.CID, err = blocks.CIDOfBytes(data)
			return err
		}
		o.Inline = nil
		o.CID, _, err = r.content.blocks.Import(r.ctx, bytes.NewReader(data))
	} else {
		var ref task.FileRef
		ref, err = r.content.reseal(r.ctx, from, r.to, task.FileRef{CID: o.CID, Size: o.Size})
		o.CID, o.Size = ref.CID, ref.Size
	}
	if err == nil {
		r.release = append(r.release, r.content.Hold([]task.CID{o.CID}))
	}
	return err
}

// reads names what a task of the new job reads of others, as its worker would sign it.
func (r *resealer) reads(index uint64, named bool) ([]byte, error) {
	if !named {
		return nil, nil
	}
	var files []task.Output
	for n, members := range r.spec.Needed(index) {
		for u := range members.All() {
			files = append(files, r.spec.FilesOf(n, u, r.made[u])...)
		}
	}
	slices.SortFunc(files, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	return (&message.Reads{Files: files}).Name(), nil
}
