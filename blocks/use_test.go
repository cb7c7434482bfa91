package blocks

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// FuzzStored: whatever the store has as a block's size and times is read without
// harm, as a time that can be counted with; what we write is read back.
func FuzzStored(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(stored{1 << 18, time.Unix(1_700_000_000, 0)}.encode(), encodeTime(time.Unix(1_700_000_000, 0)))
	f.Add(binary.AppendUvarint(nil, 1<<63), binary.AppendUvarint(nil, 1<<63))
	f.Add([]byte{7}, bytes.Repeat([]byte{0xff}, 10)) // of before there were times; an endless number
	f.Fuzz(func(t *testing.T, size, use []byte) {
		s, at := readStored(size), readTime(use)
		for _, at := range []time.Time{s.at, at} {
			if at.Unix() < 0 || at.Unix() > maxTime || at.Add(time.Hour).Before(at) {
				t.Fatalf("% x, % x: %v", size, use, at)
			}
			if back := readTime(encodeTime(at)); !back.Equal(at) {
				t.Fatalf("%v is read back as %v", at, back)
			}
		}
		if s.bytes < 0 {
			t.Fatalf("% x: %d bytes", size, s.bytes)
		}
		if back := readStored(s.encode()); back.bytes != s.bytes || !back.at.Equal(s.at) {
			t.Fatalf("%+v is read back as %+v", s, back)
		}
	})
}

// FuzzDigestIn: a key that is not one of ours is none.
func FuzzDigestIn(f *testing.F) {
	f.Add(useKey(digest{1, 2, 3}).String())
	f.Add(usePrefix)
	f.Add("/elsewhere/x")
	f.Fuzz(func(t *testing.T, key string) {
		if d, ok := digestIn(key, usePrefix); ok && useKey(d).String() != key {
			t.Fatalf("%q is read as %q", key, useKey(d))
		}
	})
}
