package wasi

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Epoch is where every task's clock begins: 2000-01-01T00:00:00Z, in
// nanoseconds since 1970. Any constant would do; this one is a valid date to
// every program and cannot be taken for the present.
const Epoch int64 = 946_684_800 * 1e9

// ReadStep is how far each reading moves the clock, in nanoseconds: time
// passes for a program that looks at it, at the rate of a plausible system
// call, and a loop that waits for a second ends after a million readings.
const ReadStep int64 = 1000

// The clocks of preview 1.
const (
	clockRealtime uint32 = iota
	clockMonotonic
	clockProcess
	clockThread
)

// read moves the clock and returns the time of clock id. All but the real-time
// clock count from the task's beginning.
func (s *State) now(id uint32) (int64, Errno) {
	if id > clockThread {
		return 0, EINVAL
	}
	s.advance(ReadStep)
	if id == clockRealtime {
		return Epoch + s.Clock, OK
	}
	return s.Clock, OK
}

// maxClock keeps Epoch plus the clock within an int64; that is the year 2262.
const maxClock = math.MaxInt64 - Epoch

// advance moves the clock forward; at its end it stands still.
func (s *State) advance(d int64) {
	if d > maxClock-s.Clock {
		s.Clock = maxClock
		return
	}
	s.Clock += max(d, 0)
}

// Random fills b with the next bytes of the task's stream: byte n is byte
// n%32 of SHA-256(Seed, n/32 as 8 bytes little endian). A hash and a counter
// are all there is to save, and any other implementation can repeat it.
func (s *State) Random(b []byte) {
	for len(b) > 0 {
		at := s.Drawn / sha256.Size
		if s.blockAt != at+1 {
			var in [sha256.Size + 8]byte
			copy(in[:], s.Seed[:])
			binary.LittleEndian.PutUint64(in[sha256.Size:], at)
			s.block, s.blockAt = sha256.Sum256(in[:]), at+1
		}
		n := copy(b, s.block[s.Drawn%sha256.Size:])
		s.Drawn += uint64(n)
		b = b[n:]
	}
}
