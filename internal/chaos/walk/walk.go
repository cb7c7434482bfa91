// Package walk is work whose result anybody can check who does it too: the tasks
// of internal/chaos are walks, and so is what it expects of them.
package walk

// End returns where a walk of so many steps from start ends. A step is one of
// Marsaglia's xorshift generator (Xorshift RNGs, 2003: shifts 13, 7, 17), which
// the tasks take one after the other; start 0 is taken as 1, for 0 leads nowhere.
func End(start uint64, steps int) uint64 {
	x := max(start, 1)
	for range steps {
		x = step(x)
	}
	return x
}

func step(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}
