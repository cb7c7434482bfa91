package disk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// The files of records that a database writes, its logs and manifests, consist of blocks of
// recordBlock bytes. Each block contains chunks, and a record is one chunk or several ones in a row.
const (
	recordBlock = 32 << 10

	// Sizes of a chunk's header: checksum, length and kind; in logs also the number of the log; in
	// newer logs also a position.
	legacyHeader   = 7
	numberedHeader = 11
	syncHeader     = 19

	// Kinds of chunks, each in three forms: alone, first, middle and last, from 1, 5 and 9 on.
	chunkForms   = 4
	maxChunkKind = 12
)

// Positions of a chunk in its record.
const (
	chunkAlone = iota
	chunkFirst
	chunkMiddle
	chunkLast
)

// A chunk is the header of a chunk, and what it contains.
type chunk struct {
	position int
	number   uint32 // of its log; 0 if numbered is false
	numbered bool
	whole    bool // its checksum is right
	size     int  // with its header
	data     []byte
}

// readChunk reads the chunk that b begins with. It reports false if b cannot begin with a chunk.
func readChunk(b []byte) (c chunk, ok bool) {
	if len(b) < legacyHeader {
		return c, false
	}
	length, kind := int(binary.LittleEndian.Uint16(b[4:])), int(b[6])
	if kind < 1 || kind > maxChunkKind {
		return c, false
	}
	header := [...]int{legacyHeader, numberedHeader, syncHeader}[(kind-1)/chunkForms]
	if len(b) < header+length {
		return c, false
	}
	c.position, c.size, c.data = (kind-1)%chunkForms, header+length, b[header:header+length]
	if c.numbered = header > legacyHeader; c.numbered {
		c.number = binary.LittleEndian.Uint32(b[legacyHeader:])
	}
	c.whole = maskedSum(b[6:c.size]) == binary.LittleEndian.Uint32(b)
	return c, true
}

// maskedSum returns the checksum of a chunk: a CRC-32C, masked so that the checksum of data with
// checksums in it is no special value.
func maskedSum(b []byte) uint32 { return maskSum(crc32.Checksum(b, castagnoli)) }

func maskSum(c uint32) uint32 {
	const mask = 0xa282ead8
	return (c>>15 | c<<17) + mask
}

// found describes how much of a file of records was readable.
type found struct {
	damaged int  // places with damage that a readable record follows
	torn    bool // the file's end is not a whole record: a crash leaves that, and damage
}

// readRecords calls see with each record of a file that is whole, until see returns false. The
// record is valid only during the call. Damage costs the records that it is in, and at most the rest
// of its block. number is the number of a log, so that what a former log left in a file that was
// used again is skipped.
func readRecords(r io.Reader, number uint32, see func(record []byte) bool) (f found, _ error) {
	buf := make([]byte, recordBlock)
	a := assembly{number: number, see: see, found: &f}
	for {
		n, err := io.ReadFull(r, buf)
		if !a.block(buf[:n]) {
			return f, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			f.torn = a.bad || a.within
			return f, nil
		}
		if err != nil {
			return f, err
		}
	}
}

// An assembly puts records together.
type assembly struct {
	number uint32
	see    func([]byte) bool
	found  *found
	record []byte // the chunks so far, if within is set
	within bool
	bad    bool // there is damage since the last chunk that was whole
}

// block reads the chunks of a block. It returns false at the end of the log, or if see did.
func (a *assembly) block(b []byte) bool {
	for len(b) >= legacyHeader {
		if isZero(b) {
			return true // space that nothing was written to
		}
		c, ok := readChunk(b)
		switch {
		case !ok:
			a.lost()
			return true
		case !c.whole:
			a.lost()
		case c.numbered && c.number == a.number+1 && len(c.data) == 0:
			return false // the end of a log that was closed
		case c.numbered && c.number != a.number: // of a former log
			a.within = false
		case !a.add(c):
			return false
		}
		b = b[c.size:]
	}
	return true
}

// lost notes damage. The record that is being put together is lost.
func (a *assembly) lost() { a.bad, a.within = true, false }

// add takes in a chunk that is whole. It returns false if see did.
func (a *assembly) add(c chunk) bool {
	if a.bad {
		a.found.damaged++
		a.bad = false
	}
	switch c.position {
	case chunkAlone:
		a.within = false
		return a.see(c.data)
	case chunkFirst:
		a.record, a.within = append(a.record[:0], c.data...), true
	case chunkMiddle, chunkLast:
		if !a.within {
			return true // its beginning is lost
		}
		a.record = append(a.record, c.data...)
		if c.position == chunkLast {
			a.within = false
			return a.see(a.record)
		}
	}
	return true
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
