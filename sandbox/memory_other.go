//go:build !linux

package sandbox

// zero makes b all zeros. What MADV_DONTNEED leaves in a page differs between
// systems, so it is written.
func zero(b []byte) { clear(b) }

// large asks for nothing: only Linux can be asked.
func large([]byte) {}

// readShared copies memory that compiled code may be writing to. For Go this is a
// data race, though a benign one, since whoever reads so finds out whether
// anything was written; Go's race detector does not see what compiled code does.
func readShared(to, from []byte) { copy(to, from) }
