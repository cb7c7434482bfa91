package seal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var keys = rapid.SliceOfN(rapid.Byte(), KeyBytes, KeyBytes)

func sealerOf(t *rapid.T, key []byte) *Sealer {
	s, err := New(key)
	if err != nil || s == nil {
		t.Fatalf("of a key of %d bytes: %v, %v", len(key), s, err)
	}
	return s
}

// What is sealed opens to what it was; equal bytes are equal when they are sealed, under
// another key they are others, and what was changed anywhere does not open.
func TestSeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := keys.Draw(t, "key")
		s := sealerOf(t, key)
		plain := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "plain")
		sealed := s.Seal(plain)
		if len(sealed) != len(plain)+Overhead {
			t.Fatalf("%d bytes are %d when they are sealed", len(plain), len(sealed))
		}
		if back, err := s.Open(sealed); err != nil || !bytes.Equal(back, plain) {
			t.Fatalf("%x opens to %x, %v", plain, back, err)
		}
		if !bytes.Equal(sealerOf(t, key).Seal(bytes.Clone(plain)), sealed) {
			t.Fatal("equal bytes are sealed otherwise")
		}
		other := bytes.Clone(key)
		other[rapid.IntRange(0, KeyBytes-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if bytes.Equal(sealerOf(t, other).Seal(plain), sealed) {
			t.Fatal("another key seals alike")
		}
		if _, err := sealerOf(t, other).Open(sealed); !errors.Is(err, ErrSealed) {
			t.Fatalf("another key opens it: %v", err)
		}
		flipped := bytes.Clone(sealed)
		flipped[rapid.IntRange(0, len(sealed)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "flip")
		if _, err := s.Open(flipped); !errors.Is(err, ErrSealed) {
			t.Fatalf("a bit was changed, and it opens: %v", err)
		}
		if cut := rapid.IntRange(0, len(sealed)-1).Draw(t, "cut"); true {
			if _, err := s.Open(sealed[:cut]); !errors.Is(err, ErrSealed) {
				t.Fatalf("cut to %d bytes, and it opens: %v", cut, err)
			}
		}
	})
}

// Every bit of a sealed chunk counts, of the least and of one that is longer than a block of
// the cipher.
func TestEveryBit(t *testing.T) {
	s, err := New(bytes.Repeat([]byte{7}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range [][]byte{{}, {0}, []byte("seventeen letters")} {
		sealed := s.Seal(plain)
		for i := range sealed {
			for bit := range 8 {
				sealed[i] ^= 1 << bit
				if _, err := s.Open(sealed); !errors.Is(err, ErrSealed) {
					t.Errorf("bit %d of byte %d of %q was changed, and it opens: %v", bit, i, plain, err)
				}
				sealed[i] ^= 1 << bit
			}
		}
	}
}

// sizes are those around what chunks hold.
var sizes = []int64{0, 1, 15, 16, 17, plainChunk - 1, plainChunk, plainChunk + 1, Chunk, 2*plainChunk - 1,
	2 * plainChunk, 2*plainChunk + 1, 5 * Chunk}

// A sealed file has the size that is foretold, is the same in memory and as a stream, and
// holds what it held.
func TestFile(t *testing.T) {
	s, err := New(bytes.Repeat([]byte{3}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		plain := make([]byte, n)
		for i := range plain {
			plain[i] = byte(i ^ i>>8)
		}
		sealed := s.SealFile(plain)
		streamed, err := io.ReadAll(s.Sealing(iotest.HalfReader(bytes.NewReader(plain))))
		if err != nil || !bytes.Equal(streamed, sealed) || int64(len(sealed)) != s.Size(n) {
			t.Errorf("%d bytes are %d in memory, %d as a stream (%v), %d were foretold", n, len(sealed), len(streamed), err,
				s.Size(n))
		}
		if back, err := s.Plain(int64(len(sealed))); err != nil || back != n {
			t.Errorf("a sealed file of %d bytes holds %d, %v; want %d", len(sealed), back, err, n)
		}
		if back, err := s.OpenFile(sealed); err != nil || !bytes.Equal(back, plain) {
			t.Errorf("a file of %d bytes opens to %d, %v", n, len(back), err)
		}
		back, err := io.ReadAll(s.Opening(iotest.OneByteReader(io.LimitReader(bytes.NewReader(sealed), 100))))
		if n > 100 && (!errors.Is(err, ErrSealed) || len(back) > 0) {
			t.Errorf("a file of %d bytes that was cut gives %d bytes, %v", n, len(back), err)
		}
	}
}

// Equal chunks of a file, and of two files, are equal when they are sealed.
func TestChunksShare(t *testing.T) {
	s, err := New(bytes.Repeat([]byte{9}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	sealed := s.SealFile(make([]byte, 3*plainChunk))
	if !bytes.Equal(sealed[:Chunk], sealed[Chunk:2*Chunk]) || len(sealed) != 3*Chunk {
		t.Errorf("equal chunks of a file are sealed otherwise, or not as leaves of a stored file are cut")
	}
	if !bytes.Equal(s.SealFile(make([]byte, 2*plainChunk+5))[:Chunk], sealed[:Chunk]) {
		t.Error("equal chunks of two files are sealed otherwise")
	}
}

// A size is that of a sealed file, or is refused: nothing else opens.
func TestPlain(t *testing.T) {
	s, err := New(bytes.Repeat([]byte{1}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{-1, 0, 1, Overhead - 1, Chunk + 1, Chunk + Overhead, 1 - 1<<62} {
		if plain, err := s.Plain(n); !errors.Is(err, ErrSealed) {
			t.Errorf("a sealed file of %d bytes holds %d, %v", n, plain, err)
		}
		if n >= 0 && n < 1<<20 {
			if _, err := s.OpenFile(make([]byte, n)); !errors.Is(err, ErrSealed) {
				t.Errorf("%d bytes open: %v", n, err)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<45).Draw(t, "bytes")
		if back, err := s.Plain(s.Size(n)); err != nil || back != n {
			t.Fatalf("%d bytes sealed have %d, which hold %d, %v", n, s.Size(n), back, err)
		}
	})
}

// Without a key everything stays as it is.
func TestNoKey(t *testing.T) {
	s, err := New(nil)
	if err != nil || s != nil {
		t.Fatalf("of no key: %v, %v", s, err)
	}
	plain := []byte("as it is")
	opened, err := s.OpenFile(s.SealFile(s.Seal(plain)))
	if err != nil || !bytes.Equal(opened, plain) {
		t.Errorf("%q, %v", opened, err)
	}
	streamed, err := io.ReadAll(s.Opening(s.Sealing(bytes.NewReader(plain))))
	if n, e := s.Plain(s.Size(8)); err != nil || e != nil || n != 8 || !bytes.Equal(streamed, plain) {
		t.Errorf("%q, %v, %d, %v", streamed, err, n, e)
	}
	if s, err := New(make([]byte, KeyBytes-1)); s != nil || err == nil {
		t.Errorf("a short key makes %v, %v", s, err)
	}
}

// A name under a key is not that of another key, nor the hash.
func TestName(t *testing.T) {
	hash := sha256.Sum256([]byte("a page"))
	var none *Sealer
	seen := map[string]bool{none.Name(hash): true}
	for k := range 3 {
		s, err := New(bytes.Repeat([]byte{byte(k)}, KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		name := s.Name(hash)
		if seen[name] || name != s.Name(hash) || len(name) != len(none.Name(hash)) {
			t.Errorf("under key %d a page is named %s", k, name)
		}
		seen[name] = true
	}
}
