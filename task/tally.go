package task

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tallyDomain keeps a tally's signature from meaning anything else.
const tallyDomain = "godwit tally 1\x00"

const (
	// MaxTally bounds an encoded tally, in bytes: a row has about 70.
	MaxTally = 16 << 10
	// MaxTallyRows bounds the workers of a tally, MaxTallyShown the results that it offers to show.
	MaxTallyRows, MaxTallyShown = 128, 32
	// MaxTallied bounds what a row says, in hundredths of tasks: ten million tasks.
	MaxTallied = 1_000_000_000
	// TallyLife is for how long a tally counts after it was issued: a teller that is there says
	// another long before.
	TallyLife = 3 * 24 * time.Hour
	// tallyUnits are so many to a task.
	tallyUnits = 100
)

// A Tally is what one submitter, its teller, says of the workers of an overlay: how much of their
// work it ran again itself and found right. It is hearsay: see credibility.With. What others told
// the teller is not in it, so nobody's word comes back to him as another's.
type Tally struct {
	Overlay string     `cbor:"1,keyasint"`
	Teller  PeerID     `cbor:"2,keyasint"`
	Issued  int64      `cbor:"3,keyasint"`                      // Unix seconds
	Rows    []TallyRow `cbor:"4,keyasint,omitempty" most:"128"` // by worker, each once
	// Shown are results, by TallyName, that the teller found right and shows to who asks: so its
	// word can be tried.
	Shown [][]byte `cbor:"5,keyasint,omitempty" most:"32"`
}

// A TallyRow is what a tally says of one worker.
type TallyRow struct {
	Worker PeerID `cbor:"1,keyasint"`
	// Right are tasks found right, in hundredths, halved each credibility.HalfLife up to Issued; 0 of
	// one that is refused.
	Right uint64 `cbor:"2,keyasint,omitempty"`
	// Refused says that a result of it was found wrong. That counts for nothing without a proof, and
	// says whom to ask for one.
	Refused bool `cbor:"3,keyasint,omitempty"`
}

// Tasks is Right in tasks.
func (r TallyRow) Tasks() float64 { return float64(r.Right) / tallyUnits }

// Tallied is what a row says of so many tasks, more than none.
func Tallied(tasks float64) uint64 { return uint64(min(max(tasks, 0)*tallyUnits, MaxTallied)) }

// TallyName is what a tally calls a signed result.
func TallyName(r *Result) [sha256.Size]byte { return sha256.Sum256(r.Mark()) }

// signedTally is how it goes over the wire. The signature is over the bytes of Body, so that a later
// version may add to it.
type signedTally struct {
	Body      []byte `cbor:"1,keyasint"`
	Signature []byte `cbor:"2,keyasint"`
}

// Sign returns the tally as it goes to others. key is the teller's.
func (t *Tally) Sign(key ed25519.PrivateKey) ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("signing a tally: %w", err)
	}
	body, err := Encode(t)
	if err != nil {
		return nil, fmt.Errorf("signing a tally: %w", err)
	}
	b, err := Encode(&signedTally{body, sign(key, tallyDomain, body)})
	if err == nil && len(b) > MaxTally {
		err = fmt.Errorf("signing a tally: %d bytes, the most is %d", len(b), MaxTally)
	}
	return b, err
}

// OpenTally reads what Sign wrote, and checks that the teller signed it. The bytes may be hostile.
func OpenTally(b []byte) (*Tally, error) {
	if len(b) > MaxTally {
		return nil, fmt.Errorf("reading a tally: %d bytes, the most is %d", len(b), MaxTally)
	}
	var s signedTally
	if err := Decode(b, &s); err != nil {
		return nil, fmt.Errorf("reading a tally: %w", err)
	}
	t := new(Tally)
	if err := Decode(s.Body, t); err != nil {
		return nil, fmt.Errorf("reading a tally: %w", err)
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("reading a tally: %w", err)
	}
	key, err := t.Teller.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("reading who tells a tally: %w", err)
	}
	if !verify(key, tallyDomain, s.Body, s.Signature) {
		return nil, fmt.Errorf("verifying that %s tells a tally: %w", t.Teller, ErrSignature)
	}
	return t, nil
}

func (t *Tally) validate() error {
	const year9998 = 253_339_228_800 // as of all times: see docs/protocol.md, Jobs
	switch {
	case len(t.Rows) > MaxTallyRows:
		return fmt.Errorf("%d workers, the most is %d", len(t.Rows), MaxTallyRows)
	case len(t.Shown) > MaxTallyShown:
		return fmt.Errorf("%d results to show, the most is %d", len(t.Shown), MaxTallyShown)
	case t.Issued < 0 || t.Issued >= year9998:
		return errors.New("it was issued in no year that there is")
	}
	for i, r := range t.Rows {
		switch {
		case r.Worker == "" || len(r.Worker) > maxPeerIDText:
			return errors.New("a row of nobody")
		case i > 0 && strings.Compare(string(t.Rows[i-1].Worker), string(r.Worker)) >= 0:
			return errors.New("rows that are not in order")
		case r.Worker == t.Teller:
			return errors.New("the teller tells of itself")
		case r.Right > MaxTallied:
			return fmt.Errorf("a row of %d hundredths of tasks, the most is %d", r.Right, MaxTallied)
		case r.Refused == (r.Right > 0):
			return errors.New("a row that says nothing, or two things")
		}
	}
	for _, name := range t.Shown {
		if len(name) != sha256.Size {
			return fmt.Errorf("the name of a result has %d bytes", len(name))
		}
	}
	return nil
}

// Counts reports whether a tally counts at a time, with a minute for clocks that differ.
func (t *Tally) Counts(now time.Time) bool {
	age := now.Sub(time.Unix(t.Issued, 0))
	return age > -clockSlack*time.Millisecond && age < TallyLife
}
