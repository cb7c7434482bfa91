package signatures

import (
	"crypto/ed25519"
	"sync"

	"godwit/task"

	fast "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
)

const (
	// often is how many signatures of a key are checked before it is prepared, which takes as long as
	// some checks.
	often = 16
	// maxKeys bounds the keys that are kept prepared, some KB each, and maxSeen those that are counted.
	maxKeys = 256
	maxSeen = 4096
)

// asStandard has the library answer as crypto/ed25519 does, to whatever bytes.
var asStandard = &fast.Options{Verify: fast.VerifyOptionsStdLib}

type key [ed25519.PublicKeySize]byte

// A Verifier checks signatures, and keeps what makes those of keys that come often quicker. Any
// goroutine may use it. The zero value is ready for use.
type Verifier struct {
	mu   sync.Mutex
	seen map[key]int // of keys that are not prepared
	kept map[key]*prepared
	uses uint64
	good task.Good // signatures of short messages
}

// A prepared key, and when it was used last.
type prepared struct {
	key  *fast.ExpandedPublicKey
	used uint64
}

// A Check is a signature to be checked. Without a key it is none.
type Check struct {
	Key                ed25519.PublicKey
	Message, Signature []byte
}

// Verify reports of each check what ed25519.Verify does.
func (v *Verifier) Verify(checks []Check) []bool {
	good := make([]bool, len(checks))
	for i, c := range checks {
		if len(c.Key) != ed25519.PublicKeySize {
			continue
		}
		signed, short := task.SignedBy(c.Key, c.Message, c.Signature)
		if good[i] = short && v.knows(signed); good[i] {
			continue
		}
		if p := v.prepare(key(c.Key)); p != nil {
			good[i] = fast.VerifyExpandedWithOptions(p, c.Message, c.Signature, asStandard)
		} else {
			good[i] = fast.VerifyWithOptions(fast.PublicKey(c.Key), c.Message, c.Signature, asStandard)
		}
		if short && good[i] {
			v.note(signed)
		}
	}
	return good
}

// knows reports whether a signature was found good lately.
func (v *Verifier) knows(s task.Signed) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.good.Has(s)
}

// note remembers that a signature is good.
func (v *Verifier) note(s task.Signed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.good.Note(s)
}

// prepare returns a key that came often as the library prepares it; nil for any other.
func (v *Verifier) prepare(k key) *fast.ExpandedPublicKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.uses++
	if of := v.kept[k]; of != nil {
		of.used = v.uses
		return of.key
	}
	if v.seen == nil {
		v.seen, v.kept = map[key]int{}, map[key]*prepared{}
	}
	if v.seen[k]++; v.seen[k] < often {
		if len(v.seen) > maxSeen { // of so many none comes often
			clear(v.seen)
		}
		return nil
	}
	delete(v.seen, k)
	p, err := fast.NewExpandedPublicKey(fast.PublicKey(k[:]))
	if err != nil {
		return nil // no key at all: nothing is signed by it
	}
	if len(v.kept) >= maxKeys {
		v.dropOldest()
	}
	v.kept[k] = &prepared{key: p, used: v.uses}
	return p
}

// dropOldest forgets the key that was used longest ago.
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
