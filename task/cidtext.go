package task

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

// The text of a CID as it is used here, read and written without a CID of the library's: every
// result names some, and each node that is told of it checks them.

// cidPrefixLen is how many bytes a CID has before its hash: version, codec, and code and length of
// the hash, each of them one byte of a varint.
const cidPrefixLen = 4

// cidLen is the length of a CID in bytes, and cidTextLen that of its text: the multibase prefix
// "b", and five bits a letter.
const (
	cidLen     = cidPrefixLen + sha256.Size
	cidTextLen = 1 + (8*cidLen+4)/5
)

// base32Letters and cidBase32 are what the multibase prefix "b" stands for: RFC 4648 in lower case,
// unpadded.
const base32Letters = "abcdefghijklmnopqrstuvwxyz234567"

var cidBase32 = base32.NewEncoding(base32Letters).WithPadding(base32.NoPadding)

var (
	errCIDText = errors.New("not in canonical base32")
	errCIDKind = errors.New("not a version 1 CID with a SHA2-256 hash")
)

// codecOf returns the content type that the text of a CID names, if it is canonical and the CID is
// one of those used here. Length comes first: it bounds what is looked at.
func codecOf(s string) (uint64, error) {
	if len(s) != cidTextLen {
		return 0, fmt.Errorf("a CID has %d characters, this has %d", cidTextLen, len(s))
	}
	b, ok := decodeBase32(s[1:])
	if !ok || s[0] != 'b' {
		return 0, errCIDText
	}
	if b[0] != 1 || b[2] != multihash.SHA2_256 || b[3] != sha256.Size {
		return 0, errCIDKind
	}
	switch codec := uint64(b[1]); codec {
	case cid.Raw, cid.DagProtobuf, cid.DagCBOR:
		return codec, nil
	default:
		return 0, fmt.Errorf("content type 0x%x is none that is used here", codec)
	}
}

// decodeBase32 reads the cidTextLen-1 letters of a CID. Bits beyond the last byte are to be zero.
func decodeBase32(letters string) (b [cidLen]byte, ok bool) {
	const letterBits, byteBits = 5, 8
	var bits, n uint
	at := 0
	for i := range len(letters) {
		v := base32Values[letters[i]]
		if v == noLetter {
			return b, false
		}
		bits, n = bits<<letterBits|uint(v), n+letterBits
		if n >= byteBits {
			n -= byteBits
			b[at] = byte(bits >> n)
			at++
		}
	}
	return b, bits&(1<<n-1) == 0
}

// base32Values are what the letters of base32 stand for, by letter; noLetter is none.
var base32Values = func() (values [1 << 8]byte) {
	for i := range values {
		values[i] = noLetter
	}
	for v, letter := range []byte(base32Letters) {
		values[letter] = byte(v)
	}
	return values
}()

const noLetter = 0xff

// sumCID hashes b into the text of a CID of the given content type, below 0x80.
func sumCID(codec uint64, b []byte) string {
	sum := sha256.Sum256(b)
	id := [cidLen]byte{1, byte(codec), multihash.SHA2_256, sha256.Size}
	copy(id[cidPrefixLen:], sum[:])
	var text [cidTextLen]byte
	text[0] = 'b'
	cidBase32.Encode(text[1:], id[:])
	return string(text[:])
}
