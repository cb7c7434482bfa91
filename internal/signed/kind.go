package signed

import (
	"fmt"
	"time"

	"godwit/task"
)

const (
	// MaxLife bounds how long a text holds: for so long a mirror can hide what is newer, and keys are lost.
	MaxLife = 366 * 24 * time.Hour
	// MaxSkew is how far a clock may be behind that of a text's maker.
	MaxSkew = 10 * time.Minute

	firstYear, lastYear = 2000, 9999 // of dates that make sense, and have four digits
)

// A Kind is what a kind of text says of those that are not to be used, so that a person reads what it is that was
// wrong. Every error is set; what is returned wraps one of them with what was found.
type Kind struct {
	Damaged    error // it is not whole
	Unsigned   error // nobody has signed it
	UnknownKey error // no key that is trusted has
	Expired    error
	Future     error // it does not hold yet
	Older      error // its makers have replaced it since
}

// Dates returns nil if a text may say that it was made and expires then.
func (k *Kind) Dates(issued, expires time.Time) error {
	switch {
	case !expires.After(issued) || expires.Sub(issued) > MaxLife:
		return fmt.Errorf("%w: it is to hold from %s to %s, want at most %d days", k.Damaged, issued.Format(time.RFC3339),
			expires.Format(time.RFC3339), int(MaxLife.Hours()/24))
	case issued.Year() < firstYear || expires.Year() > lastYear:
		return fmt.Errorf("%w: its dates make no sense", k.Damaged)
	}
	return nil
}

// Signed returns nil if one of the trusted keys has signed a text, whenever that was, and none of them is said to have
// that has not.
func (k *Kind) Signed(all []Signature, trusted []task.PeerID, body []byte) error {
	if len(all) == 0 {
		return k.Unsigned
	}
	switch good, bad := By(all, trusted, body); {
	case len(bad) > 0:
		return fmt.Errorf("%w: the signature of %s is not one of it", k.Damaged, bad[0])
	case len(good) == 0:
		return fmt.Errorf("%w: %s has", k.UnknownKey, all[0].Key)
	}
	return nil
}

// Holds returns nil if a text that was made and expires then holds at now.
func (k *Kind) Holds(issued, expires, now time.Time) error {
	switch {
	case !now.Before(expires):
		return fmt.Errorf("%w on %s", k.Expired, expires.Format(time.RFC3339))
	case issued.After(now.Add(MaxSkew)):
		return fmt.Errorf("%w: it was made on %s, or the clock here is wrong", k.Future, issued.Format(time.RFC3339))
	}
	return nil
}

// Since returns nil if a text was not made before one that was seen; the zero time is of none.
func (k *Kind) Since(issued, seen time.Time) error {
	if issued.Before(seen) {
		return fmt.Errorf("%w: it was made on %s, that one on %s", k.Older, issued.Format(time.RFC3339),
			seen.Format(time.RFC3339))
	}
	return nil
}

// ReadTime reads a date as texts have it.
func ReadTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}
