package blocks

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"godwit/task"

	"github.com/ipfs/go-cid"
	mh "github.com/multiformats/go-multihash"
)

var digestText = base32.StdEncoding.WithPadding(base32.NoPadding)

// A digest is the SHA-256 of a block. Blocks are stored by it: the same bytes
// under two codecs are one block.
type digest [sha256.Size]byte

// A block is bytes and their CID, which match.
type block struct {
	cid  cid.Cid
	data []byte
}

func parseCID(c task.CID) (cid.Cid, error) {
	id, err := cid.Decode(string(c))
	if err != nil || !acceptable(id) || id.String() != string(c) {
		return cid.Undef, fmt.Errorf("%w: %q", ErrBadCID, c)
	}
	return id, nil
}

// acceptable reports whether a CID is of the kinds that we make and fetch.
func acceptable(c cid.Cid) bool {
	p := c.Prefix()
	return p.Version == 1 && p.MhType == mh.SHA2_256 && p.MhLength == sha256.Size &&
		(p.Codec == cid.Raw || p.Codec == cid.DagProtobuf || p.Codec == cid.DagCBOR)
}

// digestOf returns the digest in an acceptable CID: its last bytes.
func digestOf(c cid.Cid) digest {
	h := c.Hash()
	return digest(h[len(h)-sha256.Size:])
}

// cidOf hashes. The standard library's SHA-256 uses the processor's
// instructions where it has them.
func cidOf(codec uint64, data []byte) cid.Cid {
	sum := sha256.Sum256(data)
	return cidFrom(codec, sum)
}

func cidFrom(codec uint64, d digest) cid.Cid {
	hash := append([]byte{mh.SHA2_256, sha256.Size}, d[:]...)
	return cid.NewCidV1(codec, hash)
}

func textOf(c cid.Cid) task.CID { return task.CID(c.String()) }
