package node

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// Each job has its own key, so the same file has another CID in each job. Results of earlier jobs are found by the CIDs
// that files have before they are sealed. Computing one means reading the file, so a node keeps those of each job that
// it submits: also when the job's inputs are long gone.

const (
	// plainPrefix is where the plain CIDs of a submitted job's inputs and tables are kept, by job.
	plainPrefix = "plain/"
	// mostPlain bounds the plain CIDs in memory, about 200 bytes each. With more, any one is forgotten and computed
	// again when it is needed.
	mostPlain = 1 << 16
)

// A plainFile is a file of a job, as it is stored and as it is before it is sealed.
type plainFile struct {
	Sealed task.CID `cbor:"1,keyasint"`
	Plain  task.CID `cbor:"2,keyasint"`
	Size   int64    `cbor:"3,keyasint"` // bytes, of Plain
}

// plains are plain CIDs by the CIDs of sealed files. The zero value has none. It is safe for concurrent use.
type plains struct {
	mu sync.Mutex
	of map[task.CID]task.FileRef
}

func (p *plains) get(sealed task.CID) (task.FileRef, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ref, known := p.of[sealed]
	return ref, known
}

func (p *plains) note(sealed task.CID, plain task.FileRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[task.CID]task.FileRef{}
	}
	for other := range p.of {
		if len(p.of) < mostPlain {
			break
		}
		delete(p.of, other)
	}
	p.of[sealed] = task.FileRef{CID: plain.CID, Size: plain.Size}
}

// plain returns the task.Plain of files under a key that are here, from any goroutine; nil for no key.
func (c *content) plain(ctx context.Context, sealer *seal.Sealer) task.Plain {
	if sealer == nil {
		return nil
	}
	return func(o task.Output) (task.FileRef, error) {
		if len(o.Inline) > 0 {
			data, err := sealer.OpenFile(o.Inline)
			if err != nil {
				return task.FileRef{}, err
			}
			cid, err := blocks.CIDOfBytes(data)
			return task.FileRef{CID: cid, Size: int64(len(data))}, err
		}
		if ref, known := c.plains.get(o.CID); known {
			return ref, nil
		}
		f, size, err := c.blocks.Open(ctx, o.CID, blocks.Exactly(o.Size))
		if err != nil {
			return task.FileRef{}, err
		}
		defer f.Close()
		if size, err = sealer.Plain(size); err != nil {
			return task.FileRef{}, err
		}
		cid, err := blocks.CIDOf(ctx, sealer.Opening(f))
		if err != nil {
			return task.FileRef{}, err
		}
		ref := task.FileRef{CID: cid, Size: size}
		c.plains.note(o.CID, ref)
		return ref, nil
	}
}

// ImportSealed stores a file's sealed form, or the file itself if there is no key, and returns its CID and size as it is
// stored. The file is read once.
func (c *content) ImportSealed(ctx context.Context, sealer *seal.Sealer, file io.Reader) (task.CID, int64, error) {
	if sealer == nil {
		return c.blocks.Import(ctx, file)
	}
	from, to := io.Pipe()
	var plain task.FileRef
	done := make(chan error, 1)
	go func() {
		counted := &byteCounter{from: from}
		var err error
		plain.CID, err = blocks.CIDOf(ctx, counted)
		plain.Size = counted.n
		from.CloseWithError(err) // writing ends, too, if this does
		done <- err
	}()
	cid, size, err := c.blocks.Import(ctx, sealer.Sealing(io.TeeReader(file, to)))
	to.CloseWithError(err)
	if e := <-done; err == nil {
		err = e
	}
	if err != nil {
		return "", 0, err
	}
	c.plains.note(cid, plain)
	return cid, size, nil
}

// A byteCounter counts the bytes that are read.
type byteCounter struct {
	from io.Reader
	n    int64
}

// Read implements io.Reader.
func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// keepPlain keeps the plain CIDs of a job's inputs and tables. Files that are not here are left out.
func (ss *submissions) keepPlain(ctx context.Context, rec *task.Record) error {
	if len(rec.Key) == 0 {
		return nil
	}
	sealer, err := seal.New(rec.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	spec, err := rec.OpenWhole()
	if err != nil {
		return err
	}
	plain := ss.content.plain(ctx, sealer)
	var files []plainFile
	for _, f := range append(spec.TableFiles(), spec.Inputs...) {
		ref, err := plain(task.Output{CID: f.CID, Size: f.Size})
		if err != nil {
			ss.log.Debug("a file's plain content is not known: it does not count for results of other jobs",
				"file", f.Name, "err", err)
			continue
		}
		files = append(files, plainFile{f.CID, ref.CID, ref.Size})
	}
	value, err := task.Encode(files)
	if err != nil {
		return fmt.Errorf("keeping what the job's files are: %w", err)
	}
	return ss.store.commit(ctx, []message.Persist{{Key: plainPrefix + string(rec.ID()), Value: value}})
}

// loadPlain has the plain CIDs of a job's files in memory again.
func (ss *submissions) loadPlain(ctx context.Context, id task.JobID) {
	value, err := ss.store.get(ctx, plainPrefix+string(id))
	if err != nil {
		return // of a job that is not sealed, or of an earlier version
	}
	var files []plainFile
	if err := task.Decode(value, &files); err != nil {
		ss.log.Warn("cannot read what a job's files are", "job", id, "err", err)
		return
	}
	for _, f := range files {
		ss.content.plains.note(f.Sealed, task.FileRef{CID: f.Plain, Size: f.Size})
	}
}

// forgetPlain removes what is kept of jobs that are forgotten.
func (co collector) forgetPlain(ctx context.Context) error {
	kept, err := co.store.keys(ctx, plainPrefix)
	if err != nil || len(kept) == 0 {
		return err
	}
	var gone []message.Persist
	err = co.do(ctx, func() {
		for _, key := range kept {
			id := task.JobID(strings.TrimPrefix(key, plainPrefix))
			if !slices.ContainsFunc(co.ordered(), func(m *membership) bool {
				_, submitted := m.Submitter().Record(id)
				return submitted
			}) {
				gone = append(gone, message.Persist{Key: key})
			}
		}
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return co.store.commit(ctx, gone)
}
