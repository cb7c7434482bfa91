package sandbox

import "sync/atomic"

// An arena is room for the copies of one checkpoint's pages. It is made before
// the guest is stopped, since most of what copying to new memory takes is the
// system's finding it: 64 MiB take 119 ms, to memory that is there 7 ms.
type arena struct {
	buf  []byte
	used atomic.Int64
}

// newArena reserves room for most bytes and has the first of them ready. It is
// nil if the machine refuses.
func newArena(ready, most int64) *arena {
	buf, err := reserve(most)
	if err != nil || len(buf) == 0 {
		return nil
	}
	large(buf)
	for at := int64(0); at < min(ready, most); at += touchEvery {
		buf[at] = 1 // a zero would do, but a compiler might know what is there
	}
	return &arena{buf: buf}
}

// touchEvery is the smallest page of any system here.
const touchEvery = 4 << 10

// page gives room for one more page, or nil. It is safe for concurrent use.
func (a *arena) page() []byte {
	if a == nil {
		return nil
	}
	end := a.used.Add(pageSize)
	if end > int64(len(a.buf)) {
		return nil
	}
	return a.buf[end-pageSize : end : end]
}

// free gives the room back; nothing may use it any more.
func (a *arena) free() {
	if a != nil {
		_ = unreserve(a.buf)
	}
}
