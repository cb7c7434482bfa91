package message

import (
	"fmt"

	"godwit/task"
)

// Retired asks one of the group whether it has what a replica was told to forget, or later
// than that: first by digests, then the pairs of the jobs that the answer named. One is under
// way at a time.
type Retired struct {
	Session uint64      `cbor:"1,keyasint"`              // another for each round of asking; not 0
	Seq     uint64      `cbor:"2,keyasint"`              // 1, 2, ...
	Jobs    []JobDigest `cbor:"3,keyasint" most:"4096"`  // at most MaxKnown
	Pairs   []Pair      `cbor:"4,keyasint" most:"16384"` // of jobs asked after before
}

// Kept answers a Retired.
type Kept struct {
	Session uint64       `cbor:"1,keyasint"`
	Seq     uint64       `cbor:"2,keyasint"`              // of the Retired that it answers
	Lacking []task.JobID `cbor:"3,keyasint" most:"16384"` // those asked after that it does not have so, or later
}

func (r *Retired) check() error {
	if len(r.Jobs) > MaxKnown || len(r.Pairs) > MaxPairs || r.Session == 0 {
		return fmt.Errorf("retired in session %d of %d jobs and %d pairs, the most is %d and %d", r.Session, len(r.Jobs),
			len(r.Pairs), MaxKnown, MaxPairs)
	}
	return checkPairs(r.Pairs)
}

func (k *Kept) check() error {
	if len(k.Lacking) > MaxPairs {
		return fmt.Errorf("kept of %d jobs, the most is %d", len(k.Lacking), MaxPairs)
	}
	return nil
}
