package credibility

import (
	"fmt"
	"time"
)

// FamiliarAfter is for how long a worker has been known before it is no stranger any more: keys
// cost nothing, time does.
const FamiliarAfter = 7 * 24 * time.Hour

// Strangers are what a pool assumes where one person may have many keys, beside its Terms. The zero
// value is of a pool where nobody has.
type Strangers struct {
	// Prior takes the place of Terms.Prior while every worker is a stranger.
	Prior float64
	// Network and New are which shares of a job's tasks may be accepted without being run again of
	// workers of one network, and of all strangers; 0 is any. Who hands the tasks out may have many
	// keys, too, but neither many networks nor many keys that are old.
	Network, New float64
}

// OpenStrangers are those of an open pool.
var OpenStrangers = Strangers{Prior: .33, Network: .2, New: .3}

// Check returns an error that names what is out of its range.
func (s Strangers) Check() error {
	for _, v := range []float64{s.Prior, s.Network, s.New} {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("a share of strangers of %g: it is at least 0 and below 1", v)
		}
	}
	return nil
}

// Stranger reports whether a worker has not been known for long.
func (c *Credit) Stranger(now time.Time) bool {
	return c.First.IsZero() || now.Sub(c.First) < FamiliarAfter
}

// Crowded reports whether one more result is beyond a share of a job's tasks, of which so many are
// accepted of a crowd.
func Crowded(accepted, total uint64, share float64) bool {
	return share > 0 && float64(accepted+1) > share*float64(total)
}
