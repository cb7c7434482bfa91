package overlay

import (
	"crypto/sha256"
	"encoding/binary"

	"godwit/task"
)

// An epoch is a term and, in its low bits, a tag of the member that leads in it.
// With the tag two members that take over at once, in two halves of a network
// that know nothing of each other, take two epochs: attempts at tasks are
// ordered by epoch, and one that two leaders used would order nothing. All
// together is within 53 bits, so that an epoch survives JSON.
const tagBits = 24

// NextEpoch returns the epoch in which a member leads after another epoch: the
// next term, with its tag. It is greater than any epoch of earlier terms, and
// no other member's but for one chance in 16 million.
func NextEpoch(after uint64, leader task.PeerID) uint64 {
	return epochOf(Term(after)+1, leader)
}

// Term returns the term of an epoch: how often an overlay's leadership was taken
// or handed over, for people to read. Epochs below 2^24 are of term 0.
func Term(epoch uint64) uint64 { return epoch >> tagBits }

// Tagged reports whether an epoch bears a member's tag: nobody else leads in it.
func Tagged(epoch uint64, leader task.PeerID) bool { return epoch == epochOf(Term(epoch), leader) }

func epochOf(term uint64, leader task.PeerID) uint64 {
	sum := sha256.Sum256([]byte("godwit epoch 1\n" + string(leader)))
	return term<<tagBits | uint64(binary.BigEndian.Uint32(sum[:]))>>(32-tagBits)
}
