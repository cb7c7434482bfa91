package task

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

// A signature that was found good is known again; that of a shorter message that goes on with zeros, of another, or
// under another key is not; what is too long is not remembered; and as many are as may be.
func TestGood(t *testing.T) {
	key, other := make(ed25519.PublicKey, ed25519.PublicKeySize), bytes.Repeat([]byte{1}, ed25519.PublicKeySize)
	signature, message := make([]byte, ed25519.SignatureSize), make([]byte, MaxTogether)
	var g Good
	s, short := SignedBy(key, message, signature)
	if !short || g.Has(s) {
		t.Fatalf("short is %v, known before it was noted is %v", short, g.Has(s))
	}
	g.Note(s)
	message[0] = 1 // what is remembered is a copy
	for _, c := range []struct {
		name                    string
		key, message, signature []byte
		short, has              bool
	}{
		{"the same", key, make([]byte, MaxTogether), signature, true, true},
		{"a shorter message", key, make([]byte, MaxTogether-1), signature, true, false},
		{"another message", key, message, signature, true, false},
		{"another key", other, make([]byte, MaxTogether), signature, true, false},
		{"another signature", key, make([]byte, MaxTogether), bytes.Repeat([]byte{1}, ed25519.SignatureSize), true, false},
		{"a long message", key, make([]byte, MaxTogether+1), signature, false, false},
		{"half a signature", key, make([]byte, MaxTogether), signature[1:], false, false},
		{"no key", nil, make([]byte, MaxTogether), signature, false, false},
	} {
		s, short := SignedBy(c.key, c.message, c.signature)
		if has := short && g.Has(s); short != c.short || has != c.has {
			t.Errorf("%s: short %v, known %v; want %v, %v", c.name, short, has, c.short, c.has)
		}
	}
	for i := range 2 * MostGood {
		g.Note(Signed{length: i})
		if g.Len() > MostGood {
			t.Fatalf("%d are remembered", g.Len())
		}
	}
}
