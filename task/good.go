package task

import "crypto/ed25519"

// MostGood bounds the signatures that a Good remembers, of some 200 bytes each. Those that are for one batch come
// together, or one soon after the other.
const MostGood = 4096

// MaxTogether is as long as what is signed for several messages together is at most, in bytes: a domain and the
// root of a tree.
const MaxTogether = 48

// Good remembers signatures of short messages that were found good, so that each is looked at once for all that it
// is for. It forgets all when they are more than MostGood. The zero value is empty, and for one goroutine at a time.
type Good struct {
	signatures map[Signed]struct{}
}

// Signed is a short message with a signature by a key, good or bad. It holds a copy of all three, so that what is
// known of it is known of nothing else.
type Signed struct {
	key       [ed25519.PublicKeySize]byte
	signature [ed25519.SignatureSize]byte
	message   [MaxTogether]byte // then zeros
	length    int
}

// SignedBy returns a message with its signature by a key; false for a message beyond MaxTogether, and for what has
// not the length of a key or of a signature: such a one is not remembered.
func SignedBy(key ed25519.PublicKey, message, signature []byte) (s Signed, short bool) {
	if len(message) > MaxTogether || len(key) != ed25519.PublicKeySize || len(signature) != ed25519.SignatureSize {
		return Signed{}, false
	}
	s = Signed{key: [ed25519.PublicKeySize]byte(key), signature: [ed25519.SignatureSize]byte(signature),
		length: len(message)}
	copy(s.message[:], message)
	return s, true
}

// Has reports whether a signature was found good lately.
func (g *Good) Has(s Signed) bool {
	_, good := g.signatures[s]
	return good
}

// Note remembers that a signature is good.
func (g *Good) Note(s Signed) {
	if g.signatures == nil || len(g.signatures) >= MostGood {
		g.signatures = map[Signed]struct{}{}
	}
	g.signatures[s] = struct{}{}
}

// Len is how many are remembered.
func (g *Good) Len() int { return len(g.signatures) }
