package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The encoding of a history's spells, for the wire and for disk:
//
//	byte    version and unit: 0x10 + 0 milliseconds, 1 seconds, 2 minutes
//	uvarint number of spells
//	varint  start of the first spell, in units since 1970 (none without spells)
//	and for each spell
//	uvarint length in units * 8 + code
//	byte    CPU share in two hundredths, below 200 (code 6 only)
//
// Codes 0 to 4 are the states (Available with all of the CPU), 5 is Unobserved
// and 6 is Available with less. Each content has one encoding: the largest unit
// that divides every time, varints of the fewest bytes, neighbours that differ,
// and no spell of no length but the last.
const (
	encodingVersion = 0x10
	codePartial     = 6
	codeBits        = 3
)

// units are the encoding's units of time, in milliseconds.
var units = [...]int64{1, 1000, 60_000}

// maxTime bounds decoded times: beyond the year 9999, and far from overflow.
const maxTime = maxSeconds * 1000

// MaxEncoded is the most bytes that n spells take when encoded.
func MaxEncoded(n int) int { return 1 + 2*binary.MaxVarintLen64 + n*(binary.MaxVarintLen64+1) }

// AppendSpells appends the encoding of spells from to to-1, 0 <= from <= to <=
// Len, to dst; the whole history is AppendSpells(dst, 0, h.Len()). The host's
// name is not in it.
func (h *History) AppendSpells(dst []byte, from, to int) []byte {
	part := h.changes[from:to]
	if len(part) == 0 {
		return append(dst, encodingVersion, 0)
	}
	end := h.until
	if to < len(h.changes) {
		end = h.changes[to].at
	}
	unit := len(units) - 1
	for i := 0; unit > 0 && i <= len(part); i++ {
		at := end
		if i < len(part) {
			at = part[i].at
		}
		for at%units[unit] != 0 {
			unit--
		}
	}
	u := units[unit]
	dst = append(dst, encodingVersion+byte(unit))
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	dst = binary.AppendVarint(dst, part[0].at/u)
	for i, c := range part {
		next := end
		if i+1 < len(part) {
			next = part[i+1].at
		}
		code := uint64(c.state)
		if c.state == Available && c.cpu < cpuUnit {
			code = codePartial
		}
		dst = binary.AppendUvarint(dst, uint64((next-c.at)/u)<<codeBits|code)
		if code == codePartial {
			dst = append(dst, c.cpu)
		}
	}
	return dst
}

// DecodeSpells decodes what AppendSpells encoded, all of b, of at most maxSpells
// spells. It accepts one encoding of each content, the one that AppendSpells
// makes, allocates no more than b's length warrants, and keeps nothing of b.
func DecodeSpells(b []byte, maxSpells int) (*History, error) {
	h, err := decodeSpells(b, maxSpells)
	if err != nil {
		return nil, fmt.Errorf("decoding a history: %w", err)
	}
	return h, nil
}

var errNotCanonical = errors.New("not the shortest encoding")

func decodeSpells(b []byte, maxSpells int) (*History, error) {
	d := decoder{b: b}
	head := d.byte()
	if d.err != nil {
		return nil, d.err
	}
	if head < encodingVersion || int(head-encodingVersion) >= len(units) {
		return nil, fmt.Errorf("unknown version %#x", head)
	}
	unit := int(head - encodingVersion)
	u := units[unit]
	n := d.uvarint()
	switch {
	case d.err != nil:
		return nil, d.err
	case n > uint64(max(0, maxSpells)):
		return nil, fmt.Errorf("%d spells, at most %d are taken", n, maxSpells)
	case n > uint64(len(d.b)): // a spell has at least a byte
		return nil, fmt.Errorf("%d spells in %d bytes", n, len(d.b))
	case n == 0 && (unit != 0 || len(d.b) > 0):
		return nil, errNotCanonical
	case n == 0:
		return &History{}, nil
	}
	at := d.varint()
	if at < -maxTime/u || at > maxTime/u {
		return nil, errors.New("it begins outside the calendar")
	}
	h := &History{changes: make([]change, 0, n), until: at * u}
	coarser := unit+1 < len(units) && h.until%units[unit+1] == 0
	for i := range n {
		c, length := d.spell()
		if d.err != nil {
			return nil, d.err
		}
		if length == 0 && i+1 < n {
			return nil, errors.New("a spell of no length before the last")
		}
		if length > uint64(maxTime-h.until)/uint64(u) {
			return nil, errors.New("it ends outside the calendar")
		}
		c.at = h.until
		if i > 0 && h.changes[i-1].state == c.state && h.changes[i-1].cpu == c.cpu {
			return nil, errors.New("two spells alike in a row")
		}
		h.changes = append(h.changes, c)
		h.until += int64(length) * u
		coarser = coarser && h.until%units[unit+1] == 0
	}
	if len(d.b) > 0 {
		return nil, fmt.Errorf("%d bytes after the last spell", len(d.b))
	}
	if coarser {
		return nil, errNotCanonical
	}
	return h, nil
}

// A decoder takes bytes from the front of b until the first error.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail(errors.New("it is cut short"))
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	switch {
	case n == 0:
		d.fail(errors.New("it is cut short"))
		return 0
	case n < 0:
		d.fail(errors.New("a number of more than 64 bits"))
		return 0
	case n > 1 && d.b[n-1] == 0:
		d.fail(errNotCanonical)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// spell takes one spell: a change without its time, and its length in units.
func (d *decoder) spell() (change, uint64) {
	v := d.uvarint()
	c := change{state: State(v & (1<<codeBits - 1))}
	switch {
	case c.state == Available:
		c.cpu = cpuUnit
	case c.state == codePartial:
		c.state, c.cpu = Available, d.byte()
		if c.cpu >= cpuUnit {
			d.fail(fmt.Errorf("a CPU share of %d two hundredths in part", c.cpu))
		}
	case c.state > Unobserved:
		d.fail(fmt.Errorf("unknown state %d", uint8(c.state)))
	}
	return c, v >> codeBits
}
