package exec

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"godwit/blocks"
	"godwit/blocks/seal"
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
	files map[stagedName]*staged
	idle  list.List // of the names of those that no task reads now, the one used last at the end
	// idleBytes are theirs.
	idleBytes int64
}

// A stagedName names a file that is staged: content as it is stored or, with the commitment to
// a key, what that is when it was opened.
type stagedName struct {
	CID    task.CID
	Sealed string // in hexadecimal; "" for none
}

// A staged is one of them. A job that takes it waits until it is written.
type staged struct {
	users   int           // jobs that have it, or wait for it
	written chan struct{} // closed when it is, or cannot be
	bytes   int64         // reserved: those of the content as it is stored
	err     error
	idle    *list.Element // of staging.idle; nil while it has users
}

func newStaging(c *core) *staging { return &staging{core: c, files: map[stagedName]*staged{}} }

func (s *staging) path(n stagedName) string {
	file := string(n.CID)
	if n.Sealed != "" {
		file += "." + n.Sealed
	}
	return filepath.Join(s.StageDir, file)
}

// has reports whether some job has, or waits for, the file.
func (s *staging) has(n stagedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[n] != nil
}

// take returns the path of a file with some content, opened by sealer, which is dropped as
// often as it was taken. It gives up when ctx ends.
func (s *staging) take(ctx context.Context, n stagedName, bound blocks.Bound, sealer *seal.Sealer) (path string,
	err error) {
	for {
		s.mu.Lock()
		f := s.files[n]
		mine := f == nil
		if mine {
			f = &staged{written: make(chan struct{})}
			s.files[n] = f
		}
		f.users++
		s.wake(f)
		s.mu.Unlock()
		if mine {
			f.bytes, f.err = s.write(ctx, n, bound, sealer)
			close(f.written)
		}
		select {
		case <-f.written:
			err = f.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err == nil && !mine { // another job may have said another size
			err = bound.Allow(f.bytes)
		}
		if err == nil {
			return s.path(n), nil
		}
		s.drop(n)
		if mine || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return "", fmt.Errorf("staging %s: %w", n.CID, err)
		}
	}
}

// drop gives up a file that was taken; the last job that does removes it.
func (s *staging) drop(n stagedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.leave(n); f != nil {
		s.remove(n, f)
	}
}

// leave counts a file that was taken as given back, and returns it if nobody uses it any more; s.mu is held.
func (s *staging) leave(n stagedName) *staged {
	f := s.files[n]
	if f == nil {
		return nil
	}
	if f.users--; f.users > 0 {
		return nil
	}
	return f
}

// write writes content to its file, which appears whole or not at all, and returns what
// is reserved for it: as much as it takes sealed, which is hardly more.
func (s *staging) write(ctx context.Context, n stagedName, bound blocks.Bound, sealer *seal.Sealer) (bytes int64,
	err error) {
	r, size, err := s.Content.Blocks().Open(ctx, n.CID, bound)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	err = s.Space.Reserve(size)
	if err != nil && s.clear() {
		err = s.Space.Reserve(size)
	}
	if err != nil {
		return 0, err
	}
	if err := s.copy(sealer.Opening(r), s.path(n)); err != nil {
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
