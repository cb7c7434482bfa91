package submission

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"godwit/api"
	"godwit/blocks"
	"godwit/task"
)

// hashFirst is the least size of a file, in bytes, of which the node is asked whether it has it before it
// is sent: below it sending is not more than asking.
const hashFirst = 16 << 20

// An importer stores a job's inputs at a node. A file is read as a stream, and what the node has of it
// from an import that was cut off is not stored again.
type importer struct {
	client      *api.Client
	key         []byte // under which files are sealed; none: they are not
	tell        Import // may be nil
	done, total int64
}

// putInputs stores the inputs, and returns what they are called.
func (s *Job) putInputs(ctx context.Context, client *api.Client, key []byte, tell Import) ([]task.FileRef, error) {
	im := &importer{client: client, key: key, tell: tell}
	for _, in := range s.inputs {
		im.total += in.info.Size()
	}
	refs := make([]task.FileRef, 0, len(s.inputs))
	for _, in := range s.inputs {
		ref, err := im.put(ctx, s, in)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// put stores one input, sealed where there is a key.
func (im *importer) put(ctx context.Context, s *Job, in input) (task.FileRef, error) {
	f, err := s.dir.Open(filepath.FromSlash(in.name))
	if err != nil {
		return task.FileRef{}, s.File.InputError(in.name, reason(err), inputsHint)
	}
	defer f.Close()
	if changed(f, in.info) {
		return task.FileRef{}, s.changed(in.name)
	}
	before := im.done
	if len(im.key) == 0 && in.info.Size() >= hashFirst {
		ref, there, err := im.there(ctx, f, in)
		if err != nil {
			return task.FileRef{}, fmt.Errorf("reading input file %s: %w", in.name, err)
		}
		if there && !changed(f, in.info) {
			return ref, nil
		}
		im.done = before
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return task.FileRef{}, fmt.Errorf("reading input file %s: %w", in.name, err)
		}
	}
	read := &counting{im: im, from: io.LimitReader(f, in.info.Size()+1)}
	r, err := im.client.PutSealed(ctx, im.key, read)
	switch {
	case err == nil && (read.n != in.info.Size() || changed(f, in.info)):
		return task.FileRef{}, s.changed(in.name)
	case err != nil:
		return task.FileRef{}, fmt.Errorf("storing input file %s: %w", in.name, err)
	}
	return task.FileRef{Name: in.name, CID: r.CID, Size: r.Size}, nil
}

// there reports whether the node has all of a file already.
func (im *importer) there(ctx context.Context, f *os.File, in input) (task.FileRef, bool, error) {
	c, err := blocks.CIDOf(ctx, &counting{im: im, from: f})
	if err != nil {
		return task.FileRef{}, false, err
	}
	there, err := im.client.HasFile(ctx, c)
	return task.FileRef{Name: in.name, CID: c, Size: in.info.Size()}, there, err
}

// changed reports whether an open file is not as it was found.
func changed(f *os.File, as fs.FileInfo) bool {
	now, err := f.Stat()
	return err != nil || now.Size() != as.Size() || !now.ModTime().Equal(as.ModTime()) || !now.Mode().IsRegular()
}

// changed is the error for a file that somebody writes to.
func (s *Job) changed(name string) error {
	return s.File.InputError(name, "it changed while it was read", "hand the job in when nothing writes to it any more")
}

// A counting reader tells how much was read.
type counting struct {
	im   *importer
	from io.Reader
	n    int64
}

// Read implements io.Reader.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	if c.im.done += int64(n); c.im.tell != nil && n > 0 {
		c.im.tell(c.im.done, c.im.total)
	}
	return n, err
}
