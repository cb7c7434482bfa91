package disk

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// segmentBytes is from when on a segment is written to no more: few files, each of which is
	// rewritten in a moment.
	segmentBytes = 64 << 20
	// segmentFiles is how many segments are kept open to be read.
	segmentFiles = 32

	segmentSuffix = ".seg"
	// segmentsName is the directory of a store's segments.
	segmentsName = "segments"
)

// Segments are files that large values lie in, one after the other and nothing else. What is in
// one never changes, and each process writes to new ones. Which values there are and where, bulk
// says alone: what it does not speak of is garbage, as a crash leaves it.
type segments struct {
	disk *disk
	dir  string

	writing sync.Mutex // held while values are written
	last    *segment   // that is written to; nil: the next value begins one
	next    uint64     // number of the next one

	syncing sync.Mutex // held while segments are synced
	mu      sync.Mutex // guards unsynced and open
	// unsynced are those written to since they were synced last.
	unsynced []*segment
	open     map[uint64]*handle // to be read
}

// A segment is one that is written to.
type segment struct {
	number uint64
	file   vfs.File
	size   uint64 // of what was written; guarded by writing
	full   bool   // guarded by mu: to be closed once it is synced
}

// A handle is a segment that is open to be read.
type handle struct {
	file  vfs.File
	size  atomic.Uint64 // at least
	users int           // that read it now
	gone  bool          // to be closed by the last of them, and then removed if drop is set
	drop  bool
}

// openSegments finds the segments in a directory, which it makes.
func openSegments(d *disk, dir string) (*segments, error) {
	s := &segments{disk: d, dir: dir, open: map[uint64]*handle{}}
	if err := errors.Join(d.MkdirAll(dir, 0o700), s.syncDir(d.PathDir(dir))); err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	numbers, err := s.list()
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		s.next = max(s.next, n+1)
	}
	return s, nil
}

func (s *segments) path(number uint64) string {
	return s.disk.PathJoin(s.dir, strconv.FormatUint(number, 10)+segmentSuffix)
}

// list returns the numbers of the segments that are there. Other files are none of them.
func (s *segments) list() ([]uint64, error) {
	names, err := s.disk.List(s.dir)
	if err != nil {
		return nil, fmt.Errorf("blocks: listing segments: %w", err)
	}
	var numbers []uint64
	for _, name := range names {
		text, ok := strings.CutSuffix(name, segmentSuffix)
		n, err := strconv.ParseUint(text, 10, 64)
		if ok && err == nil && n < maxPlace && name == strconv.FormatUint(n, 10)+segmentSuffix {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// write appends values, and returns where each lies. They survive a crash after sync alone.
func (s *segments) write(values [][]byte) ([]place, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	places := make([]place, 0, len(values))
	for _, v := range values {
		if s.last == nil {
			if err := s.begin(); err != nil {
				return nil, err
			}
		}
		l := s.last
		s.touch(l)
		p := place{segment: l.number, at: l.size, bytes: uint64(len(v)), sum: crc32.Checksum(v, castagnoli)}
		n, err := l.file.Write(v)
		l.size += uint64(n)
		if err != nil {
			return nil, fmt.Errorf("writing a segment: %w", err)
		}
		places = append(places, p)
		if l.size >= segmentBytes {
			s.endLocked()
		}
	}
	return places, nil
}

// begin makes a new segment; writing is held.
func (s *segments) begin() error {
	f, err := s.disk.Create(s.path(s.next), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("making a segment: %w", err)
	}
	s.last = &segment{number: s.next, file: f}
	s.next++
	return nil
}

// touch notes that a segment is to be synced.
func (s *segments) touch(g *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.unsynced, g) {
		s.unsynced = append(s.unsynced, g)
	}
}

// end has the next value begin a new segment, and returns its number: all below are written to
// no more.
func (s *segments) end() uint64 {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.endLocked()
	return s.next
}

func (s *segments) endLocked() {
	if s.last == nil {
		return
	}
	s.touch(s.last) // who syncs it closes it too
	s.mu.Lock()
	s.last.full = true
	s.mu.Unlock()
	s.last = nil
}

// sync makes what was written so far survive a crash. Who calls it while another does waits for
// that one: what it took upon itself is not on disk before it returns.
func (s *segments) sync() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	due := s.unsynced
	s.unsynced = nil
	s.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	for _, g := range due {
		if err := g.file.SyncData(); err != nil {
			return err
		}
		s.mu.Lock()
		over := g.full && !slices.Contains(s.unsynced, g)
		s.mu.Unlock()
		if over {
			_ = g.file.Close() // it was synced
		}
	}
	return s.syncDir(s.dir)
}

// syncDir makes the names in a directory survive a crash.
func (s *segments) syncDir(name string) error {
	dir, err := s.disk.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// close ends the files that are open.
func (s *segments) close() error {
	s.end()
	err := s.sync()
	s.forget()
	return err
}
