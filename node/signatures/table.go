package signatures

import (
	"crypto/ed25519"
	"crypto/sha512"
	"sync"

	"filippo.io/edwards25519"
)

// A scalar is taken apart into signed digits: of a key's multiples 64 of four bits each, of the base
// point's, which are the same for all keys, 32 of eight bits.
const (
	keyBits  = 4
	baseBits = 8
	keyMost  = 1 << (keyBits - 1) // the largest digit
	baseMost = 1 << (baseBits - 1)
	// keyStep is how many digits share a row of a key's multiples: each row takes 1 KB and spares three
	// doublings, of 13 that are left.
	keyStep = 4
	keyRows = 256 / keyBits / keyStep
	// baseRows is how many rows the base point has: half a megabyte, for no doubling at all.
	baseRows = 256 / baseBits
)

// A table has the multiples of a point: in each row 1 to n times the point, times a power of two that
// is bits larger with each row.
type table [][]multiple

// tableOf makes a table of rows with n multiples each.
func tableOf(p *edwards25519.Point, rows, n, bits int) table {
	points := make([]*edwards25519.Point, 0, rows*n)
	first := new(edwards25519.Point).Set(p)
	for range rows {
		last := edwards25519.NewIdentityPoint()
		for range n {
			last = new(edwards25519.Point).Add(last, first)
			points = append(points, last)
		}
		for range bits {
			first = new(edwards25519.Point).Double(first)
		}
	}
	all := multiplesOf(points)
	t := make(table, rows)
	for i := range t {
		t[i] = all[i*n : (i+1)*n]
	}
	return t
}

// add adds so many times the point of a row.
func (t table) add(p *point, row int, times int) {
	if times > 0 {
		p.add(&t[row][times-1], false)
	} else if times < 0 {
		p.add(&t[row][-times-1], true)
	}
}

// ofBase are the multiples of the base point.
var ofBase = sync.OnceValue(func() table {
	return tableOf(edwards25519.NewGeneratorPoint(), baseRows, baseMost, baseBits)
})

// ofKey returns the multiples of a key's point, negated; nil for a key that is none.
func ofKey(pub []byte) table {
	a, err := new(edwards25519.Point).SetBytes(pub)
	if err != nil {
		return nil
	}
	return tableOf(a.Negate(a), keyRows, keyMost, keyBits*keyStep)
}

// sumFor returns SB - kA for a signature (R, S) of the key A that the table is of, which is to be R to
// the last bit as crypto/ed25519 has it; not ok for a signature that is none whatever R is.
func (t table) sumFor(c Check) (p point, ok bool) {
	if len(c.Signature) != ed25519.SignatureSize {
		return p, false
	}
	s, err := edwards25519.NewScalar().SetCanonicalBytes(c.Signature[32:])
	if err != nil {
		return p, false
	}
	h := sha512.New()
	h.Write(c.Signature[:32])
	h.Write(c.Key)
	h.Write(c.Message)
	var sum [sha512.Size]byte
	k, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(sum[:0]))
	if err != nil {
		return p, false // which it does for no sum of that length
	}
	p = neutral()
	ofKey := digitsOf(k.Bytes(), keyBits)
	for d := keyStep - 1; d >= 0; d-- {
		for row := range keyRows {
			t.add(&p, row, ofKey[row*keyStep+d])
		}
		for range min(d, 1) * keyBits {
			p.double()
		}
	}
	base, digits := ofBase(), digitsOf(s.Bytes(), baseBits)
	for row := range baseRows {
		base.add(&p, row, digits[row])
	}
	return p, true
}

// digitsOf takes a scalar below 2^253 apart into signed digits of so many bits, a divisor of eight,
// the lowest first: each is at least -2^(bits-1) and below that without the sign.
func digitsOf(scalar []byte, bits int) (digits [64]int) {
	carry, n := 0, 0
	for _, b := range scalar {
		for shift := 0; shift < 8; shift += bits {
			d := int(b)>>shift&(1<<bits-1) + carry
			carry = (d + 1<<(bits-1)) >> bits
			digits[n] = d - carry<<bits
			n++
		}
	}
	return digits
}
