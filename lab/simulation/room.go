package simulation

import "runtime"

// garbage is how many bytes a simulation may leave before they are collected, beside as many as it
// holds. One of a hundred machines holds a few megabytes and leaves a gigabyte a day, so that
// without room it collected hundreds of times: a sixth of its processor time.
const garbage = 64 << 20

// makeRoom has the collector wait for so much garbage, until what it returns is called. The
// collector begins when as much was taken as is held; memory that nobody writes to counts as held,
// and takes none of the machine's.
func makeRoom() (done func()) {
	held := make([]byte, garbage)
	return func() { runtime.KeepAlive(held) }
}
