//go:build !linux

package sandbox

// zero makes b all zeros. What MADV_DONTNEED leaves in a page differs between
// systems, so it is written.
func zero(b []byte) { clear(b) }

// large asks for nothing: only Linux can be asked.
func large([]byte) {}
