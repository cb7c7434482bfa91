package p2p

import (
	"math/rand/v2"
	"time"
)

// jitter returns between half and one and a half of d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}
