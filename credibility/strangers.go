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

// Crowding is how many times its share of a job's tasks a crowd has with one more result, where so
// many of it are accepted; 0 where any share is allowed.
func Crowding(accepted, total uint64, share float64) float64 {
	if share <= 0 || total == 0 {
		return 0
	}
	return float64(accepted+1) / (share * float64(total))
}

// MostDenser bounds what Denser makes of a share: however a small job is handed out, most of it is not
// run again.
const MostDenser = .5

// Denser is the share of a crowd's next result to be audited, of a job of so many tasks that names a
// share of them and no bound on wrong ones. A crowd that has so many times its bound has its next
// result audited so many times as likely: a job that goes to one network alone, or to strangers
// alone, is audited about share (1 + bound^2) / (2 bound) in all, never more than share / bound. bound is
// the crowd's share of the tasks. Where not one audit is expected in all that the bound allows, the
// job is too small to tell of crowds, and share stands.
func Denser(share, crowding, bound float64, total uint64) float64 {
	if crowding <= 1 || share*bound*float64(total) < 1 {
		return share
	}
	return max(share, min(MostDenser, share*crowding))
}
