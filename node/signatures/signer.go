package signatures

import (
	"crypto/ed25519"

	fast "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
)

// With returns ed25519.Sign with a key, in about two thirds of the time: a signature depends on the key
// and the message alone, so the bytes are the same. Any goroutine may call it. The key must have
// ed25519.PrivateKeySize bytes, and nobody may change them.
func With(key ed25519.PrivateKey) func(message []byte) []byte {
	return func(message []byte) []byte { return fast.Sign(fast.PrivateKey(key), message) }
}
