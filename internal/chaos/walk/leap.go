package walk

import "math/bits"

// wordBits is how many bits a place on a walk has.
const wordBits = 64

// A Leap is many steps at once. A step is linear over the field of two elements,
// and so are any number of them: what becomes of a place is the sum of what
// becomes of its bits.
type Leap [wordBits]uint64 // by bit: where it alone leads

// NewLeap returns so many steps as one.
func NewLeap(steps uint64) Leap {
	var all, power Leap
	for bit := range wordBits {
		all[bit] = 1 << bit
		power[bit] = step(1 << bit)
	}
	for ; steps > 0; steps >>= 1 {
		if steps&1 == 1 {
			all = all.then(power)
		}
		power = power.then(power)
	}
	return all
}

// From returns where the leap from a place ends.
func (l *Leap) From(x uint64) (end uint64) {
	for ; x != 0; x &= x - 1 {
		end ^= l[bits.TrailingZeros64(x)]
	}
	return end
}

// then returns l and after it next as one.
func (l Leap) then(next Leap) Leap {
	for bit := range l {
		l[bit] = next.From(l[bit])
	}
	return l
}
