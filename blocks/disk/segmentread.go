package disk

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
)

// errNoSegment is returned for a place in a segment that is not there, or ends before: it was
// rewritten since the place was looked up, or is damaged.
var errNoSegment = errors.New("the segment is not there, or too short")

// read reads what lies at a place into memory that it gets from room, of which it takes no more
// than the segment holds.
func (s *segments) read(p place, room func(bytes int) []byte) ([]byte, error) {
	h, err := s.hold(p.segment)
	if err != nil {
		return nil, err
	}
	defer s.release(p.segment, h)
	if end := p.at + p.bytes; end > h.size.Load() {
		info, err := h.file.Stat()
		if err != nil || end > uint64(info.Size()) {
			return nil, errors.Join(errNoSegment, err)
		}
		h.size.Store(uint64(info.Size()))
	}
	b := room(int(p.bytes))
	if _, err := h.file.ReadAt(b, int64(p.at)); err != nil {
		return nil, fmt.Errorf("reading segment %d: %w", p.segment, err)
	}
	if crc32.Checksum(b, castagnoli) != p.sum {
		return nil, fmt.Errorf("%w: segment %d: %d bytes at %d are not what was written",
			ErrCorrupt, p.segment, p.bytes, p.at)
	}
	return b, nil
}

// hold opens a segment to be read, until release.
func (s *segments) hold(number uint64) (*handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.open[number]; h != nil {
		h.users++
		return h, nil
	}
	f, err := s.disk.Open(s.path(number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errNoSegment, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening segment %d: %w", number, err)
	}
	for n, h := range s.open {
		if len(s.open) < segmentFiles {
			break
		}
		if h.users == 0 {
			s.dropLocked(n, false)
		}
	}
	h := &handle{file: f, users: 1}
	s.open[number] = h
	return h, nil
}

func (s *segments) release(number uint64, h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.users--
	if h.users == 0 && h.gone {
		s.endHandle(number, h)
	}
}

// remove removes a segment, once nobody reads it any more.
func (s *segments) remove(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[number] == nil {
		_ = s.disk.Remove(s.path(number)) // what stays is garbage, and goes when the store is opened
		return
	}
	s.dropLocked(number, true)
}

// dropLocked takes a handle out; the last who reads it closes it. mu is held.
func (s *segments) dropLocked(number uint64, remove bool) {
	h := s.open[number]
	delete(s.open, number)
	h.gone, h.drop = true, remove
	if h.users == 0 {
		s.endHandle(number, h)
	}
}

func (s *segments) endHandle(number uint64, h *handle) {
	_ = h.file.Close() // it was only read
	if h.drop {
		_ = s.disk.Remove(s.path(number)) // as in remove
	}
}
