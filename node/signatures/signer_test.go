package signatures_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"godwit/node/signatures"

	"pgregory.net/rapid"
)

// The signature of a message is that of crypto/ed25519, byte for byte.
func TestWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), ed25519.SeedSize, ed25519.SeedSize).Draw(t, "seed")
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		key := ed25519.NewKeyFromSeed(seed)
		if got, want := signatures.With(key)(message), ed25519.Sign(key, message); !bytes.Equal(got, want) {
			t.Errorf("the signature is %x, want %x", got, want)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	key, message := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), make([]byte, 300)
	for name, sign := range map[string]func([]byte) []byte{
		"standard": func(b []byte) []byte { return ed25519.Sign(key, b) },
		"here":     signatures.With(key),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sign(message)
			}
		})
	}
}
