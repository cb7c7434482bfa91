package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"godwit/blocks"
	"godwit/task"
)

// A Space is where files may be written as long as there is room: all Reserve before
// they write, and Release what they have removed.
type Space interface {
	Reserve(bytes int64) error
	Release(bytes int64)
}

// A staging holds the files that sandboxes read, each once, for as long as a job needs it.
// It is safe for concurrent use.
type staging struct {
	*core
	mu    sync.Mutex
	files map[task.CID]*staged
}

// A staged is one of them. A job that takes it waits until it is written.
type staged struct {
	users   int           // jobs that have it, or wait for it
	written chan struct{} // closed when it is, or cannot be
	bytes   int64         // reserved
	err     error
}

func newStaging(c *core) *staging { return &staging{core: c, files: map[task.CID]*staged{}} }

func (s *staging) path(c task.CID) string { return filepath.Join(s.StageDir, string(c)) }

// has reports whether some job has, or waits for, the file.
func (s *staging) has(c task.CID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[c] != nil
}

// take returns the path of a file with some content, which is dropped as often as it was
// taken. It gives up when ctx ends.
func (s *staging) take(ctx context.Context, root blocks.Root) (path string, err error) {
	for {
		s.mu.Lock()
		f := s.files[root.CID]
		mine := f == nil
		if mine {
			f = &staged{written: make(chan struct{})}
			s.files[root.CID] = f
		}
		f.users++
		s.mu.Unlock()
		if mine {
			f.bytes, f.err = s.write(ctx, root)
			close(f.written)
		}
		select {
		case <-f.written:
			err = f.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err == nil && !mine { // another job may have said another size
			err = root.Bound.Allow(f.bytes)
		}
		if err == nil {
			return s.path(root.CID), nil
		}
		s.drop(root.CID)
		if mine || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return "", fmt.Errorf("staging %s: %w", root.CID, err)
		}
	}
}

// drop gives up a file that was taken; the last job that does removes it.
func (s *staging) drop(c task.CID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[c]
	if f == nil {
		return
	}
	if f.users--; f.users > 0 {
		return
	}
	delete(s.files, c)
	if f.bytes > 0 || f.err == nil {
		os.Remove(s.path(c))
	}
	s.Space.Release(f.bytes)
}

// write writes content to its file, which appears whole or not at all, and returns what
// is reserved for it.
func (s *staging) write(ctx context.Context, root blocks.Root) (bytes int64, err error) {
	r, size, err := s.Content.Blocks().Open(ctx, root.CID, root.Bound)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := s.Space.Reserve(size); err != nil {
		return 0, err
	}
	if err := s.copy(r, s.path(root.CID)); err != nil {
		s.Space.Release(size)
		return 0, err
	}
	return size, nil
}

func (s *staging) copy(r io.Reader, path string) error {
	f, err := os.CreateTemp(s.StageDir, "new-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
