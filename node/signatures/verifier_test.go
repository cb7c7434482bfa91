package signatures

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"godwit/task"

	"filippo.io/edwards25519"
	fast "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"pgregory.net/rapid"
)

// order is that of the base point: 2^252 + 27742317777372353535851937790883648493 (RFC 8032, section 5.1).
var order = func() *big.Int {
	n, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	return n.Add(n, new(big.Int).Lsh(big.NewInt(1), 252))
}()

// oddPoints are encodings that honest keys and signatures do not have: of the eight points of small
// order, and bytes that are no canonical encoding, or of no point.
var oddPoints = func() (out [][]byte) {
	for _, s := range []string{
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"0000000000000000000000000000000000000000000000000000000000000000",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"0100000000000000000000000000000000000000000000000000000000000080", // not canonical, from here on
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"0200000000000000000000000000000000000000000000000000000000000000", // of no point
	} {
		b, err := hex.DecodeString(s)
		if err != nil {
			panic(err)
		}
		out = append(out, b)
	}
	return out
}()

// warm is a verifier that has prepared the key, if it is one.
func warm(pub ed25519.PublicKey) *Verifier {
	v := new(Verifier)
	for range often {
		v.Verify([]Check{{pub, nil, make([]byte, ed25519.SignatureSize)}})
	}
	return v
}

// check holds what a warm verifier says against crypto/ed25519, among other signatures, of which
// those of odd keys are odd.
func check(t *rapid.T, pub ed25519.PublicKey, message, sig []byte) bool {
	t.Helper()
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	good := Check{other.Public().(ed25519.PublicKey), []byte("m"), ed25519.Sign(other, []byte("m"))}
	odd := Check{pub, message, make([]byte, ed25519.SignatureSize)}
	checks := []Check{good, {pub, message, sig}, {}, odd, {pub, message, sig}, good}
	for i, got := range warm(pub).Verify(checks) {
		c := checks[i]
		if want := len(c.Key) > 0 && ed25519.Verify(c.Key, c.Message, c.Signature); got != want {
			t.Fatalf("check %d, key %x, message %x, signature %x: %v, want %v", i, c.Key, c.Message, c.Signature, got, want)
		}
	}
	return ed25519.Verify(pub, message, sig)
}

// A signature that is one verifies; what anybody has changed of it, of the message or of the key does
// exactly where crypto/ed25519 says that it does.
func TestAsTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), ed25519.SeedSize, ed25519.SeedSize).Draw(t, "seed")
		private := ed25519.NewKeyFromSeed(seed)
		pub := slices.Clone(private.Public().(ed25519.PublicKey))
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		sig := ed25519.Sign(private, message)
		if !check(t, pub, message, sig) {
			t.Fatal("what was signed does not verify")
		}
		switch rapid.IntRange(0, 4).Draw(t, "change") {
		case 0:
			sig[rapid.IntRange(0, len(sig)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 1:
			pub[rapid.IntRange(0, len(pub)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 2:
			message = append(message, 0)
		case 3:
			sig = sig[:rapid.IntRange(0, len(sig)-1).Draw(t, "length")]
		case 4: // the same scalar in another form
			s := new(big.Int).SetBytes(reversed(sig[32:]))
			if s.Add(s, order); s.BitLen() <= 256 {
				copy(sig[32:], reversed(s.FillBytes(make([]byte, 32))))
			}
		}
		check(t, pub, message, sig)
	})
}

// reversed returns bytes in the other order.
func reversed(b []byte) []byte {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
}

// Keys and signatures with parts of small order, which batches and others' verifiers take for good and
// bad by turns, are what they are for crypto/ed25519.
func TestOddPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom(oddPoints)
		message := rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "message")
		s := make([]byte, 32)
		s[0] = rapid.SampledFrom([]byte{0, 0, 0, 1, 8}).Draw(t, "scalar")
		pub, r := bytes.Clone(odd.Draw(t, "key")), bytes.Clone(odd.Draw(t, "point"))
		if rapid.Bool().Draw(t, "base") { // R is the multiple of the base point that S says, and more
			k, err := edwards25519.NewScalar().SetCanonicalBytes(s)
			if err != nil {
				t.Fatal(err)
			}
			p := new(edwards25519.Point).ScalarBaseMult(k)
			if more, err := new(edwards25519.Point).SetBytes(r); err == nil {
				p.Add(p, more)
			}
			r = p.Bytes()
		}
		check(t, pub, message, append(r, s...))
	})
	verified := 0
	for _, pub := range oddPoints { // some of them are good signatures, or this would show nothing
		for _, r := range oddPoints {
			if ed25519.Verify(pub, []byte("m"), append(bytes.Clone(r), make([]byte, 32)...)) {
				verified++
			}
		}
	}
	if verified == 0 {
		t.Error("none of the odd signatures is one")
	}
}

// A bounded number of keys is kept prepared, of those that come often, and many goroutines may ask.
func TestKeysAreBounded(t *testing.T) {
	v := new(Verifier)
	pub, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sig := ed25519.Sign(private, []byte("m"))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 2 * often {
				if got := v.Verify([]Check{{pub, []byte("m"), sig}, {pub, []byte("n"), sig}}); !got[0] || got[1] {
					t.Error("it errs")
				}
			}
		})
	}
	group.Wait()
	if len(v.kept) != 1 || len(v.seen) != 0 {
		t.Errorf("%d kept, %d counted", len(v.kept), len(v.seen))
	}
	for i := range maxKeys {
		v.kept[key{byte(i), byte(i >> 8), 1}] = &prepared{used: v.uses + 1 + uint64(i)}
	}
	v.uses += maxKeys
	v.dropOldest()
	if v.kept[key(pub)] != nil || len(v.kept) != maxKeys {
		t.Errorf("%d keys are kept, and the one that was used longest ago: %v", len(v.kept), v.kept[key(pub)] != nil)
	}
	for i := range 2 * maxSeen {
		v.prepare(key{byte(i), byte(i >> 8), 2})
	}
	if len(v.seen) > maxSeen+1 {
		t.Errorf("%d keys are counted", len(v.seen))
	}
}

// A signature of a short message that was found good is known again, that of another, or under another key, is
// not; and what was bad stays so.
func TestKnown(t *testing.T) {
	v := new(Verifier)
	pub, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	root := make([]byte, task.MaxTogether)
	sig := ed25519.Sign(private, root)
	long := append(bytes.Clone(root), 0)
	checks := []Check{{pub, root, sig}, {pub, root, sig}, {pub, root[:task.MaxTogether-1], sig}, {other, root, sig},
		{pub, long, sig}, {pub, root, sig[:ed25519.SignatureSize-1]}, {pub, root, ed25519.Sign(private, long)},
		{pub, long, ed25519.Sign(private, long)}}
	want := []bool{true, true, false, false, false, false, false, true}
	for range 2 {
		if got := v.Verify(checks); !slices.Equal(got, want) {
			t.Errorf("they are %v, want %v", got, want)
		}
	}
	if v.good.Len() != 1 {
		t.Errorf("%d are remembered", v.good.Len())
	}
}

func BenchmarkVerify(b *testing.B) {
	pub, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		b.Fatal(err)
	}
	message := make([]byte, 500)
	sig := ed25519.Sign(private, message)
	v := warm(pub)
	b.Run("crypto", func(b *testing.B) {
		for b.Loop() {
			ed25519.Verify(pub, message, sig)
		}
	})
	for _, n := range []int{1, 4, 16, 64} {
		checks := slices.Repeat([]Check{{pub, message, sig}}, n)
		b.Run(fmt.Sprint("often=", n), func(b *testing.B) {
			for b.Loop() {
				v.Verify(checks)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/signature")
		})
	}
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			if _, err := fast.NewExpandedPublicKey(fast.PublicKey(pub)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
