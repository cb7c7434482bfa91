package wasm

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestNumbersOfTheSpecification: LEB128 numbers (section 5.2.2) with trailing
// zeros and signs are read; those with unused bits set, or bytes above the width,
// are not.
func TestNumbersOfTheSpecification(t *testing.T) {
	for _, c := range []struct {
		name   string
		b      []byte
		bits   uint
		signed bool
		want   int64
		err    error
		at     int // of the error
	}{
		{"zero", []byte{0}, 32, false, 0, nil, 0},
		{"three", []byte{3}, 32, false, 3, nil, 0},
		{"three with a zero", []byte{0x83, 0x00}, 32, false, 3, nil, 0},
		{"three in five bytes", []byte{0x83, 0x80, 0x80, 0x80, 0x00}, 32, false, 3, nil, 0},
		{"three in six bytes", []byte{0x83, 0x80, 0x80, 0x80, 0x80, 0x00}, 32, false, 0, errLEB, 5},
		{"the largest", []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 32, false, 1<<32 - 1, nil, 0},
		{"one more bit", []byte{0xff, 0xff, 0xff, 0xff, 0x1f}, 32, false, 0, errLEB, 5},
		{"an unused bit", []byte{0x80, 0x80, 0x80, 0x80, 0x70}, 32, false, 0, errLEB, 5},
		{"without an end", []byte{0x80, 0x80}, 32, false, 0, errShort, 2},
		{"no byte", nil, 32, false, 0, errShort, 0},
		{"-2", []byte{0x7e}, 32, true, -2, nil, 0},
		{"-2 with its sign", []byte{0xfe, 0x7f}, 32, true, -2, nil, 0},
		{"-2 with its sign twice", []byte{0xfe, 0xff, 0x7f}, 32, true, -2, nil, 0},
		{"63", []byte{0x3f}, 32, true, 63, nil, 0},
		{"64", []byte{0xc0, 0x00}, 32, true, 64, nil, 0},
		{"-64", []byte{0x40}, 32, true, -64, nil, 0},
		{"the least of 32", []byte{0x80, 0x80, 0x80, 0x80, 0x78}, 32, true, -1 << 31, nil, 0},
		{"the most of 32", []byte{0xff, 0xff, 0xff, 0xff, 0x07}, 32, true, 1<<31 - 1, nil, 0},
		{"beyond the most of 32", []byte{0x80, 0x80, 0x80, 0x80, 0x08}, 32, true, 0, errLEB, 5},
		{"beyond the least of 32", []byte{0xff, 0xff, 0xff, 0xff, 0x77}, 32, true, 0, errLEB, 5},
		{"a mixed sign", []byte{0xff, 0xff, 0xff, 0xff, 0x4f}, 32, true, 0, errLEB, 5},
		{"six bytes of -1", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 32, true, 0, errLEB, 5},
		{"the most of 33", []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 33, true, 1<<32 - 1, nil, 0},
		{"the least of 64", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, 64, true, -1 << 63, nil,
			0},
		{"the most of 64", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, 64, true, 1<<63 - 1, nil,
			0},
		{"beyond the most of 64", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 64, true, 0,
			errLEB, 10},
	} {
		r := &cursor{b: c.b}
		var got int64
		switch {
		case c.signed:
			got = r.signed(c.bits)
		case c.bits == 32:
			got = int64(r.u32())
		}
		if got != c.want || r.err != c.err || r.at != c.at {
			t.Errorf("%s: got %d, %v at %d; want %d, %v at %d", c.name, got, r.err, r.at, c.want, c.err, c.at)
		}
	}
}

// dumbLEB reads a number as the specification defines it, with integers of any
// size. ok is false if there is none of the width at the beginning of b.
func dumbLEB(b []byte, bits uint, signed bool) (x *big.Int, n int, ok bool) {
	x = new(big.Int)
	for {
		if n == len(b) || uint(n) == (bits+6)/7 {
			return nil, 0, false
		}
		x.Or(x, new(big.Int).Lsh(big.NewInt(int64(b[n]&0x7f)), uint(7*n)))
		n++
		if b[n-1] < 0x80 {
			break
		}
	}
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if signed {
		if b[n-1]&0x40 != 0 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(7*n)))
		}
		high.Rsh(high, 1)
		low.Neg(high)
	}
	return x, n, x.Cmp(low) >= 0 && x.Cmp(high) < 0
}

// TestNumbersAgree: any bytes give the number that the definition gives, or none
// where it gives none, and as many bytes are read.
func TestNumbersAgree(t *testing.T) {
	many := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.Uint8Range(0x80, 0xff),
		rapid.SampledFrom([]byte{0x80, 0xff, 0, 0x7f})), 0, 11)
	rapid.Check(t, func(t *rapid.T) {
		b := many.Draw(t, "bytes")
		for _, bits := range []uint{32, 33, 64} {
			for _, signed := range []bool{false, true} {
				c := &cursor{b: b}
				var got *big.Int
				switch {
				case signed:
					got = big.NewInt(c.signed(bits))
				case bits == 32:
					got = big.NewInt(int64(c.u32()))
				default:
					got = new(big.Int).SetUint64(c.unsigned(bits))
				}
				want, n, ok := dumbLEB(b, bits, signed)
				if ok != (c.err == nil) {
					t.Fatalf("% x as %d bits, signed %v: %v, want ok %v", b, bits, signed, c.err, ok)
				}
				if ok && (got.Cmp(want) != 0 || c.pos != n) {
					t.Fatalf("% x as %d bits, signed %v: %d of %d bytes, want %d of %d", b, bits, signed, got, c.pos,
						want, n)
				}
			}
		}
	})
}

// TestNothingIsReadAfterAFailure: the first failure is kept with its place, and
// every read after it gives zero.
func TestNothingIsReadAfterAFailure(t *testing.T) {
	c := &cursor{b: []byte{1, 2, 0x80}, base: 100}
	c.take(2)
	if c.u32() != 0 || c.err != errShort || c.at != 103 {
		t.Fatalf("got %v at %d, want %v at 103", c.err, c.at, errShort)
	}
	c.fail(errUTF8)
	if c.err != errShort || c.at != 103 {
		t.Errorf("a second failure took the place of the first: %v at %d", c.err, c.at)
	}
	if c.byte() != 0 || c.u32() != 0 || c.signed(64) != 0 || c.fixed32() != 0 || c.fixed64() != 0 || c.take(1) != nil ||
		c.name() != "" || c.count(1) != 0 {
		t.Error("something was read after a failure")
	}
	if c.take(-1) != nil || !c.done() {
		t.Error("not done after a failure")
	}
}
