package sandbox

import (
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
}

// begin prepares for a task with this limit.
func (m *memories) begin(limit int64) error {
	m.size, m.refused, m.live = 0, false, false
	if int64(len(m.buf)) != limit {
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

// clearBelow is the size up to which writing zeros is cheaper than giving the
// pages back and faulting them in again.
const clearBelow = 256 << 10
