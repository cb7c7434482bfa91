package sandbox

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memories allocates the linear memories of a child's tasks. It keeps one
// reservation from task to task, gives pages back zeroed, and notes when a
// task asked for more than it may have: that note is what tells a task that
// died for lack of memory from one that failed otherwise.
type memories struct {
	limit   int64 // bytes, of the task that runs now
	buf     []byte
	size    uint64 // bytes in use
	dirty   uint64 // bytes that may be other than zero
	refused bool   // a growth beyond limit was asked for
	live    bool   // one memory is in use

	inUse *atomic.Int64 // size, for other goroutines

	tracker  *tracker // of buf; nil before it is asked for, or where there is none
	untraced bool     // there is none
	traced   bool     // it has looked at this task's memory

	knows *atomic.Bool // traced, and there is one, for other goroutines
}

// begin prepares for a task with this limit.
func (m *memories) begin(limit int64) error {
	m.size, m.refused, m.live, m.traced = 0, false, false, false
	if m.inUse == nil {
		m.inUse, m.knows = new(atomic.Int64), new(atomic.Bool)
	}
	m.knows.Store(false)
	if int64(len(m.buf)) != limit {
		m.tracker.close()
		m.tracker = nil
		if m.buf != nil {
			if err := unreserve(m.buf); err != nil {
				return err
			}
			m.buf = nil
		}
		buf, err := reserve(limit)
		if err != nil {
			return err
		}
		m.buf, m.dirty = buf, 0
	}
	m.limit = limit
	return nil
}

// Allocate implements experimental.MemoryAllocator. Capacity is the whole
// limit at once, so growing never copies: growing to 1 GiB in steps of 16 MiB
// otherwise takes 12.8 s.
func (m *memories) Allocate(_, _ uint64) experimental.LinearMemory {
	m.live = true
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memories) Reallocate(size uint64) []byte {
	if size > uint64(m.limit) {
		m.refused = true
		return nil
	}
	m.size = max(m.size, size)
	m.inUse.Store(int64(m.size))
	m.dirty = max(m.dirty, size)
	return m.buf[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *memories) Free() {
	if m.live {
		zero(m.buf[:m.dirty])
		m.dirty, m.live = 0, false
	}
}

// unchanged says which pages of the memory in use were certainly not written
// since the call before, in this task; nil where that is not known. A guest may
// run meanwhile: what it writes during a call is told by that or the next.
func (m *memories) unchanged(memory []byte) []bool {
	if m.tracker == nil && !m.untraced {
		m.tracker = newTracker(m.buf)
		m.untraced = m.tracker == nil
	}
	if m.tracker == nil || len(memory) == 0 || &memory[0] != &m.buf[0] {
		return nil
	}
	written, err := m.tracker.written(len(memory))
	if err != nil {
		m.tracker.close()
		m.tracker, m.untraced = nil, true
		m.knows.Store(false)
		return nil
	}
	first := !m.traced
	m.traced = true
	m.knows.Store(true)
	if first {
		return nil // what was written before this task's memory was made counts too
	}
	same := make([]bool, len(memory)/pageSize)
	for n := range same {
		same[n] = true
	}
	for _, w := range written {
		for n := w.from / pageSize; n <= (w.to-1)/pageSize && n < len(same); n++ {
			same[n] = false
		}
	}
	return same
}

// tells reports whether unchanged knows.
func (m *memories) tells() bool { return m.knows.Load() }

// read copies page n, which a guest may be writing to: see readShared.
func (m *memories) read(n int, page []byte) {
	readShared(page, m.buf[n*pageSize:(n+1)*pageSize])
}

// A span is a range of offsets into a memory.
type span struct{ from, to int }

// clearBelow is the size up to which writing zeros is cheaper than giving the
// pages back and faulting them in again.
const clearBelow = 256 << 10
