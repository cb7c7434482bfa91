package signatures

import (
	"bytes"
	"crypto/ed25519"
	"sync"
)

const (
	// often is how many signatures of a key are checked before its multiples are made, which takes as
	// long as some five checks.
	often = 16
	// maxKeys bounds the keys whose multiples are kept, 15 KB each, and maxSeen those that are counted.
	maxKeys = 256
	maxSeen = 4096
)

type key [ed25519.PublicKeySize]byte

// A Verifier checks signatures, and keeps what makes those of keys that come often quicker. Any
// goroutine may use it. The zero value is ready for use.
type Verifier struct {
	mu   sync.Mutex
	seen map[key]int // of keys without a table
	kept map[key]*keptTable
	uses uint64
}

// A keptTable is that of a key, and when it was used last.
type keptTable struct {
	table table
	used  uint64
}

// A Check is a signature to be checked. Without a key it is none.
type Check struct {
	Key                ed25519.PublicKey
	Message, Signature []byte
}

// Verify reports of each check what ed25519.Verify does.
func (v *Verifier) Verify(checks []Check) []bool {
	good := make([]bool, len(checks))
	var sums []sum
	for i, c := range checks {
		if len(c.Key) != ed25519.PublicKeySize {
			continue
		}
		t := v.tableOf(key(c.Key))
		if t == nil {
			good[i] = ed25519.Verify(c.Key, c.Message, c.Signature)
		} else if p, ok := t.sumFor(c); ok {
			sums = append(sums, sum{p, i})
		}
	}
	for i, r := range encodedAll(sums) {
		of := sums[i].of
		good[of] = bytes.Equal(r[:], checks[of].Signature[:len(r)])
	}
	return good
}

// A sum is the point that a signature's R has to be, and of which check it is.
type sum struct {
	point
	of int
}

// tableOf returns the table of a key; nil for one that did not come often.
func (v *Verifier) tableOf(k key) table {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.uses++
	if of := v.kept[k]; of != nil {
		of.used = v.uses
		return of.table
	}
	if v.seen == nil {
		v.seen, v.kept = map[key]int{}, map[key]*keptTable{}
	}
	if v.seen[k]++; v.seen[k] < often {
		if len(v.seen) > maxSeen { // of so many none comes often
			clear(v.seen)
		}
		return nil
	}
	delete(v.seen, k)
	t := ofKey(k[:])
	if t == nil {
		return nil
	}
	if len(v.kept) >= maxKeys {
		v.dropOldest()
	}
	v.kept[k] = &keptTable{table: t, used: v.uses}
	return t
}

// dropOldest forgets the table that was used longest ago.
func (v *Verifier) dropOldest() {
	var oldest key
	least := v.uses + 1
	for k, of := range v.kept {
		if of.used < least {
			oldest, least = k, of.used
		}
	}
	delete(v.kept, oldest)
}
